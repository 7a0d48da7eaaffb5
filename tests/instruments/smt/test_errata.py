"""Whole networks with a printed error are refuted by a word; the repaired are verified.

The errors are made in the tensors of compiled models. Those of gadgets and of scores
alone stand in test_gadgets.py and test_lemmas.py.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest
from model_files import place

import krohn
from krohn.instruments.smt.network import question
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray

LENGTH = 4
Tensors = dict[str, FloatArray]


def empty_block(file: ModelFile, tensors: Tensors) -> None:
    value = tensors["blocks.0.attention.value"]
    for p in range(3):
        right, empty = place(file, f"map0[{p}]"), place(file, f"back1[{p}]")
        value[:, empty], value[:, right] = value[:, right].copy(), 0.0


def rotation_the_other_way(file: ModelFile, tensors: Tensors) -> None:
    low, high = file.header["program"]["features"]["code"]
    for name in tensors:
        if name.endswith("query"):
            rotation = tensors[name][:, low:high, : high - low]
            rotation[:] = rotation.transpose(0, 2, 1).copy()


def another_coordinate(file: ModelFile, tensors: Tensors) -> None:
    pair = [place(file, "map2[0]"), place(file, "map1[1]")]
    tensors["unembed.weight"][pair] = tensors["unembed.weight"][pair[::-1]]


def bonus_of_T(file: ModelFile, tensors: Tensors) -> None:
    flags = tensors["blocks.0.attention.key"][:, place(file, "writes")]
    flags[:] = LENGTH * (flags != 0)


def silent_bos(file: ModelFile, tensors: Tensors) -> None:
    tensors["embed.token"][-1, place(file, "writes")] = 0.0


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "construction", "start", "printed", "length"),
    [
        pytest.param("C3", "scan", 0, empty_block, None, id="E7"),
        pytest.param("C3", "scan", 0, rotation_the_other_way, None, id="E8"),
        pytest.param("C3", "scan", 0, another_coordinate, None, id="E9"),
        pytest.param("FlipFlop", "memory", 1, bonus_of_T, LENGTH, id="E15"),
        pytest.param("FlipFlop", "memory", 1, silent_bos, 1, id="E16"),
        pytest.param("Memory3", "memory", 1, silent_bos, 1, id="E16, Memory3"),
    ],
)
def test_a_printed_error_is_refuted(
    name: str,
    construction: str,
    start: int,
    printed: Callable[[ModelFile, Tensors], None],
    length: int | None,
) -> None:
    machine = replace(krohn.read(name), start=start)
    file = krohn.compile(machine, LENGTH, construction, proof=False).file
    assert question(file, machine, LENGTH).decide().verdict == "verified"
    tensors = {name: array.copy() for name, array in file.tensors.items()}
    printed(file, tensors)
    found = question(replace(file, tensors=tensors), machine, LENGTH).decide()
    assert found.verdict == "refuted"
    assert len(found.word) == found.length == (length or found.length)
