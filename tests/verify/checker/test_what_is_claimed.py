"""Nothing stands in a claim that no check looks at, and nothing less than it is enough."""

import json
from functools import cache
from math import inf, nan
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from slices_here import needs

import krohn
from krohn.network import ModelFileError
from krohn.network.architecture import every_kind
from krohn.network.modelfile import ModelFile, _parse, pack
from krohn.program.claim import Claim
from krohn.program.errors import Refused
from krohn.program.inputs import Words
from krohn.program.slices import slices
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.established import Established, judge
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.network import recheck
from krohn.verify.checker.registry import reader_of
from krohn.verify.search.find import claims, for_file, model_of, search

HOW: dict[str, tuple[str, dict[str, Any]]] = {
    "states": ("C3", {"length": 4}),
    "turnstile": ("examples/turnstile.dot", {"length": 4}),
    "outputs": ("regex:(ab)*", {"length": 4, "observe": "accept"}),
    "rnn": ("C2", {"arch": "rnn"}),
    "lstm": ("C2", {"arch": "lstm"}),
    "ssm": ("FlipFlop", {"arch": "ssm"}),
    "beliefs": ("GoldenMean", {"length": 4}),
    "beliefs of an RNN": ("GoldenMean", {"arch": "rnn"}),
    "system": ("MatMul2,2@3", {"length": 4}),
    "blocks": ("C2", {"length": 4, "block": 2}),
    "program": ("program:reverse", {"length": 4}),
    "rewriting": ("Sorting2", {"length": 12}),
    "chain of thought": ("LCS1,1:letters=2", {}),
    "increasing": ("ShortLIS2", {}),
    "kernel": ("Exp4", {}),
    "kernel of an RNN": ("Exp4", {"arch": "rnn"}),
    "target": ("Select2", {}),
    "grid function": ("Sorted2,2", {}),
    "learner": ("InContext2,1", {}),
    "posterior head": ("RanHMM2,2@7:2given1", {}),
    "beliefs by heads": ("Mess3", {"length": 4}),
    "system of an RNN": ("MatMul2,2@3", {"arch": "rnn", "length": 4}),
}
MACHINES = ("states", "outputs", "rnn", "lstm", "ssm")
WITHIN = ("beliefs", "beliefs of an RNN", "system")
TOKENS = ("rewriting", "chain of thought", "increasing")
NUMBERS = ("kernel", "kernel of an RNN", "target", "grid function")


@cache
def proved(kind: str) -> tuple[ModelFile, dict[str, Any]]:
    """A network, and what the small checker is told of it."""
    name, how = HOW[kind]
    file = krohn.compile(name, **how, proof=False).file
    with np.errstate(all="ignore"):
        evidence, found = search(model_of(file), None)
    return file, {**evidence, **claims(found)}


def check(
    kind: str, at: tuple[Any, ...], value: Any, machine: Any = None, claim: Any = None
) -> None:
    """Run the small checker on a file that states something else at a place."""
    file, told = proved(kind)
    header = json.loads(json.dumps(file.header))
    holder = header
    for key in at[:-1]:
        holder = holder[key]
    if at:
        holder[at[-1]] = value
    header.pop("digest", None)
    data = pack(header, file.tensors)
    recheck(data, json.dumps(for_file(data, told)).encode(), machine, claim)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("kind", "term", "value"),
    [
        *((kind, "error", 0.5) for kind in (*MACHINES, "blocks", "program")),
        *((kind, "tolerance", 0.5) for kind in (*MACHINES, *WITHIN, "blocks")),
        *((kind, "shows", "outputs") for kind in WITHIN),
        *((kind, "letters", 4) for kind in ("states", "system", "program")),
        *((kind, "opening", "1/2") for kind in ("states", "beliefs")),
        ("states", "surely", True),
    ],
)
def test_a_claim_has_nothing_that_no_check_looks_at(
    kind: str, term: str, value: Any
) -> None:
    """Its lines would say that answers are numbers, or laws, within what is stated."""
    with pytest.raises(Refused, match=f"the claim has .*{term}"):
        check(kind, ("claim", term), value)
    file, _ = proved(kind)
    claim = {**file.header["claim"], term: value}
    with pytest.raises(ModelFileError, match=f"the claim has .*{term}"):
        _parse(pack({**file.header, "claim": claim}, file.tensors))


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", WITHIN)
def test_an_error_of_the_model_is_claimed_where_it_is_shown(kind: str) -> None:
    with pytest.raises(Refused, match="error of the model is not shown"):
        check(kind, ("claim", "model_error"), 2.0**-60)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", MACHINES)
