"""Sines: what is assumed of them is met here, and what is proved of them holds."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from many_digits import exactly

import krohn
from krohn.algebra import zoo
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile, pack
from krohn.network.precision import FLOAT64, PRECISIONS, FloatArray, Precision
from krohn.program.errors import Refused
from krohn.verify.checker import affine_arithmetic
from krohn.verify.checker.affine_arithmetic import Noisy
from krohn.verify.checker.arithmetic import FARTHEST, FORMATS as FORMATS_OF, SINE
from krohn.verify.checker.network import recheck
from krohn.verify.proof import prove
from krohn.verify.search.find import find
from krohn.verify.testing.exhaustive import exhaustive

torch.set_num_threads(1)

FORMATS = pytest.mark.parametrize("precision", PRECISIONS.values(), ids=PRECISIONS)
SEEDS = st.integers(0, 2**32 - 1)
SIZES = (1.0, 10.0, 1e3, 1e5, FARTHEST)


def torch_sine(x: FloatArray, precision: Precision) -> FloatArray:
    """The sine that torch computes in a format."""
    numbers = torch.from_numpy(x).to(getattr(torch, precision.name))
    return torch.sin(numbers).double().numpy()  # type: ignore[no-any-return]


def arguments(seed: int, precision: Precision) -> FloatArray:
    """Numbers of a format up to the farthest, many of them next to quarter turns."""
    random = np.random.default_rng(seed)
    scale = np.minimum(random.choice(SIZES, 60), precision.largest / 2)
    spread = random.uniform(-1, 1, 60) * scale
    quarters = np.round(spread / (np.pi / 2)) * (np.pi / 2)
    x = precision.round(np.where(random.random(60) < 0.5, spread, quarters))
    return x[np.abs(x) <= FARTHEST]


@pytest.mark.sample(1)
@FORMATS
@settings(max_examples=20)
@given(SEEDS)
def test_sines_are_as_accurate_as_assumed(precision: Precision, seed: int) -> None:
    x = arguments(seed, precision)
    exact = exactly("sine", x)
    off = SINE * precision.accumulator_unit
    if precision.digits < precision.accumulator_digits:
        off += precision.unit * (np.abs(exact) + precision.smallest + off)
    assert (np.abs(torch_sine(x, precision) - exact) <= off).all()
    # The checker's own sine, too.
    assert (np.abs(np.sin(x) - exact) <= SINE * FLOAT64.unit).all()


@pytest.mark.sample(1)
@FORMATS
@settings(max_examples=20)
@given(SEEDS)
def test_sines_stay_within_their_bounds(precision: Precision, seed: int) -> None:
    random = np.random.default_rng(seed)
    value = arguments(seed, precision)[None]
    noise = float(2.0 ** -random.integers(1, 20))
    slope = random.choice([-1.0, 0.0, 1.0, 2.0], value.shape)
    common = random.uniform(-noise, noise)
    real = precision.round(value + slope * common)
    rest = np.abs(real - value - slope * common)
    noisy = Noisy(value, noise * slope[None], rest, FORMATS_OF[precision.name])
    if np.any(np.abs(value) + noisy.total > FARTHEST):
        return
    sine = noisy.sine()
    found = torch_sine(real, precision)
    assert (np.abs(found - sine.value) <= sine.total).all()
    known = sine.value + sine.slopes[0] * (common / noise)
    assert (np.abs(found - known) <= sine.rest + 1e-12).all()
    assert (sine.total <= 2 * noisy.total + 3 * precision.unit + 1e-6).all()


def test_arguments_beyond_what_is_assumed_are_refused() -> None:
    x = affine_arithmetic.exact(np.array([[FARTHEST]]), FORMATS_OF["float32"])
    assert x.sine().total.max() < 1e-6
    noisy = replace(x, rest=np.array([[1.0]]))
    with pytest.raises(Refused, match="a sine of too large a number"):
        noisy.sine()


def test_the_small_checker_applies_each_units_own_activation() -> None:
    value, form = np.array([[-1.0, 2.0, -1.0, 0.5]]), FORMATS_OF["float64"]
    x = affine_arithmetic.exact(value, form, 1)
    found = x.apply_activations(np.array(["sine", "relu", "relu", "sine"]))
    assert found.value.tolist() == [[np.sin(-1.0), 2.0, 0.0, np.sin(0.5)]]
    assert found.slopes.shape == (1, 1, 4)
    assert (found.rest > 0).tolist() == [[True, False, False, True]]


@cache
def circle(name: str = "C3", length: int = 7, dtype: str = "float32") -> ModelFile:
    construction = "cascade" if name == "S3" else "counter"
    options: dict[str, Any] = {"dtype": dtype, "activation": "sine"}
    return krohn.compile(name, length, construction, **options).file


def accepted(file: ModelFile) -> bool:
    """Whether there is evidence for a file."""
    data = pack({**file.header, "version": 4}, file.tensors)
    try:
        return recheck(data, json.dumps(find(data)).encode()).margin > 0
    except Refused:
        return False


@pytest.mark.sample(1)
@pytest.mark.parametrize("factor", [1.01, 0.99, 2.0, -1.0])
def test_the_frequency_matters(factor: float) -> None:
    file = circle("C3", 60)
    weight = file.tensors["blocks.0.mlp.0.weight"]
    off = replace(
        file, tensors={**file.tensors, "blocks.0.mlp.0.weight": weight * factor}
    )
    assert accepted(file)
    assert not accepted(off)
    assert not exhaustive(Model(off), zoo.machine("C3"), 8).has_passed or factor in (
        1.01,
        0.99,
    )


def with_sines(file: ModelFile, counts: list[int], b: int = 0) -> ModelFile:
    """The file with other activations in a block."""
    architecture = {**file.header["architecture"]}
    blocks = [dict(b) for b in architecture["blocks"]]
    blocks[b]["activation"] = [
        [["sine", n], ["relu", width - n]]
        for n, width in zip(counts, blocks[b]["mlp"], strict=True)
    ]
    header = {**file.header, "architecture": {**architecture, "blocks": blocks}}
    return replace(file, header=header)


@pytest.mark.sample(1)
@pytest.mark.parametrize("counts", [[0, 0, 0], [1, 0, 0], [2, 1, 0], [2, 0, 1]])
def test_other_activations_are_noticed(counts: list[int]) -> None:
    file = circle()
    assert accepted(with_sines(file, [2, 0, 0]))
    wrong = with_sines(file, counts)
    assert not accepted(wrong)
    assert not exhaustive(Model(wrong), zoo.machine("C3"), 4).has_passed


@pytest.mark.slow
def test_a_sine_does_not_erase() -> None:
    # −sin(x) + sin(−x) added to x is x − 2 sin x; with ReLUs it would be 0.
    file = krohn.compile("PermReset2", 6, "cascade", strict=True).file
    machine = zoo.machine("PermReset2")
    assert accepted(file)
    for b, block in enumerate(file.header["architecture"]["blocks"]):
        if block["mlp"]:
            wrong = with_sines(file, block["mlp"], b)
            assert prove(wrong, machine).verdict == "undecided"
            assert not accepted(wrong)
