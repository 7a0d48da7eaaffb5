"""Variables that are selected print themselves, and do what the network does with them."""

import re
from functools import cache
from typing import Any

import pytest
import torch
from every_construction import SERVED
from every_kind import NETWORKS, compiled

import krohn
from krohn.open_model import Model
from krohn.program.quoting import listed
from krohn.program.value_names import IS
from krohn.selection import MOST_PRINTED


@pytest.fixture(scope="module")
def net() -> Model:
    return krohn.compile("examples/turnstile.dot", 8).model


@cache
def served(construction: str) -> Model:
    """A network of a construction, which several tests look at."""
    (source, length), *_ = SERVED[construction].items()
    return krohn.compile(source, length, construction, proof=False).model


WORD = ["coin", "card", "push", "coin", "push"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("construction", SERVED)
def test_each_prints_what_it_is_where_it_lies_and_what_its_values_mean(
    construction: str,
) -> None:
    net = served(construction)
    for name in net.variables.program.channels:
        printed, meaning = repr(net.select(name)), net.variables.meaning(name)
        first, where, values, answer = printed.splitlines()
        assert first == f"{name}: {meaning.says}"
        texts = [text.rpartition(IS)[2] for text in meaning.short.values()]
        assert all(text in values for text in texts[:8])
        place = net.places().get(name)
        assert ("stored nowhere" in where) == (place is None)
        if place is not None:
            assert f"dimension{'s' * (place.dims[1] - place.dims[0] > 1)} " in where
            assert f"{place}\n{answer}" == printed
            assert net.select(name).place == place
        assert answer == net.variables.answer
    assert net.select().names == tuple(net.places())


@pytest.mark.slow
def test_patterns_select_several(net: Model) -> None:
    names = tuple(n for n in net.places() if n.startswith("earlier0@"))
    several = net.select("earlier0@*")
    assert several.names == names
    assert tuple(several.places) == names
    assert len(repr(several).splitlines()) == 3 * len(names) + 1
    assert net.select("*0", "stored0").names == tuple(
        n for n in net.places() if n.endswith("0")
    )
    assert net.select("now0", "at*").names == ("now0", "at0", "at1")
    assert net.select("stored?").names == ("stored0",)
    scan = krohn.compile("S3", 4, "scan", proof=False).model
    assert scan.select("map1[*]").names == ("map1[0]", "map1[1]", "map1[2]")
    assert scan.select("map1[?]").names == scan.select("map1[*]").names
    assert scan.select("map1[0]").names == ("map1[0]",)
    many = krohn.compile("S5", 20, proof=False).model.select()
    assert len(many.names) > MOST_PRINTED
    hidden = len(many.names) - MOST_PRINTED
    assert f"\n… ({hidden} more variables)\nthe network's answer is in " in repr(many)


def test_they_do_what_the_network_does(net: Model) -> None:
    one, several = net.select("stored0"), net.select("earlier0@*")
    assert torch.equal(one.read(WORD), net.read(WORD, "stored0"))
    read = several.read(WORD)
    assert all(torch.equal(x, net.read(WORD, n)) for n, x in read.items())
    assert one.patch(WORD, 2, 2) == net.patch(WORD, "stored0", 2, 2)
    assert one.patch(WORD, 2, "paid or member") == one.patch(WORD, 2, 2)
    changes = [(name, 2, 1) for name in several.names]
    assert several.patch(WORD, 2, 1) == net.patch(WORD, changes)
    assert several.patch(WORD, 2, 1).agrees
    assert one.ablate(WORD) == net.ablate(WORD, "stored0")
    without = several.ablate(WORD)
    assert without.agrees
    assert without.answers != without.before


@pytest.mark.sample(1)
@pytest.mark.parametrize("construction", SERVED)
def test_all_heads_are_ablated_at_once_as_predicted(construction: str) -> None:
    net = served(construction)
    heads = [name for name, place in net.places().items() if place.head is not None]
    word = [net.letters[i % len(net.letters)] for i in range(net.length or 0)]
    if heads:
        assert net.ablate(word, heads).agrees is not False


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (("stored1",), "no variable 'stored1'.*did you mean stored0"),
        (
            ("x*",),
            r"no variable 'x\*'; the network's answer is in \w+; the variables are ",
        ),
        ((["stored0"],), "called by its name, as 'stored', not by"),
        ((0,), "called by its name"),
    ],
)
def test_what_is_not_there_is_refused(net: Model, chosen: object, said: str) -> None:
    with pytest.raises(krohn.KrohnError, match=said):
        net.select(*chosen)  # type: ignore[misc]


def test_a_pattern_where_a_name_belongs_is_refused_with_the_selection(
    net: Model,
) -> None:
    pattern = "earlier0@*"
    for call, said in {
        lambda: net.ablate(WORD, pattern): "ablate(word)",
        lambda: net.read(WORD, pattern): "read(word)",
        lambda: net.patch(WORD, pattern, 1, 1): "patch(word, position, value)",
    }.items():
        with pytest.raises(krohn.KrohnError) as refusal:
            call()
        assert str(refusal.value) == (
            f"{pattern!r} is a pattern and no name; call "
            f"`model.select({pattern!r}).{said}`"
        )


