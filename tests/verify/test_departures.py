"""Pointer Programs: tests that are recognised are right; wrong Programs are refused."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from model_files import lowered
from pointer_programs import LETTERS, machine, program

from krohn.algebra.automaton import IntArray
from krohn.compiler.constructions import pointers
from krohn.network.modelfile import ModelFile, pack
from krohn.program import (
    At,
    Earliest,
    Latest,
    Map,
    Operation,
    Position,
    Program,
    Token,
    table,
)
from krohn.program.errors import Refused
from krohn.program.interpreter import interpret, states
from krohn.program.statement import parse
from krohn.verify.checker.departures import recognise_channels as departures
from krohn.verify.proof import prove
from krohn.verify.search.find import find

WORD, LENGTH = (0, 1, 1, 2), 6
MACHINE = machine(WORD)
Changed = Mapping[str, Operation]


@cache
def words(length: int) -> IntArray:
    return np.array(list(product(range(len(LETTERS)), repeat=length)))


def computes(source: Program) -> bool:
    """Whether the Program computes the machine on all words of its length."""
    every = words(source.length)
    expected = MACHINE.semiautomaton.trace(every, MACHINE.start)
    return np.array_equal(states(source, every), expected)


def recognised(file: ModelFile, length: int) -> dict[str, tuple[str, ...]]:
    """The tests that are recognised in a file."""
    return departures(parse(file.header["program"], len(LETTERS), length))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("word", "length"),
    [
        *product([(0, 1), WORD], [1, 2, 3, 8]),
        ((1, 1, 1), 4),
        ((0, 1, 2, 0, 1, 2, 1), 9),
    ],
)
def test_every_length_is_proved_and_right(word: tuple[int, ...], length: int) -> None:
    source = program(word, length)
    every = words(min(length, 6))
    expected = machine(word).semiautomaton.trace(every, 0)
    assert np.array_equal(states(source, every), expected)
    file = lowered(source, machine(word))
    assert prove(file, machine(word)).verdict == "verified"
    assert find(pack(file.header, file.tensors))["margin"] > 0.9


def test_tests_are_recognised() -> None:
    assert recognised(lowered(program(WORD, 9), MACHINE), 9) == {
        "test2": ("is0", "leaves1"),
        "test3": ("test2", "leaves1"),
        "test4": ("test2", "leaves1", "leaves2"),
    }


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(3))
def test_a_recognised_test_has_the_recurrence_whatever_its_flags(seed: int) -> None:
    """Flags that depend on the position too, on all words of 7 letters."""
    rng, length = np.random.default_rng(seed), 7
    changed: dict[str, Operation] = {}
    phase = Position(tuple(rng.integers(0, 3, length + 1).tolist()))
    for a in range(len(LETTERS)):
        drawn = rng.random((len(LETTERS), 3)) < rng.uniform(0.1, 0.6)
        for kind, bos in (("is", 0), ("leaves", 1)):
            rows = {(x, p): int(drawn[x, p]) for x in range(3) for p in range(3)}
            rows |= {(len(LETTERS), p): bos for p in range(3)}
            changed[f"{kind}{a}"] = Map(table(rows), ("name", "phase"))
    source = program((0, 1, 2, 1, 0), length, changed)
    name = Map(table({(a,): a for a in range(len(LETTERS) + 1)}), ("token",))
    known = {"token": Token(), "name": name, "phase": phase}
    source = replace(source, operations={**known, **source.operations})
    values = interpret(source, words(length))
    file = lowered(source, MACHINE)
    names = recognised(file, length)
    assert set(names) == {"test2", "test3", "test4", "test5"}
    for name, reads in names.items():
        stage = np.zeros(len(words(length)), dtype=np.int64)
        for t in range(1, length + 1):
            columns = [values[n][:, t] for n in reads] + [np.zeros_like(stage)]
            stage += np.array(columns)[stage, np.arange(len(stage))]
            assert np.array_equal(values[name][:, t], stage == len(reads))


def placed(before: int, left: int, bos: int = 0) -> Changed:
    """Positions that count ``before`` too early, and lengths that are ``left`` too long."""
    found: dict[str, Operation] = dict(pointers.places(LENGTH))
    at = [max(t - 1 - before, 0) for t in range(LENGTH + 1)]
    found["before"] = Position(tuple(at))
    for b, name in enumerate(pointers.digits("before", LENGTH)):
        found[name] = Position(tuple(t >> b & 1 for t in at))
    rest = (LENGTH - t + left for t in range(1, LENGTH + 1))
    found |= {"left": Position((bos, *rest))}
    for name in ("test2", "test3", "test4"):
        found |= compared({}, name=name)
    return found


def compared(
    rows: Mapping[int, int], threshold: int = LENGTH, name: str = "test3"
) -> dict[str, Operation]:
    """A test with another threshold, and some rows of its table changed."""
    told = {(s,): rows.get(s, int(s >= threshold)) for s in range(2 * LENGTH + 1)}
    return {name: Map(table(told), (f"{name}.sum",))}


def pointing(outer: str, digits: tuple[str, ...]) -> Changed:
    return {"last12": At(outer, digits)}


SECOND = pointers.digits("last2", LENGTH)
WRONG: dict[str, Changed] = {
    "another letter is awaited": pointing("last0", SECOND),
    "the pointers are swapped": pointing("last2", pointers.digits("last1", LENGTH)),
    "a pointer follows itself": pointing("last1", pointers.digits("last1", LENGTH)),
    "a pointer follows no flag": pointing("before", SECOND),
    "digits are out of order": pointing("last1", SECOND[::-1]),
    "a digit is another pointer's": pointing("last1", ("last1[0]", *SECOND[1:])),
    "a digit has another flag": {"last2[0]": Latest("before[0]", "leaves1")},
    "a pointer to the flag itself": placed(before=-1, left=0),
    "a pointer to the one before": placed(before=1, left=0),
    "no position is position 0": placed(before=0, left=1),
    "no first position is a first one": placed(before=0, left=0, bos=1),
    "a position too few is left": placed(before=0, left=-1)
    | {"left": Position((0,) * 7)},
    "the first position is the last": {"first2": Latest("left", "leaves0")},
    "the first position of another flag": {"first2": Earliest("left", "is1")},
    "less instead of at most": compared({}, LENGTH + 1),
    "at most one more": compared({}, LENGTH - 1),
    "one row of the comparison": compared({LENGTH: 0}),
    "a sum that never is": compared({1: 1}),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", WRONG)
def test_a_program_that_is_wrong_is_not_verified(name: str) -> None:
    source = program(WORD, LENGTH, WRONG[name])
    assert not computes(source)
    file = lowered(source, MACHINE)
    assert prove(file, MACHINE).verdict != "verified"
    with pytest.raises(Refused):
        find(pack(file.header, file.tensors))


def test_what_at_reads_elsewhere_is_not_followed() -> None:
    """A letter fetched by a pointer is no test: no argument covers it."""
    changed: dict[str, Operation] = {
        "seen1": At("letter", pointers.digits("last0", LENGTH))
    }
    file = lowered(program(WORD, LENGTH, changed), MACHINE)
    proof = prove(file, MACHINE)
    assert proof.verdict == "undecided"
    assert "in a way that no rule covers" in proof.reason


@pytest.mark.slow
def test_tests_of_long_words_have_small_memories() -> None:
    """One cell for each test, however long the words are."""
    file = lowered(program(WORD, 512), MACHINE)
    proof = prove(file, MACHINE)
    assert proof.verdict == "verified"
    assert proof.evidence[0]["program"]["states"] == len(WORD) + 1


def test_lists_that_double_are_not_followed_without_end() -> None:
    """Forty pointers, each composed with itself, would be a list of 2^40 flags."""
    found = pointers.last("p0", "leaves0", LENGTH)
    for i in range(40):
        found |= pointers.compose_pointers(f"p{i + 1}", f"p{i}", f"p{i}", LENGTH)
    found |= pointers.has_happened("seen1", "first1", "p40", LENGTH)
    source = program(WORD, LENGTH)
    kept = {n: op for n, op in source.operations.items() if n != "seen1"}
    file = lowered(replace(source, operations={**kept, **found}), MACHINE)
    assert prove(file, MACHINE).verdict == "undecided"
    assert set(recognised(file, LENGTH)) == {"test2", "test3", "test4"}
