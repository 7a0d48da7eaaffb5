"""Networks of GeLU units alone: proved, run on all short words, and damaged."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import exp, pi, sqrt
from typing import Any

import numpy as np
import pytest
import torch

import krohn
from krohn.algebra import zoo
from krohn.compiled_model import CompiledModel
from krohn.compiler.units import NEAREST, Expression, Stage, slope
from krohn.kinds.dynamic_programs.commands import ChainsOfThought
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile, pack
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.program.architectures.transformer import Block
from krohn.program.errors import Refused
from krohn.verify.checker.network import recheck
from krohn.verify.search.find import find
from krohn.verify.testing.exhaustive import exhaustive

torch.set_num_threads(1)

MACHINES = {"FlipFlop": 5, "C2": 8, "C5": 6, "S3": 6, "Grid4": 8, "Dyck2,2": 5, "D4": 8}
"""Each with the longest words that are run, all of them."""
FORM = pytest.mark.parametrize("strict", [False, True])


@cache
def built(
    name: str, length: int | None = None, way: str = "auto", **options: Any
) -> CompiledModel:
    return krohn.compile(name, length, way, activation="gelu", **options)


def units(file: ModelFile) -> set[str]:
    blocks = file.header["architecture"]["blocks"]
    layers = [layer for block in blocks for layer in Block.of(block).activations]
    return {str(name) for layer in layers for name in layer}


@pytest.mark.sample(1)
@FORM
@pytest.mark.parametrize("name", MACHINES)
def test_machines_are_proved_and_run_right(name: str, strict: bool) -> None:
    """At T = 100 in float32, as the compiler proves; all short words by torch."""
    file = built(name, 100, strict=strict).file
    assert units(file) == (set() if name == "FlipFlop" else {"gelu"})
    assert exhaustive(Model(file), zoo.machine(name), MACHINES[name]).has_passed


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
@pytest.mark.parametrize("name", ["C2", "C5", "Grid4", "Dyck2,2"])
def test_other_formats_are_proved(name: str, dtype: str) -> None:
    file = built(name, 16, dtype=dtype).file
    assert units(file) == {"gelu"}
    assert exhaustive(Model(file), zoo.machine(name), 5).has_passed


@pytest.mark.slow
@pytest.mark.sample(1)
@FORM
def test_texts_are_proved_and_written_right(strict: bool) -> None:
    file = built("EditDistance6,7", strict=strict).file
    assert units(file) == {"gelu"}
    assert ChainsOfThought().sample(file, 20, 0, lambda *_: None).has_passed


def test_programs_are_proved() -> None:
    assert units(built("program:sort", 8).file) == {"gelu"}


@pytest.mark.parametrize("precision", PRECISIONS.values(), ids=PRECISIONS)
def test_the_slope_is_the_least_that_the_format_asks_for(precision: Any) -> None:
    def missed(k: float) -> float:
        return exp(-((k * NEAREST / 2) ** 2) / 2) / sqrt(2 * pi)

    k = slope(precision)
    assert np.frexp(k)[0] == 0.5
    assert missed(k) <= precision.unit < missed(k / 2)


def test_a_unit_is_scaled_inside_and_out() -> None:
    inside = Expression({3: 2.0}, -1.5)
    steep, plain = Stage(64.0), Stage()
    assert steep.unit(inside).terms == {0: 1 / 64}
    assert plain.unit(inside).terms == {0: 1.0}
    assert steep.matrices(4)[0][3].tolist() == [128.0]
    assert steep.matrices(4)[1].tolist() == [-96.0]
    assert steep.activations == [["gelu", 1]]
    assert inside.terms == {3: 2.0}


def accepted(file: ModelFile) -> bool:
    """Whether there is evidence for a file."""
    data = pack({**file.header, "version": 5}, file.tensors)
    try:
        return recheck(data, json.dumps(find(data)).encode()).margin > 0
    except Refused:
        return False


def with_layers(
    file: ModelFile, change: Callable[[int, FloatArray], FloatArray]
) -> ModelFile:
    """The file with each MLP tensor changed, by the number of its layer."""
    tensors = {
        n: change(int(n.split(".")[3]), t)
        if ".mlp." in n and not n.endswith("residual")
        else t
        for n, t in file.tensors.items()
    }
    return replace(file, tensors=tensors)


@pytest.mark.slow
@pytest.mark.parametrize(("inside", "outside"), [(1, 2), (1, 0.5), (2, 1), (0.5, 1)])
def test_scales_must_belong_together(inside: float, outside: float) -> None:
    """A network with a wrong K or a wrong 1/K is wrong, and is refused."""
    file = built("Grid4", 10, "gridworld", strict=True).file

    def change(layer: int, tensor: FloatArray) -> FloatArray:
        scale = outside if layer else inside
        return tensor * scale if tensor.ndim == 2 or not layer else tensor

    assert accepted(with_layers(file, lambda _, tensor: tensor))
    wrong = with_layers(file, change)
    assert not accepted(wrong)
    assert not exhaustive(Model(wrong), zoo.machine("Grid4"), 6).has_passed


@pytest.mark.parametrize(("slope_now", "right"), [(32.0, True), (2.0, False)])
def test_how_steep_units_are_is_up_to_the_checker(
    slope_now: float, right: bool
) -> None:
    """A smaller K is as good where the plateau is kept; below it tables are off."""
    file = built("C5", 30, "counter", strict=True).file
    factor = slope_now / slope(file.precision)

    def change(layer: int, tensor: FloatArray) -> FloatArray:
        if layer and tensor.ndim == 2:
            return tensor / factor
        return tensor if layer else tensor * factor

    assert accepted(with_layers(file, change)) == right


def with_a_relu(file: ModelFile, block: int) -> ModelFile:
    """The first unit of a block is a ReLU."""
    architecture = {**file.header["architecture"]}
    blocks = [dict(b) for b in architecture["blocks"]]
    (_, count), *more = blocks[block]["activation"][0]
    first = [["relu", 1], ["gelu", count - 1], *more]
    blocks[block]["activation"] = [first, *blocks[block]["activation"][1:]]
    header = {**file.header, "architecture": {**architecture, "blocks": blocks}}
    return replace(file, header=header)


def test_a_relu_among_them_is_as_good() -> None:
    """ReLU(Kx)/K is ReLU(x): such a network is right, and its bounds hold."""
    file = built("C5", 30, "counter", strict=True).file
    other = with_a_relu(file, 0)
    assert units(other) == {"gelu", "relu"}
    assert accepted(other)
    assert exhaustive(Model(other), zoo.machine("C5"), 7).has_passed
