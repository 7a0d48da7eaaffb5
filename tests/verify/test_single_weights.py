"""Where every single weight matters, the proof refuses each change of one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from in_parts import part_of

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton
from krohn.network.modelfile import ModelFile
from krohn.verify.proof import prove

HEADS = ("counter", "memory", "gridworld")

Key = tuple[str, str, int, str, bool]
PLAIN: list[Key] = [
    ("C2", "counter", 6, "float32", False),
    ("C5", "counter", 4, "float32", False),
    ("C2xC2", "product", 4, "float32", False),
    ("FlipFlop", "memory", 6, "float32", False),
    ("Memory5", "memory", 5, "float32", False),
    ("Grid4", "scan", 4, "float32", False),
    ("D6", "scan", 4, "float32", False),
    ("Grid4", "sequential", 3, "float32", False),
    ("Grid3", "gridworld", 4, "float32", False),
    ("Dyck2,2", "dyck", 4, "float32", False),
]
PARTS = 12
OTHERS: list[Key] = [
    ("C2", "counter", 6, "float32", True),
    ("Grid4", "scan", 4, "float32", True),
    ("Grid4", "scan", 4, "bfloat16", False),
    ("Grid4", "scan", 4, "float64", False),
    ("S3", "cascade", 5, "float32", False),
    ("Grid3", "cascade", 5, "float32", False),
    ("PermReset2", "cascade", 5, "float32", True),
    ("Grid4", "elman", 5, "float32", False),
]


@dataclass(frozen=True)
class Mutant:
    """A file with one weight changed."""

    tensor: str
    index: int
    file: ModelFile


@cache
def compiled(key: Key) -> tuple[ModelFile, Automaton]:
    name, construction, length, dtype, strict = key
    machine = zoo.machine(name)
    if construction == "elman":
        built = krohn.compile(machine, arch="rnn", dtype=dtype)
    else:
        built = krohn.compile(machine, length, construction, dtype=dtype, strict=strict)
    return built.file, machine


def changed(file: ModelFile, tensor: str, index: int, factor: float) -> Mutant:
    """One weight multiplied by a factor and rounded; a weight of 0 set to 1."""
    array = file.tensors[tensor].copy()
    flat = array.reshape(-1)
    flat[index] = file.precision.round(flat[index] * factor) if flat[index] else 1.0
    assert not np.array_equal(array, file.tensors[tensor])
    return Mutant(tensor, index, replace(file, tensors={**file.tensors, tensor: array}))


def weights(file: ModelFile, *endings: str) -> Iterator[tuple[str, int]]:
    """Every nonzero weight of the tensors whose names end so."""
    for name, array in file.tensors.items():
        if name.endswith(endings):
            for index in np.flatnonzero(array.reshape(-1)).tolist():
                yield name, index


def tables(file: ModelFile) -> tuple[str, ...]:
    """The weights of the last layer of every MLP."""
    blocks = file.header["architecture"]["blocks"]
    return tuple(
        f"blocks.{b}.mlp.{len(block['mlp'])}.weight" for b, block in enumerate(blocks)
    )


def verified(file: ModelFile, machine: Automaton) -> bool:
    return prove(file, machine).verdict == "verified"


@pytest.mark.sample(4)
@part_of(PARTS)
@pytest.mark.parametrize("key", PLAIN)
@pytest.mark.parametrize("factor", [-1.0, 1.1, 0.9])
def test_every_copy_of_a_head_matters(key: Key, factor: float, part: int) -> None:
    file, machine = compiled(key)
    copies = list(weights(file, "attention.value", "attention.out"))[part::PARTS]
    for tensor, index in copies:
        assert not verified(changed(file, tensor, index, factor).file, machine)


@pytest.mark.sample(3)
@part_of(PARTS)
@pytest.mark.parametrize("key", PLAIN)
def test_every_sign_in_the_result_of_a_table_matters(key: Key, part: int) -> None:
    file, machine = compiled(key)
    for tensor, index in list(weights(file, *tables(file)))[part::PARTS]:
        assert not verified(changed(file, tensor, index, -1.0).file, machine)


@pytest.mark.sample(4)
@part_of(PARTS)
@pytest.mark.parametrize("key", [*PLAIN, *OTHERS[:-1]])
def test_every_sign_in_the_read_out_matters(key: Key, part: int) -> None:
    file, machine = compiled(key)
    for tensor, index in list(weights(file, "unembed.weight"))[part::PARTS]:
        assert not verified(changed(file, tensor, index, -1.0).file, machine)


@pytest.mark.sample(3)
@part_of(PARTS)
@pytest.mark.parametrize("key", PLAIN)
def test_every_entry_of_the_token_embedding_matters(key: Key, part: int) -> None:
    file, machine = compiled(key)
    for index in range(part, file.tensors["embed.token"].size, PARTS):
        for factor in (-1.0, 1.1):
            mutant = changed(file, "embed.token", index, factor)
            assert not verified(mutant.file, machine)


@pytest.mark.sample(5)
@pytest.mark.parametrize("key", PLAIN)
def test_letters_that_trade_places_are_noticed(key: Key) -> None:
    file, machine = compiled(key)
    letters = len(machine.letters)
    rows = np.array([1, 0, *range(2, letters + 1)])
    token = file.tensors["embed.token"][rows]
    assert not verified(
        replace(file, tensors={**file.tensors, "embed.token": token}), machine
    )


@part_of(PARTS)
@pytest.mark.parametrize("key", [k for k in PLAIN if k[1] in HEADS])
def test_every_weight_of_a_uniform_or_latest_head_points_there(
    key: Key, part: int
) -> None:
    file, machine = compiled(key)
    every = list(weights(file, "attention.query", "attention.key"))
    for tensor, index in every[part::PARTS]:
        assert not verified(changed(file, tensor, index, -1.0).file, machine)


@part_of(PARTS)
@pytest.mark.parametrize("key", OTHERS[-1:])
def test_every_weight_of_an_rnn_matters(key: Key, part: int) -> None:
    file, machine = compiled(key)
    every = list(weights(file, "hidden.weight", "input.weight", "hidden.bias"))
    for tensor, index in every[part::PARTS]:
        assert not verified(changed(file, tensor, index, -1.0).file, machine)
