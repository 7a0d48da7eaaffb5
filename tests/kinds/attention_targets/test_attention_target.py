"""Targets of attention: what is shown bounds what is measured, and is not far above it."""

import copy
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from attention_targets import built, inputs, measured, shown, smooth

from krohn.kinds.attention_targets import check_tents as checked
from krohn.kinds.attention_targets.build import (
    Axis,
    tents,
)
from krohn.kinds.attention_targets.source_sampling import (
    attention_target,
    find_by_name,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.program.errors import Refused
from krohn.source_kinds.real_sequences import run_network


@cache
def curved() -> ModelFile:
    """A network that no test may change."""
    return built(smooth(), 4, 32)


def sine(knots: int, options: str = "", rank: int = 6) -> ModelFile:
    target = find_by_name(f"Sine6,1.5:points=1024{options}")
    assert target is not None
    return built(target, rank, knots)


@pytest.mark.sample(3)
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("scale", [1.0, 64.0, 0.25])
def test_tents_are_exact(dtype: str, scale: float) -> None:
    """Lemma T1: no rounding until the values are multiplied, but for 1 − x at the first."""
    import ml_dtypes

    precision, pieces = PRECISIONS[dtype], 32
    kinds: dict[str, Any] = {"bfloat16": ml_dtypes.bfloat16}
    kind = kinds.get(dtype, dtype)
    values = np.eye(pieces + 1)[:, 1:]
    found = tents([Axis(scale, values)], "f")
    random = np.random.default_rng(0)
    x = precision.round(random.uniform(size=2000) * random.choice([1, 0.1], 2000))
    x = precision.round(x * pieces / scale)
    h = x[:, None].astype(kind)
    for j in range(3):
        w, b = (found[f"f.{j}.{n}"].astype(kind) for n in ("weight", "bias"))
        assert np.array_equal(w.astype(float), found[f"f.{j}.weight"])
        # Each sum of products rounds once, as a bfloat16 or a float would be stored.
        whole = h.astype(np.longdouble) @ w.astype(np.longdouble) + b
        h = whole.astype(np.float64).astype(kind)
        h = np.maximum(h, 0).astype(kind) if j < 2 else h
    z = (x[:, None] * scale).astype(np.longdouble)
    right = np.maximum(1 - abs(z - np.arange(1, pieces + 1)), 0)
    assert np.array_equal(h.astype(float), right)


def test_the_checker_reads_tents_as_they_are_written() -> None:
    random = np.random.default_rng(0)
    axes = [
        Axis(2.0, random.normal(size=(5, 3))),
        Axis(0.5, random.normal(size=(2, 3))),
    ]
    found = tents(axes, "f")
    assert [len(found[f"f.{j}.bias"]) for j in range(2)] == [5, 7]
    layers = [(found[f"f.{j}.weight"], found[f"f.{j}.bias"]) for j in range(3)]
    for one, other in zip(checked.axes_of(layers), axes, strict=True):
        assert one.scale == other.scale
        assert np.array_equal(one.values, other.values)
    for j, k in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 1)):
        worse = copy.deepcopy(layers)
        worse[j][k].reshape(-1)[0] += 0.5
        with pytest.raises(Refused):
            checked.axes_of(worse)


@pytest.mark.sample(1)
@pytest.mark.parametrize("half", [1e-3, 0.3, 2.0])
def test_a_mean_moves_by_tanh_at_most(half: float) -> None:
    """Lemma T2, which is reached: by two groups with equal weight in the middle."""
    random, worst = np.random.default_rng(0), 0.0
    for _ in range(2000):
        p = random.dirichlet(np.full(5, 0.4))
        d = random.choice([-half, half], 5)
        q = p * np.exp(d)
        f = random.choice([0.0, 1.0], 5)
        worst = max(worst, abs((q / q.sum() - p) @ f))
    assert worst <= np.tanh(half / 2) * (1 + 1e-12)
    a = 1 / (1 + np.exp(half))
    p = np.array([a, 1 - a])
    q = p * np.exp([half, -half])
    assert q[0] / q.sum() - a == pytest.approx(np.tanh(half / 2))


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("knots", [16, 64, 256])
def test_the_error_of_a_sine_is_bounded_and_nearly_reached(
    knots: int, dtype: str
) -> None:
    target = find_by_name("Sine6,1.5:points=1024")
    assert target is not None
    file = built(target, 6, knots, dtype)
    found = measured(file, inputs(file, 500))
    assert shown(file).error / 4 < found <= shown(file).error + target.rounding


