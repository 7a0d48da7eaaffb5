"""Whole networks with a printed error are refuted by a word; the repaired are verified.

The errors are made in the tensors of compiled models. Those of gadgets and of scores
alone stand in test_gadgets.py and test_lemmas.py.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

import krohn
from krohn.algebra.automaton import Automaton
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.verify.smt.network import Decision, question

LENGTH = 4
Change = Callable[[str, FloatArray], None]


def compiled(
    name: str, construction: str, start: int = 0
) -> tuple[ModelFile, Automaton]:
    machine = replace(krohn.read(name), start=start)
    made = krohn.compile(machine, LENGTH, construction, proved=False)
    return made.file, machine


def places(file: ModelFile) -> dict[str, int]:
    """The first dimension of every stored channel."""
    stated = file.header["program"]["channels"]
    return {c["name"]: c["dims"][0] for c in stated if "dims" in c}


def refuted(file: ModelFile, machine: Automaton, change: Change) -> Decision:
    """The decision about damaged tensors, where that about the right ones is clear."""
    assert question(file, machine, LENGTH).decide().verdict == "verified"
    tensors = {name: array.copy() for name, array in file.tensors.items()}
    for name, array in tensors.items():
        change(name, array)
    wrong = question(replace(file, tensors=tensors), machine, LENGTH)
    found = wrong.decide()
    assert found.verdict == "refuted"
    assert len(found.word) == found.length
    return found


def test_E7_values_from_the_empty_block() -> None:
    file, machine = compiled("C3", "scan")
    at = places(file)

    def printed(name: str, array: FloatArray) -> None:
        if name == "blocks.0.attention.value":
            for p in range(3):
                right, empty = at[f"map0[{p}]"], at[f"back1[{p}]"]
                array[:, empty], array[:, right] = array[:, right].copy(), 0.0

    refuted(file, machine, printed)


def test_E8_a_rotation_the_other_way() -> None:
    file, machine = compiled("C3", "scan")
    low, high = file.header["program"]["features"]["code"]

    def printed(name: str, array: FloatArray) -> None:
        if name.endswith("query"):
            rotation = array[:, low:high, : high - low].transpose(0, 2, 1).copy()
            array[:, low:high, : high - low] = rotation

    refuted(file, machine, printed)


def test_E9_a_read_out_of_another_coordinate() -> None:
    file, machine = compiled("C3", "scan")
    right, other = places(file)["map2[0]"], places(file)["map1[1]"]

    def printed(name: str, array: FloatArray) -> None:
        if name == "unembed.weight":
            array[[right, other]] = array[[other, right]]

    refuted(file, machine, printed)


def test_E15_a_bonus_of_T_ties_at_the_last_position_only() -> None:
    file, machine = compiled("FlipFlop", "memory", start=1)
    flag = places(file)["writes"]

    def printed(name: str, array: FloatArray) -> None:
        if name == "blocks.0.attention.key":
            array[:, flag] = LENGTH * (array[:, flag] != 0)

    assert refuted(file, machine, printed).length == LENGTH


@pytest.mark.parametrize("name", ["FlipFlop", "Memory3"])
def test_E16_bos_that_does_not_write(name: str) -> None:
    file, machine = compiled(name, "memory", start=1)
    flag = places(file)["writes"]

    def printed(name: str, array: FloatArray) -> None:
        if name == "embed.token":
            array[-1, flag] = 0.0

    assert refuted(file, machine, printed).length == 1
