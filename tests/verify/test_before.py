"""The latest value before a position: right ones are accepted, spoilt ones are not.

The machine remembers what its latest writing letter wrote, and what the one before wrote.
Its Program fetches the second from the sibling blocks of the position.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
import torch

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.algebra.formats import json_format
from krohn.compiler.constructions.pointers import latest_before
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.transformer import describe, lower
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.program import Latest, Map, Operation, Program, SiblingLatest, Token, table
from krohn.program.interpreter import states
from krohn.verify.proof import prove
from krohn.verify.testing.exhaustive import exhaustive

torch.set_num_threads(1)

FLOAT32 = PRECISIONS["float32"]
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


def lowered(source: Program) -> ModelFile:
    """The network of a Program, said to compute the machine."""
    options = Options(FLOAT32)
    layout, features = arrange(optimise(source, options), options)
    network = lower(layout, features, strict=False)
    header = {
        "architecture": network.architecture,
        "machine": json_format.to_object(MACHINE),
        "claim": {"length": source.length, "dtype": "float32", "start": "00"},
        "program": describe(layout, network),
    }
    tensors = {n: FLOAT32.round(array) for n, array in network.tensors.items()}
    return ModelFile(header, tensors, FLOAT32)


@cache
def words(length: int) -> IntArray:
    return np.array(list(product(range(3), repeat=length)))


def computes(source: Program) -> bool:
    """Whether the Program computes the machine on all words of 6 letters."""
    expected = MACHINE.semiautomaton.trace(words(LENGTH), MACHINE.start)
    return np.array_equal(states(source, words(LENGTH)), expected)


@pytest.mark.sample(4)
@pytest.mark.parametrize("length", [1, 2, 3, 5, 8, 9, 17])
def test_every_length_is_proved_and_right(length: int) -> None:
    file = lowered(right(length))
    proof = prove(file, MACHINE)
    assert proof.verdict == "verified"
    assert proof.evidence[0]["program"]["states"] <= 10
    assert exhaustive(Model(file), MACHINE, min(length, LENGTH)).passed


def test_levels_joined_one_after_another_are_recognised_too() -> None:
    assert (
        prove(lowered(program(LENGTH, blocks(range(3)))), MACHINE).verdict == "verified"
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


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", WRONG)
def test_a_program_that_is_wrong_is_not_verified(name: str) -> None:
    assert not computes(WRONG[name])
    assert prove(lowered(WRONG[name]), MACHINE).verdict != "verified"


def test_a_source_that_is_0_where_it_is_flagged_is_passed_over() -> None:
    """With 0 for the second value, also at the start, its writing is no answer."""
    started = MACHINE.with_start("22")
    silent = Map(table({(0,): 1, (1,): 0, (2,): 1, (3,): 0}), ("token",))
    source = program(LENGTH, blocks(range(3)), written=silent)
    meant = {(a, b): 3 * (a or 2) + (b or 2) for a, b in product(range(2), repeat=2)}
    source = replace(source, decode=meant)
    expected = started.semiautomaton.trace(words(LENGTH), started.start)
    assert not np.array_equal(states(source, words(LENGTH)), expected)
    assert prove(lowered(source), started).verdict != "verified"


def place(file: ModelFile, name: str) -> int:
    """The first dimension of a position feature or a channel."""
    known = {
        c["name"]: c["dims"] for c in file.header["program"]["channels"] if "dims" in c
    }
    return int({**file.header["program"]["features"], **known}[name][0])


def heads_at(file: ModelFile, level: int) -> int:
    """The head that looks into blocks of a level."""
    stated = file.header["program"]["channels"]
    return next(int(c["head"]) for c in stated if c.get("level") == level)


def keyed(feature: str, level: int, offset: int, factor: float) -> "Damage":
    """Entries of a key matrix multiplied."""

    def damage(file: ModelFile, tensors: dict[str, FloatArray]) -> None:
        row = place(file, feature) + offset
        tensors["blocks.0.attention.key"][heads_at(file, level), row] *= factor

    return damage


def queried(feature: str, level: int, offset: int, factor: float) -> "Damage":
    """Entries of a query matrix multiplied."""

    def damage(file: ModelFile, tensors: dict[str, FloatArray]) -> None:
        row = place(file, feature) + offset
        tensors["blocks.0.attention.query"][heads_at(file, level), row] *= factor

    return damage


def positioned(feature: str, position: int, offset: int, value: float) -> "Damage":
    """One entry of the position embedding set."""

    def damage(file: ModelFile, tensors: dict[str, FloatArray]) -> None:
        tensors["embed.position"][position, place(file, feature) + offset] = value

    return damage


Damage = Callable[[ModelFile, dict[str, FloatArray]], None]
DAMAGES: dict[str, Damage] = {
    "BOS is no sink": keyed("bos", 0, 0, 0.0),
    "BOS is below other blocks": keyed("bos", 1, 0, -2.0),
    "BOS is above what is flagged": keyed("bos", 1, 0, 4.0),
    "flags do not count": keyed("writes", 1, 0, 0.0),
    "flags count against": keyed("writes", 1, 0, -1.0),
    "recency is reversed": keyed("bits", 1, 0, -1.0),
    "recency is lost": keyed("bits", 1, 0, 0.0),
    "the own block instead of its sibling": queried("bits", 1, 1, -1.0),
    "the cousin instead of the sibling": queried("bits", 1, 2, -1.0),
    "a digit does not count": queried("bits", 0, 2, 0.0),
    "a digit of one position is wrong": positioned("bits", 5, 0, -1.0),
    "a digit of one position is nothing": positioned("bits", 3, 1, 0.0),
    "another position is a sink": positioned("bos", 2, 0, 4.0),
    "the scale of one position is turned round": positioned("one", 6, 0, -1.0),
}


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_head_is_noticed(name: str) -> None:
    file = lowered(right(LENGTH))
    tensors = {n: array.copy() for n, array in file.tensors.items()}
    DAMAGES[name](file, tensors)
    wrong = replace(file, tensors=tensors)
    assert not exhaustive(Model(wrong), MACHINE, LENGTH).passed
    assert prove(wrong, MACHINE).verdict != "verified"


@pytest.mark.sample(2)
@pytest.mark.parametrize("feature", ["one", "bits", "bos", "index"])
@pytest.mark.parametrize("kept", [False, True])
def test_an_mlp_that_touches_a_feature_is_noticed(feature: str, kept: bool) -> None:
    """Every block looks at features again, so no MLP may clear them or add to them."""
    file = krohn.compile("Grid4", LENGTH, "cascade").file
    tensors = {n: array.copy() for n, array in file.tensors.items()}
    last = f"blocks.0.mlp.{len(file.header['architecture']['blocks'][0]['mlp'])}.bias"
    if kept:
        tensors[last][place(file, feature)] = -2.0
    else:
        tensors["blocks.0.mlp.residual"][place(file, feature)] = 0.0
    proof = prove(replace(file, tensors=tensors), zoo.machine("Grid4"))
    assert proof.verdict == "undecided"
    assert "changes a position feature" in proof.reason
