"""`explain` and `compile` choose by one walk, and so say the same."""

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import ceil, log2
from pathlib import Path
from typing import Any

import pytest
from regexes import random_pattern

import krohn
from krohn import cli, compiled_model
from krohn.algebra.automaton import Automaton
from krohn.compilation import compile as compiled, explain
from krohn.compiled_model import Way, choose
from krohn.compiler import CompileError, ProgramTooLong
from krohn.compiler.pipeline import Options
from krohn.compiler.planning import planning
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FLOAT32
from krohn.show import explanation as show
from krohn.verify.proof import Proof, prove

SIZES = ("depth", "layers", "parameters")


def patterns(count: int) -> Iterator[str]:
    """Random regular expressions of a few states."""
    source = random.Random(5)
    while count:
        text = "regex:" + random_pattern(source)
        if 3 <= len(krohn.read(text).states) <= 12:
            count -= 1
            yield text


def sizes(row: dict[str, Any]) -> tuple[int, ...]:
    return tuple(row[size] for size in SIZES)


def agree(source: str, length: int, **how: Any) -> None:
    """`explain` and `compile` have one network, proved, and one list of failed tries."""
    facts, model = explain(source, length, **how), compiled(source, length, **how)
    (row,) = [row for row in facts["front"] if row["chosen"]]
    told = model.summary()
    assert (row["name"], sizes(row)) == (model.construction, sizes(told))
    assert (facts["proved"], told["verdict"]) == (True, "verified")
    assert facts["tried"] == told["tried"]
    failed = [row for row in facts["front"] if row["proved"] is False]
    assert sorted(map(sizes, failed)) == sorted(map(sizes, facts["tried"]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "length"),
    [
        pytest.param("regex:(a)*caaa|c", 512, marks=pytest.mark.slow),
        ("regex:(a)*caaa|c", 24),
        ("regex:(ab|ba)*", 24),
        ("D6", 16),
    ],
)
@pytest.mark.parametrize("minimise", [None, "depth"])
def test_what_is_said_to_be_chosen_is_written(
    source: str, length: int, minimise: str | None
) -> None:
    agree(source, length, minimise=minimise)


@pytest.mark.slow
def test_so_it_is_for_random_languages() -> None:
    for text in patterns(4):
        agree(text, 24)


@pytest.mark.slow
def test_what_fails_in_a_narrow_format_is_said_by_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Counters in float16 sum more letters than it tells apart; a cascade does not."""
    agree("C2xC2", 24, dtype="float16")
    facts = explain("C2xC2", 24, dtype="float16")
    assert facts["tried"]
    show.explanation(facts)
    said = capsys.readouterr().out
    how = ("-T", "24", "--dtype", "float16", "-o", str(tmp_path / "C2.safetensors"))
    assert cli.run(["compile", "C2xC2", *how]) == 0
    written = capsys.readouterr().out
    for row in facts["tried"]:
        start = f"Tried without success: {row['construction']} (depth {row['depth']}, "
        assert start in said
        assert start in written
        assert row["reason"] in said
    rows = [line for line in said.splitlines() if line.startswith("✗")]
    assert len(rows) == len(facts["tried"])


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of constructions of which nothing is proved."""
    names = set[str]()

    def unless_refused(file: ModelFile, *rest: Any) -> Proof:
        if file.header["construction"] in names:
            return Proof("undecided", "it was to fail", None)
        return prove(file, *rest)

    monkeypatch.setattr(compiled_model, "prove_own", unless_refused)
    return names


def least(machine: Automaton, length: int, refused: set[str]) -> tuple[int, int]:
    """Depth and layers of the shallowest plan, by looking at every one."""
    every = planning(replace(machine, output=None), length, Options(FLOAT32))
    costs = [p.cost for p in every.best_first("parameters")]
    names = [p.construction for p in every.best_first("parameters")]
    return min(
        (cost.depth, cost.layers)
        for name, cost in zip(names, costs, strict=True)
        if name not in refused
    )


