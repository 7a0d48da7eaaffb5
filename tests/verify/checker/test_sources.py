"""The sources of an MLP are made once, however many sums it reads."""

import krohn
from krohn.verify.checker.maps import Maps
from krohn.verify.search import find


def test_what_is_no_sum_is_one_source_beside_every_sum() -> None:
    model = krohn.compile("regex:(a)*caaa|c", 12, "departures", proof=False)
    shared, opened = 0, find.model_of(model.file)
    program = find._stated_program(opened)
    assert program is not None
    for mlp, _ in find._outputs_of_mlps(opened, program):
        stream = mlp.stream
        plain = {s.name: s for s in Maps(mlp).apart(()).each}
        for added in stream.program.channels.values():
            parts = added.op == "sum" and all(n in stream.noise for n in added.inputs)
            if not parts or len(added.inputs) != 2:
                continue
            beside = Maps(mlp).apart((added,)).each
            assert {s.name for s in beside} == {added.name, *plain} - {*added.inputs}
            assert all(s is plain[s.name] for s in beside if s.name != added.name)
            shared += len(beside) - 1
    assert shared