@pytest.mark.slow
@pytest.mark.parametrize(
    ("points", "knots"),
    [(1024, (32, 64)), pytest.param(4096, (64, 128, 256), marks=pytest.mark.slow)],
)
def test_the_error_is_of_second_order_in_the_knots(
    points: int, knots: tuple[int, ...]
) -> None:
    errors = [shown(sine(k, f",points={points}")).error for k in knots]
    ratios = np.divide(errors[:-1], errors[1:])
    assert ((ratios > 3.5) & (ratios < 4.5)).all()


@pytest.mark.slow
@pytest.mark.parametrize("rank", range(1, 6))
def test_terms_that_are_cut_off_are_part_of_the_error(rank: int) -> None:
    file = sine(256, rank=rank)
    error = shown(file).error
    assert measured(file, inputs(file, 300)) <= error
    whole = sum(2 * i**-1.5 for i in range(rank + 1, 7))
    assert error <= np.tanh(whole / 2 + 0.01)
    assert error >= shown(sine(256, rank=rank + 1)).error


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("knots", "dtype", "options"),
    [
        (4, "float64", {}),
        (32, "float32", {}),
        (256, "float64", {"causal": True}),
        (32, "float64", {"length": 1}),
        (256, "float32", {"F": None}),
        (4, "float32", {"causal": True}),
    ],
)
def test_curved_functions_of_two_numbers(
    knots: int, dtype: str, options: dict[str, Any]
) -> None:
    target = smooth(**options)
    file = built(target, min(5, target.pod.rank), knots, dtype)
    error = shown(file).error
    found = measured(file, inputs(file, 300))
    assert found <= error + target.rounding
    if options in ({}, {"causal": True}) and knots < target.points:
        # With as many knots as points there are, only what is not in the tables is left.
        assert error <= 10 * found


def test_the_functions_that_are_meant_are_within_the_error_too() -> None:
    """The moduli are paid for: the true sine, not its table."""
    from krohn.kinds.attention_targets.source_sampling import SineSeries

    target = find_by_name("Sine3,1.5:points=32,length=6")
    assert target is not None
    file = built(target, 3, 32)
    x = inputs(file, 400)
    right = SineSeries(1.5, 3).outputs(x[..., 0])
    from krohn.source_kinds.real_sequences import run_network

    off = np.abs(run_network(file, x)[..., 0] - right).max()
    assert target.moduli.rho / 20 < off <= shown(file).error


@pytest.mark.slow
@pytest.mark.parametrize(
    ("outer", "which"), [(False, 0), (False, 1), (False, 2), (True, 0), (True, 2)]
)
def test_each_modulus_is_part_of_the_error(outer: bool, which: int) -> None:
    """That of F, too, where F is near the identity."""
    file = curved() if outer else sine(16)
    header = copy.deepcopy(file.header)
    header["source"]["moduli"][which] += 2.0**-6
    header["claim"]["error"] = 1e300
    more = ModelFile(header, file.tensors, file.precision)
    assert shown(more).error > shown(file).error + 2.0**-9