@pytest.mark.sample(1)
@pytest.mark.parametrize("construction", SERVED)
def test_what_is_suggested_is_taken(construction: str) -> None:
    net = served(construction)
    word = [net.letters[0]] * (net.length or 0)
    takes = {
        "ablate": {n for n, place in net.places().items() if place.head is not None},
        "patch": {*net.places()},
        "read": {*net.variables.program.channels},
    }
    for name in net.variables.program.channels:
        calls: dict[str, Any] = {
            "ablate": lambda n=name: net.ablate(word, f"{n}_"),
            "patch": lambda n=name: net.patch(word, f"{n}_", 1, 0),
            "read": lambda n=name: net.read(word, f"{n}_"),
        }
        for kind, call in calls.items():
            with pytest.raises(krohn.KrohnError) as refusal:
                call()
            suggested = re.search(r"did you mean (\S+)\?", str(refusal.value))
            assert suggested is None or suggested[1] in takes[kind]


def test_what_is_stored_nowhere_is_read_and_not_changed(net: Model) -> None:
    chosen = net.select("now0")
    assert chosen.read(WORD).tolist() == [[0, 1, 0, 0, 1, 0]]
    assert chosen.places == {}
    for change in (lambda: chosen.patch(WORD, 1, 1), lambda: chosen.ablate(WORD)):
        with pytest.raises(krohn.KrohnError, match="is computed from stored0 where"):
            change()
    with pytest.raises(krohn.KrohnError, match=r"6 variables .*; `places` has all"):
        _ = net.select("stored0", "earlier0@*", "now0").place


@pytest.mark.parametrize(
    ("many", "last", "text"),
    [
        (0, "", ""),
        (1, "or", "a"),
        (3, "", "a, b, c"),
        (4, "or", "a, b, c or d"),
        (5, "", "a, b, c, … (2 more)"),
        (6, "or", "a, b, c or 3 more"),
    ],
)
def test_lists_are_cut_and_say_how_many_more_there_are(
    many: int, last: str, text: str
) -> None:
    assert listed("abcdef"[:many], 3, last) == text


def calls(net: Model, word: str) -> dict[str, Any]:
    """Calls, right and wrong, of a network of any kind."""
    places = net.places()
    stated = net.header.get("program", {}).get("channels", [])
    names = [c["name"] for c in stated] or ["x"]
    name, hidden = (
        next(iter(places), "x"),
        next((n for n in names if n not in places), "x"),
    )
    heads = [n for n, place in places.items() if place.head is not None]
    return {
        "all": lambda: repr(net.select()),
        "hidden": lambda: repr(net.select(hidden)),
        "read": lambda: net.read(word, name),
        "read hidden": lambda: net.read(word.split(), hidden),
        "read no word": lambda: net.read(5, name),
        "read tokens": lambda: net.read(torch.zeros(1, 2).long(), name),
        "read numbers": lambda: net.read(torch.zeros(1, 2, 3), name),
        "patch": lambda: net.patch(word, name, 1, 0),
        "patch no value": lambda: net.patch(word.split(), name, 1, "zz"),
        "patch no word": lambda: net.patch(None, name, 1, 1),
        "patch hidden": lambda: net.patch(word, hidden, 1, 0),
        "ablate": lambda: net.ablate(word, name),
        "ablate all": lambda: net.ablate(word, heads),
        "cache": lambda: net.run_with_cache(word)[1][name],
        "cache hidden": lambda: net.run_with_cache(word)[1][hidden],
        "hooks": lambda: net.run_with_hooks(word, {name: lambda v: v}),
        "no hooks": lambda: net.run_with_hooks(word, {"zz": lambda v: v}),
        "places": lambda: net.hook_places(),
        "call": lambda: net(word),
        "call nothing": lambda: net(None),
        "call tokens": lambda: net(torch.zeros(1, 2).long()),
        "run": lambda: net.run(word),
        "run nothing": lambda: net.run(5),
        "run no letters": lambda: net.run("@ @"),
        "write": lambda: net.write(word),
        "write nothing": lambda: net.write(5),
        "write nothings": lambda: net.write([5]),
        "all at once": lambda: net.select().read(word),
        "all patched": lambda: net.select().patch(word, 1, 0),
        "values": lambda: [(p.values, p.meaning, p.where) for p in places.values()],
    }


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", NETWORKS)
def test_no_call_of_any_kind_ends_in_an_error_from_inside(kind: str) -> None:
    net, refusals = compiled(kind).model, list[str]()
    for call in calls(net, NETWORKS[kind][2]).values():
        try:
            call()
        except krohn.KrohnError as error:
            refusals.append(str(error))
    assert refusals
    inside = re.compile(r"\n|predicted: '\w+'$|NoneType")
    assert [said for said in refusals if inside.search(said)] == []