@pytest.mark.slow
def test_the_least_depth_is_that_of_all_that_can_be_proved(refused: set[str]) -> None:
    source = random.Random(2)
    for text in [*patterns(2), "Grid4", "C2xC2"]:
        machine = krohn.read(text)
        facts = explain(text, 6, minimise="depth")
        names = sorted({row["name"] for row in facts["front"]} - {"sequential"})
        refused.clear()
        refused.update(source.sample(names, len(names) // 2))
        model = compiled(text, 6, minimise="depth").summary()
        assert (model["depth"], model["layers"]) == least(machine, 6, refused)
        agree(text, 6, minimise="depth")


@pytest.mark.slow
def test_a_construction_that_fails_is_named_and_not_chosen(refused: set[str]) -> None:
    before = explain("regex:(ab|ba)*", 24)
    refused.add(before["chosen"])
    facts = explain("regex:(ab|ba)*", 24)
    assert facts["chosen"] not in (None, before["chosen"])
    assert facts["tried"][0]["construction"] == before["chosen"]
    assert facts["tried"][0]["reason"] == "it was to fail"
    assert "of the networks that were not tried before" in facts["why"]
    assert before["chosen"] not in facts["why"]
    agree("regex:(ab|ba)*", 24)


def test_where_nothing_is_proved_both_say_so(refused: set[str]) -> None:
    facts = explain("C2", 6)
    refused.update(row["name"] for row in facts["constructions"])
    facts = explain("C2", 6)
    assert (facts["chosen"], facts["proved"]) == (None, None)
    assert "no construction of a Transformer that applies" in facts["why"]
    with pytest.raises(CompileError, match="cannot be certified") as said:
        compiled("C2", 6)
    for row in facts["tried"]:
        told, _, reason = str(said.value).partition(": it was to fail")
        assert row["construction"] in told
        assert "it was to fail" not in reason  # each reason is told once


@pytest.mark.slow
def test_what_is_not_tried_is_not_said_to_be_proved(
    capsys: pytest.CaptureFixture[str],
) -> None:
    facts = explain("C2", 200, effort=100)
    assert facts["chosen"]
    assert facts["proved"] is None
    assert {row["proved"] for row in facts["front"]} == {None}
    show.explanation(facts)
    assert "`krohn compile` proves it, or says why not" in capsys.readouterr().out
    facts = explain("C2", 200, effort="unlimited")
    assert facts["proved"]


def test_ways_are_followed_no_further_than_to_one_that_is_shown() -> None:
    made = list[str]()

    def way(name: str) -> Way[str]:
        def make() -> str:
            made.append(name)
            return name

        return Way(name, None, make)

    def shown(name: str) -> str:
        if name in "ab":
            raise CompileError(f"not {name}")
        return name.upper()

    choice = choose(map(way, "abcd"), shown)
    assert (choice.found, made) == ("C", ["a", "b", "c"])
    assert [(t.construction, t.reason) for t in choice.tried] == [
        ("a", "not a"),
        ("b", "not b"),
    ]
    choice = choose(map(way, "abcd"), shown, lambda way: way.construction == "a")
    assert choice.way is not None
    assert (choice.way.construction, choice.found) == ("b", None)
    assert made == ["a", "b", "c", "a"]
    assert choose(map(way, "ab"), shown).way is None


def departures(machine: Automaton) -> int:
    """How many states a run can leave; each is left once (R-trivial)."""
    following = machine.transitions.T.tolist()
    known = dict[int, int]()

    def most(q: int) -> int:
        if q not in known:
            known[q] = max((1 + most(p) for p in {*following[q]} - {q}), default=0)
        return known[q]

    return most(machine.start)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "(a)*caaa|c",
        "(c)+(b)+ac",
        "b(a|c)*c(a)*b(a|b|c)*",
        "(a)*c(b)*bb(a|b)*c|(a|c)*b(c)*b",
        "(a|b)(b)*aaaa",
    ],
)
def test_the_default_follows_departures_by_doubling_or_is_shallower(text: str) -> None:
    """Theorem 5 of docs/depth.md."""
    machine = krohn.read(f"regex:{text}")
    model = compiled(machine, 128)
    assert model.summary()["depth"] <= 1 + ceil(log2(departures(machine)))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "within"),
    [
        ("GoldenMean", None),
        ("Mess3", None),
        ("Mess3", 0.05),
        ("RanHMM3,3@3", 0.05),
    ],
)
def test_of_a_hidden_markov_model_both_say_the_same(
    name: str, within: float | None
) -> None:
    """And a depth that no network here has is said to be a theorem."""
    facts = explain(name, 8, within=within)
    theory = [told for told in facts["depth_growth"] if told.startswith("in theory")]
    if facts["construction"] is None:
        with pytest.raises(CompileError) as said:
            compiled(name, 8, within=within)
        assert facts["reason"] == str(said.value)
        assert len(theory) == len(facts["depth_growth"])
        return
    told = compiled(name, 8, within=within).summary()
    same = ("construction", "error", "dtype", "tried", *SIZES)
    assert [facts[key] for key in same] == [told[key] for key in same]
    below = [f"; {told['construction']} below" in s for s in facts["depth_growth"]]
    exact = facts["beliefs"] is not None
    assert sum(below) == (0 if exact else 1)
    assert len(theory) == (0 if exact else len(below) - 1)


def test_what_no_proof_was_tried_of_is_said_to_be_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    facts = explain("program:reverse", 6)
    assert facts["proved"] is None
    show.facts(facts)
    assert "`krohn compile` proves it" in capsys.readouterr().out


def test_a_program_that_takes_too_long_is_tried_once() -> None:
    made, program = list[str](), object()

    def refuse(name: str) -> str:
        made.append(name)
        if name == "last":
            return name
        raise ProgramTooLong("too many steps")

    def way(name: str, of: object) -> Way[str]:
        return Way(name, None, partial(str, name), program=of)

    ways = (
        way("first", program),
        way("again", program),
        way("a", None),
        way("last", None),
    )
    choice = choose(ways, refuse)
    assert (choice.found, made) == ("last", ["first", "a", "last"])