def test_a_shift_that_is_undone_is_nearly_no_error() -> None:
    """Values are lowered by 8, and the output adds 8: numbers of 8 are rounded."""
    file = built(smooth(F=None), 5, 32, "float32")
    before = shown(file).error
    tensors = {n: t.copy() for n, t in file.tensors.items()}
    tensors["features.2.weight"][:, -2:] -= 8
    tensors["output.0.bias"] += 8
    moved = ModelFile(file.header, tensors, file.precision)
    moved.header["claim"]["error"] = 1.0
    assert before < shown(moved).error < before + 400 * 2.0**-24 * 9
    assert measured(moved, inputs(moved, 100)) <= shown(moved).error
    tensors["output.0.bias"] += 2.0**-6
    assert shown(moved).error > before + 2.0**-7


def changed(file: ModelFile, **told: Any) -> ModelFile:
    """The file with another source."""
    header = copy.deepcopy(file.header)
    header["source"] |= told
    return ModelFile(header, file.tensors, file.precision)


@pytest.mark.sample(7)
@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"kind": "none"}, "malformed .'none'"),
        ({"length": 9}, "another length"),
        ({"length": 8.0}, "not a sensible size"),
        ({"causal": True}, "other positions"),
        ({"causal": 1}, "none of False, True"),
        ({"moduli": [0.0, -1.0, 0.0]}, "from 0 on"),
        ({"moduli": [0.0, 0.0]}, "three moduli"),
        ({"left": [[0.0], [1.0]]}, "several sizes|a grid has"),
        ({"left": "abc"}, "other axes"),
        ({"f": [[float("inf"), 0.0]] * 257}, "Out of range"),
        ({"f": [[0.0]] * 257}, "another number|one function"),
        ({"outer": None}, "not the identity"),
        (
            {"outer": {"low": 0.0, "step": 0.3, "values": [[0.0] * 2] * 9}},
            "power of two",
        ),
        (
            {"outer": {"low": 0.0, "step": 0.25, "values": [[0.0] * 2] * 9}},
            "everywhere",
        ),
    ],
)
def test_other_sources_are_refused(told: dict[str, Any], reason: str) -> None:
    file = changed(curved(), **told)
    with pytest.raises((Refused, ValueError), match=reason):
        shown(file)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "told",
    [
        {"codes": 1},
        {"memory": 4},
        {"causal": True},
        {"inputs": 2},
        {"length": 7},
        {"features_units": []},
        {"d_qk": 10**9},
        {"output_units": [3]},
        {"features_units": [10**9] * 50},
    ],
)
def test_other_architectures_are_refused(told: dict[str, Any]) -> None:
    good = curved()
    shape = {**good.header["architecture"], **told}
    with pytest.raises(Refused):
        shown(replace(good, header={**good.header, "architecture": shape}))


@pytest.mark.parametrize("more", [1, -1])
def test_another_number_of_outputs_is_refused(more: int) -> None:
    file = curved()
    tensors = {n: t.copy() for n, t in file.tensors.items()}
    for name in ("output.2.weight", "output.2.bias"):
        one = tensors[name]
        added = np.concatenate([one, 0 * one[..., :1]], axis=-1)
        tensors[name] = added if more > 0 else one[..., :1].copy()
    header = copy.deepcopy(file.header)
    header["architecture"]["outputs"] += more
    with pytest.raises(Refused):
        shown(ModelFile(header, tensors, file.precision))


def test_16_bits_are_refused() -> None:
    with pytest.raises(Refused, match="too narrow"):
        built(smooth(), 4, 32, "bfloat16")


def test_the_rounding_of_inputs_counts() -> None:
    """F is so steep that float32 inputs are a thousand times as far off as all else."""
    points = np.arange(257)
    target = attention_target(
        rho=np.ones((257, 257)), f=(-1.0) ** points, length=1, causal=True
    )
    file = built(target, 1, 256, "float32")
    x = np.random.default_rng(0).uniform(size=(2000, 1, 1))
    off = np.abs(run_network(file, x) - target.run(x)).max()
    found = shown(file)
    rounding = 2 * 256 * 2.0**-24
    assert rounding / 8 < off <= found.error < 4 * rounding
