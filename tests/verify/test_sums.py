"""Sums of channels are proved channel by channel; what adds anything else is refused."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import krohn
from krohn.algebra import zoo
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.verify.proof import prove
from krohn.verify.testing.exhaustive import exhaustive


@cache
def corridor(dtype: str = "float32") -> ModelFile:
    return krohn.compile("Grid3", 6, "corridor", dtype=dtype).file


def verdict(file: ModelFile) -> str:
    return prove(file, zoo.machine("Grid3")).verdict


def changed(file: ModelFile, tensor: str, index: int, value: float) -> ModelFile:
    array = file.tensors[tensor].copy()
    array.reshape(-1)[index] = value
    return replace(file, tensors={**file.tensors, tensor: array})


def last(file: ModelFile) -> str:
    """Where the tensors of the last MLP are, which adds up."""
    return f"blocks.{len(file.header['architecture']['blocks']) - 1}.mlp"


def adds(file: ModelFile) -> tuple[list[str], int]:
    """The channels that are added up, and where their sum stands."""
    by_name = {c["name"]: c for c in file.header["program"]["channels"]}
    cell = by_name["cell"]
    assert cell["function"] == "sum"
    return cell["inputs"], cell["dims"][0]


def test_the_sum_is_proved() -> None:
    file = corridor()
    assert verdict(file) == "verified"
    assert len(adds(file)[0]) == 3


@pytest.mark.sample(1)
@pytest.mark.parametrize("layer", [0, 1])
def test_every_weight_of_the_sum_matters(layer: int) -> None:
    file = corridor()
    weight = file.tensors[f"{last(file)}.{layer}.weight"].reshape(-1)
    used = np.flatnonzero(weight).tolist()
    assert used
    for index in used[::3]:
        for value in (-1.0, 0.4):
            wrong = changed(file, f"{last(file)}.{layer}.weight", index, value)
            assert verdict(wrong) != "verified"
            assert not exhaustive(Model(wrong), zoo.machine("Grid3"), 4).passed


def test_a_constant_is_not_added() -> None:
    file = corridor()
    _, dimension = adds(file)
    for value in (1.0, 0.25):
        wrong = changed(file, f"{last(file)}.1.bias", dimension, value)
        assert verdict(wrong) == "undecided"


def test_nothing_else_is_added() -> None:
    file = corridor()
    weight = file.tensors[f"{last(file)}.0.weight"]
    for index in np.flatnonzero(weight.reshape(-1) == 0)[::15].tolist():
        wrong = changed(file, f"{last(file)}.0.weight", index, 1.0)
        if verdict(wrong) == "verified":
            assert exhaustive(Model(wrong), zoo.machine("Grid3"), 6).passed


def with_inputs(file: ModelFile, inputs: list[str]) -> ModelFile:
    program = {**file.header["program"]}
    entries = [dict(c) for c in program["channels"]]
    for entry in entries:
        if entry["name"] == "cell":
            entry["inputs"] = inputs
    return replace(
        file, header={**file.header, "program": {**program, "channels": entries}}
    )


def test_the_file_states_what_is_added() -> None:
    file = corridor()
    inputs, _ = adds(file)
    for wrong in (inputs[:2], [*inputs, inputs[0]], [inputs[0]] * 3, []):
        assert verdict(with_inputs(file, wrong)) != "verified"
    assert verdict(with_inputs(file, inputs[::-1])) == "verified"