def test_the_start_that_is_claimed_is_that_of_the_machine(kind: str) -> None:
    with pytest.raises(Refused, match="another start state"):
        check(kind, ("claim", "start"), "elsewhere")


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("kind", "at", "value", "reason"),
    [
        ("outputs", ("claim", "shows"), "Outputs", "claim is malformed"),
        (
            "outputs",
            ("machine", "output", "names"),
            ["yes", "yes"],
            "have the same name",
        ),
        ("outputs", ("machine", "output", "names"), ["yes"], "bad outputs"),
        ("turnstile", ("machine", "output", "names"), ["yes"], "bad outputs"),
        ("turnstile", ("machine", "output", "table"), [[0, 0, 0]], "bad outputs"),
        (
            "turnstile",
            ("machine", "output", "on"),
            "both",
            "must lie on states or transitions",
        ),
        ("beliefs", ("source", "states"), ["A"], "operators have another shape"),
        ("beliefs of an RNN", ("source", "states"), ["A", "A"], "has a state twice"),
        ("beliefs", ("source", "classes"), ["A", "B", "C"], "classes have other names"),
        ("system", ("source", "classes"), ["b1"], "classes have other names"),
        ("system", ("source", "classes"), ["b1", "b1"], "classes have other names"),
        ("beliefs", ("source",), None, "what it is about"),
        ("beliefs", ("source", "classes"), ["B", "A"], "classes have other names"),
        (
            "beliefs of an RNN",
            ("source", "classes"),
            ["B", "A"],
            "classes have other names",
        ),
        ("system", ("source", "classes"), ["b2", "b1"], "classes have other names"),
        *(
            (
                kind,
                ("source", key),
                ["a", "b"],
                f"(no rule looks at|has no) .*{key}",
            )
            for kinds, keys in (
                (NUMBERS, ("letters", "states", "classes")),
                (TOKENS, ("states", "classes")),
                (("system", "program", "blocks"), ("states",)),
            )
            for kind in kinds
            for key in keys
        ),
    ],
)
def test_each_name_is_one_of_one_thing(
    kind: str, at: tuple[str, ...], value: Any, reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        check(kind, at, value)


def test_a_machine_that_is_given_need_not_be_that_of_the_file() -> None:
    """The start that a file claims binds who asks for nothing else."""
    file, _ = proved("states")
    moves = np.array(file.header["machine"]["transitions"])
    given = Machine(0, moves, np.arange(3))
    check("states", ("machine",), {}, given, file.claim)
    with pytest.raises(Refused, match="no other claim"):
        check("states", ("machine",), {}, given)


REALS = (
    *NUMBERS,
    "beliefs",
    "beliefs by heads",
    "learner",
    "posterior head",
    "system",
    "system of an RNN",
)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", REALS)
def test_no_output_is_beside_those_that_are_right(kind: str) -> None:
    """One more output says what another one does: the source has none for it."""
    file, told = proved(kind)
    header, tensors = json.loads(json.dumps(file.header)), dict(file.tensors)
    ends = [n for n in tensors if n.startswith(("output.", "unembed.", "skip."))]
    count = header["architecture"]["outputs"]
    last = max((n.split(".")[1] for n in ends if n.startswith("output.")), default="")
    for name in ends:
        if not last or name.startswith(f"output.{last}."):
            x = tensors[name]
            assert x.shape[-1] == count
            tensors[name] = np.concatenate([x, x[..., :1]], axis=-1)
    header["architecture"]["outputs"] += 1
    header["source"].pop("classes", None)
    header.pop("digest", None)
    data = pack(header, tensors)
    with pytest.raises(Refused):
        recheck(data, json.dumps(for_file(data, told)).encode())
    data = pack(file.header, file.tensors)
    recheck(data, json.dumps(for_file(data, told)).encode())


FORM = FORMATS["float32"]
SHAPE: dict[str, Any] = {"architecture": {"dtype": "float32"}}
KERNEL: dict[str, Any] = {
    **SHAPE,
    "source": {"kind": "kernel", "name": "Exp", "inputs": [-1.0, 1.0]},
    "claim": {"kind": "within", "length": 4},
}
MACHINE: dict[str, Any] = {**SHAPE, "machine": {}, "claim": {}}


def judged(
    header: dict[str, Any], said: dict[str, Any] | None = None, **how: Any
) -> None:
    judge(Established(FORM, Words(2, 4), **how), Claim.of(header), said or {})


def claiming(error: Any) -> dict[str, Any]:
    return {**KERNEL, "claim": {**KERNEL["claim"], "error": error}}


@needs("kinds.kernels")
def test_what_is_shown_is_enough() -> None:
    judged(claiming(0.5), {"error": 0.5}, error=0.5)
    judged(MACHINE, {"margin": 2.0}, margin=2.0)


@needs("kinds.kernels")
@pytest.mark.parametrize(
    ("header", "how", "reason"),
    [
        (claiming(0.5), {"error": 0.6}, "may be 0.6"),
        (claiming(0.5), {"error": nan}, "may be nan"),
        (claiming(0.5), {"error": -1.0}, "may be -1"),
        (claiming(0.5), {"margin": 1.0}, "may be inf"),
        (claiming(inf), {"error": 0.1}, "claims the error"),
        (claiming(1), {"error": 0.1}, "claims the error"),
        (KERNEL, {"error": 0.1}, "claims the error"),
        ({**KERNEL, "claim": {}}, {"error": 0.1}, "malformed"),
        (MACHINE, {"error": 0.1}, "confuse two states"),
        (MACHINE, {}, "confuse two states"),
        (MACHINE, {"margin": nan}, "confuse two states"),
        (MACHINE, {"margin": -1.0}, "confuse two states"),
    ],
)
def test_less_than_a_file_claims_is_refused(
    header: dict[str, Any], how: dict[str, float], reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        judged(header, **how)


@pytest.mark.parametrize(
    ("said", "how", "reason"),
    [
        ({"error": 0.1}, {"error": 0.2, "margin": 1.0}, "error is not shown"),
        ({"error": nan}, {"error": 0.2, "margin": 1.0}, "error is not shown"),
        ({"margin": 2.0}, {"margin": 1.0}, "margin is not shown"),
        ({"margin": nan}, {"margin": 1.0}, "margin is not shown"),
    ],
)
def test_less_than_evidence_says_is_refused(
    said: dict[str, float], how: dict[str, float], reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        judged(MACHINE, said, **how)


@pytest.mark.parametrize("length", [0, -1, True, 4.0, "4", [4]])
def test_a_length_is_a_whole_number(length: Any) -> None:
    model = Model(FORM, {}, {**MACHINE, "claim": {"length": length}})
    with pytest.raises(Refused, match="claims the length"):
        model.length  # noqa: B018
    assert Model(FORM, {}, MACHINE).length is None


@pytest.mark.parametrize("network", sorted(every_kind()))
def test_only_listed_pairs_have_a_reader(network: str) -> None:
    readers = {
        pair: x for each in slices().values() for pair, x in each.readers.items()
    }
    for kind in {*(kind for _, kind in readers), "machine", "another"}:
        shape = SimpleNamespace(kind=network, check="", ranks=None)
        claim = SimpleNamespace(kind=kind, of_machine=False, architecture=shape)
        model: Any = SimpleNamespace(claim=claim)
        if (network, kind) in readers:
            assert reader_of(model) == readers[network, kind]
            shape.ranks = {}
        with pytest.raises(Refused, match="there is no rule"):
            reader_of(model)


SOURCES = tuple(kind for kind in HOW if kind not in (*MACHINES, "turnstile"))


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("part", ["source", "program"])
def test_each_key_of_a_source_and_of_a_program_is_read(kind: str, part: str) -> None:
    """Exports and runs may read what stands there: so a rule must have looked at it."""
    reason = (
        f"no rule looks at the channel of such a {part}|the evidence cannot be"
        "|has no .channel"
    )
    with pytest.raises(Refused, match=reason):
        check(kind, (part, "channel"), {})


@pytest.mark.parametrize("kind", [kind for kind in SOURCES if kind not in NUMBERS])
def test_names_are_lists(kind: str) -> None:
    """Of an object with the same keys a verdict said that inputs are real numbers."""
    letters = proved(kind)[0].header["source"]["letters"]
    with pytest.raises(Refused):
        check(kind, ("source", "letters"), dict.fromkeys(letters, 0))


def test_letters_that_come_before_brackets_are_a_list() -> None:
    """Keys of an object are sorted: the tokens of states stand behind these letters."""
    file, told = proved("blocks")
    header = json.loads(json.dumps({**file.header, "digest": None}))
    del header["digest"]
    header["source"]["letters"] = dict.fromkeys(("!", "#", "(0)", "(1)"), 0)
    data = pack(header, file.tensors)
    with pytest.raises(Refused, match="no lists"):
        recheck(data, json.dumps(for_file(data, told)).encode())


@pytest.mark.parametrize("kind", ["learner", "kernel", "beliefs of an RNN", "rnn"])
def test_a_file_states_no_variables_that_no_rule_looks_for(kind: str) -> None:
    stated = proved(kind)[0].header.get("program", {})
    place = {"name": "x", "code": "integer", "dims": [0, 1], "snapshots": [0, 1]}
    with pytest.raises(
        Refused, match="no rule looks at the channels of such a program"
    ):
        check(kind, ("program",), {**stated, "channels": [place]})


@pytest.mark.parametrize("kind", ["beliefs", "beliefs of an RNN", "system"])
def test_outputs_have_names(kind: str) -> None:
    """Without them exports called outputs by the names of letters."""
    with pytest.raises(Refused):
        check(kind, ("source", "classes"), None)
    file, told = proved(kind)
    source = {k: v for k, v in file.header["source"].items() if k != "classes"}
    header = {**file.header, "source": source}
    data = pack({k: v for k, v in header.items() if k != "digest"}, file.tensors)
    with pytest.raises(Refused, match=r"classes|not named by its state"):
        recheck(data, json.dumps(for_file(data, told)).encode())


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("actions", [0], "a letter has no action"),
        ("final", [1.0], "final vector has another shape"),
        ("final", [1.0, "1"], "no real numbers"),
        ("name", ["GoldenMean"], "is no text"),
    ],
)
def test_what_a_source_may_say_besides_is_of_its_size(
    key: str, value: Any, reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        check("beliefs", ("source", key), value)


def test_numbers_have_their_own_names() -> None:
    """An answer that is 1 would be told as 0."""
    file, _ = proved("chain of thought")
    one, two, *others = file.header["source"]["letters"]
    with pytest.raises(Refused, match="the name of another one"):
        check("chain of thought", ("source", "letters"), [two, one, *others])


def test_a_program_decodes_its_outputs_as_its_source_does() -> None:
    """Effects of patches are predicted by what the file says that outputs mean."""
    file, _ = proved("program")
    (row, _), *others = file.header["program"]["decode"]
    with pytest.raises(Refused, match="another class of its outputs"):
        check("program", ("program", "decode"), [[row, 1], *others])


def test_who_writes_a_variable_is_said_as_it_is() -> None:
    file, _ = proved("program")
    channels = file.header["program"]["channels"]
    at = next(i for i, c in enumerate(channels) if c.get("snapshots", [1])[0] == 2)
    with pytest.raises(Refused, match="has another writer"):
        check("program", ("program", "channels", at, "head"), 0)
