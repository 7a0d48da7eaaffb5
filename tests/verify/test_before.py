"""The latest value before a position: right ones are accepted, spoilt ones are not.

The machine remembers what its latest writing letter wrote, and what the one before wrote.
Its Program fetches the second from the sibling blocks of the position.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
import torch
from model_files import lowered, place, with_entries

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.compiler.constructions.pointers import latest_before
from krohn.network.model import Model
from krohn.program import Latest, Map, Operation, Program, SiblingLatest, Token, table
from krohn.program.interpreter import states
from krohn.verify.proof import prove
from krohn.verify.testing.exhaustive import exhaustive

torch.set_num_threads(1)

LETTERS = ("one", "two", "keep")
WRITTEN = {(0,): 1, (1,): 2, (2,): 1, (3,): 0}
WRITES = {(0,): 1, (1,): 1, (2,): 0, (3,): 1}
LENGTH = 6
Rows = Mapping[tuple[int, ...], int]
FIRST = {(a, b): a or b for a, b in product(range(3), repeat=2)}


def remembers_two() -> Automaton:
    """The state is the value before the letter and the one after it; 0 is none."""
    pairs = list(product(range(3), repeat=2))
    rows = [
        [pairs.index((now, letter or now)) for _, now in pairs] for letter in (1, 2, 0)
    ]
    names = tuple(f"{a}{b}" for a, b in pairs)
    return Automaton(Semiautomaton(np.array(rows), LETTERS, names), start=0)


MACHINE = remembers_two()


def program(
    length: int, before: Mapping[str, Operation], **changed: Operation
) -> Program:
    """The Program that finds the earlier value by ``before``, which ends in it."""
    operations: dict[str, Operation] = {
        "token": Token(),
        "written": Map(table(WRITTEN), ("token",)),
        "writes": Map(table(WRITES), ("token",)),
        "stored": Latest("written", "writes"),
    }
    operations |= changed
    operations |= before
    return Program(
        letters=LETTERS,
        states=9,
        length=length,
        operations=operations,
        outputs=(list(before)[-1], "stored"),
        decode={(a, b): 3 * a + b for a, b in product(range(3), repeat=2)},
    )


def right(length: int) -> Program:
    found = latest_before("earlier", "written", "writes", range(3), length)
    return program(length, found)


def blocks(
    levels: Iterable[int], rows: Rows = FIRST, **other: SiblingLatest
) -> dict[str, Operation]:
    """One sibling-latest for each level, joined one after another by a table."""
    found: dict[str, Operation] = {
        f"b{i}": SiblingLatest("written", "writes", level)
        for i, level in enumerate(levels)
    }
    parts = list(found | other)
    found |= other
    last = parts[0]
    for i, name in enumerate(parts[1:]):
        found[f"e{i}"] = Map(table(rows), (last, name))
        last = f"e{i}"
    return found


@cache
def words(length: int) -> IntArray:
    return np.array(list(product(range(3), repeat=length)))


def computes(source: Program) -> bool:
    """Whether the Program computes the machine on all words of 6 letters."""
    expected = MACHINE.semiautomaton.trace(words(LENGTH), MACHINE.start)
    return np.array_equal(states(source, words(LENGTH)), expected)


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [1, 2, 3, 5, 8, 9, 17])
def test_every_length_is_proved_and_right(length: int) -> None:
    file = lowered(right(length), MACHINE)
    proof = prove(file, MACHINE)
    assert proof.verdict == "verified"
    assert proof.evidence[0]["program"]["states"] <= 10
    assert exhaustive(Model(file), MACHINE, min(length, LENGTH)).has_passed


def test_levels_joined_one_after_another_are_recognised_too() -> None:
    assert (
        prove(lowered(program(LENGTH, blocks(range(3))), MACHINE), MACHINE).verdict
        == "verified"
    )


OTHER_FLAG = {"flag": Map(table({**WRITES, (0,): 0}), ("token",))}
OTHER_SOURCE = {"source": Map(table({**WRITTEN, (0,): 2}), ("token",))}
AT_BOS = {"written": Map(table({**WRITTEN, (3,): 1}), ("token",))}
WRONG: dict[str, Program] = {
    "a level is missing": program(LENGTH, blocks([0, 1])),
    "the lowest level is missing": program(LENGTH, blocks([1, 2])),
    "the level between is missing": program(LENGTH, blocks([0, 2])),
    "levels stand in another order": program(LENGTH, blocks([1, 0, 2])),
    "levels stand the other way round": program(LENGTH, blocks([2, 1, 0])),
    "a level instead of the next": program(LENGTH, blocks([0, 2, 2])),
    "the last answer is taken": program(
        LENGTH, blocks(range(3), {(a, b): b or a for a, b in FIRST})
    ),
    "one row is wrong": program(LENGTH, blocks(range(3), {**FIRST, (1, 2): 2})),
    "nothing found is something": program(
        LENGTH, blocks(range(3), {**FIRST, (0, 0): 1})
    ),
    "one block is asked with another flag": program(
        LENGTH, blocks([0, 1], other=SiblingLatest("written", "flag", 2)), **OTHER_FLAG
    ),
    "one block is asked for another value": program(
        LENGTH,
        blocks([0, 1], other=SiblingLatest("source", "writes", 2)),
        **OTHER_SOURCE,
    ),
    "BOS writes a value": program(LENGTH, blocks(range(3)), **AT_BOS),
    "a part is an output": replace(
        program(LENGTH, blocks(range(3))), outputs=("b0", "stored")
    ),
    "a part is read by another table": program(
        LENGTH,
        blocks(range(3))
        | {"mixed": Map(table({(a, b): b or a for a, b in FIRST}), ("e1", "b2"))},
    ),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", WRONG)
def test_a_program_that_is_wrong_is_not_verified(name: str) -> None:
    assert not computes(WRONG[name])
    assert prove(lowered(WRONG[name], MACHINE), MACHINE).verdict != "verified"


def test_a_source_that_is_0_where_it_is_flagged_is_passed_over() -> None:
    """With 0 for the second value, also at the start, its writing is no answer."""
    started = MACHINE.with_start("22")
    silent = Map(table({(0,): 1, (1,): 0, (2,): 1, (3,): 0}), ("token",))
    source = program(LENGTH, blocks(range(3)), written=silent)
    meant = {(a, b): 3 * (a or 2) + (b or 2) for a, b in product(range(2), repeat=2)}
    source = replace(source, decode=meant)
    expected = started.semiautomaton.trace(words(LENGTH), started.start)
    assert not np.array_equal(states(source, words(LENGTH)), expected)
    assert prove(lowered(source, started), started).verdict != "verified"


DAMAGES = {
    "BOS is no sink": ("key", 0, "bos", 0, 0.0),
    "BOS is below other blocks": ("key", 1, "bos", 0, -2.0),
    "BOS is above what is flagged": ("key", 1, "bos", 0, 4.0),
    "flags do not count": ("key", 1, "writes", 0, 0.0),
    "flags count against": ("key", 1, "writes", 0, -1.0),
    "recency is reversed": ("key", 1, "bits", 0, -1.0),
    "recency is lost": ("key", 1, "bits", 0, 0.0),
    "the own block instead of its sibling": ("query", 1, "bits", 1, -1.0),
    "the cousin instead of the sibling": ("query", 1, "bits", 2, -1.0),
    "a digit does not count": ("query", 0, "bits", 2, 0.0),
    "a digit of one position is wrong": ("position", 5, "bits", 0, -1.0),
    "a digit of one position is nothing": ("position", 3, "bits", 1, 0.0),
    "another position is a sink": ("position", 2, "bos", 0, 4.0),
    "the scale of one position is turned round": ("position", 6, "one", 0, -1.0),
}
"""Rows of a head's matrix, of some level, times a number; or an entry of the table."""


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_head_is_noticed(name: str) -> None:
    file, (part, at, feature, offset, by) = (
        lowered(right(LENGTH), MACHINE),
        DAMAGES[name],
    )
    row = place(file, feature) + offset
    if part == "position":
        wrong = with_entries(file, "embed.position", (at, row), by)
    else:
        heads = file.header["program"]["channels"]
        head = next(c["head"] for c in heads if c.get("level") == at)
        part = f"blocks.0.attention.{part}"
        wrong = with_entries(file, part, (head, row), lambda old: by * old)
    assert not exhaustive(Model(wrong), MACHINE, LENGTH).has_passed
    assert prove(wrong, MACHINE).verdict != "verified"


@pytest.mark.sample(1)
@pytest.mark.parametrize("feature", ["one", "bits", "bos", "index"])
@pytest.mark.parametrize("kept", [False, True])
def test_an_mlp_that_touches_a_feature_is_noticed(feature: str, kept: bool) -> None:
    """Every block looks at features again, so no MLP may clear them or add to them."""
    file = krohn.compile("Grid4", LENGTH, "cascade").file
    last = f"blocks.0.mlp.{len(file.header['architecture']['blocks'][0]['mlp'])}.bias"
    name, value = (last, -2.0) if kept else ("blocks.0.mlp.residual", 0.0)
    wrong = with_entries(file, name, place(file, feature), value)
    proof = prove(wrong, zoo.machine("Grid4"))
    assert proof.verdict == "undecided"
    assert "changes a position feature" in proof.reason
