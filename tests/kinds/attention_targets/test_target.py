"""Targets of attention as tables: what they are, and how far functions are from them."""

import json
import math
from typing import Any

import numpy as np
import pytest
from attention_targets import smooth

import krohn
from krohn.kinds.attention_targets.source_sampling import (
    attention_target,
    find_by_name,
)
from krohn.kinds.attention_targets.source_target import (
    AttentionTarget,
    interpolate_rows,
)
from krohn.program.errors import Refused


def by_formula(x: Any, rho: Any, f: Any, outer: Any) -> Any:
    scores = rho(x[:, None], x[None, :])
    weights = np.exp(scores)
    return outer(weights @ f(x) / weights.sum(axis=1, keepdims=True))


@pytest.mark.slow
def test_the_reference_is_the_formula_up_to_the_moduli() -> None:
    target = smooth()
    x = np.random.default_rng(0).uniform(size=(50, 8, 1))
    right = [
        by_formula(
            row[:, 0],
            lambda u, v: 3 * np.exp(-((u - v) ** 2)) + u * v,
            lambda x: np.stack([np.cos(3 * x), x**2 - 1], axis=1),
            lambda a: a**2 + a,
        )
        for row in x
    ]
    off = np.abs(target.run(x) - np.array(right)).max()
    steep = 2 * abs(target.f).max() + 1
    spread = np.ptp(target.f, axis=0).max()
    moduli = target.moduli
    most = steep * (np.tanh(moduli.rho / 2) * spread + moduli.f) + moduli.outer
    assert 0 < off < most + target.rounding


@pytest.mark.parametrize("points", [16, 64, 256])
def test_moduli_bound_what_lies_between_the_points(points: int) -> None:
    """Lemma T0: M·h²/8 along each axis."""
    target = smooth(points=points)
    u, v = np.random.default_rng(1).uniform(size=(2, 400))
    right = 3 * np.exp(-((u[:, None] - v) ** 2)) + u[:, None] * v
    off = np.abs(target.coupling(u[:, None], v[:, None]) - right).max()
    assert target.moduli.rho / 20 < off <= target.moduli.rho


def test_a_lipschitz_constant_is_enough() -> None:
    target = attention_target(rho=lambda u, v: -np.abs(u - v), lipschitz={"rho": 1})
    u = np.random.default_rng(2).uniform(size=(300, 1))
    off = np.abs(target.coupling(u, u) + np.abs(u - u.T)).max()
    assert off <= target.moduli.rho
    with pytest.raises(Refused, match="say lipschitz= or second_derivatives= of 'rho'"):
        attention_target(rho=lambda u, v: u * v)


def test_a_table_is_the_target_itself() -> None:
    table = np.random.default_rng(3).normal(size=(9, 9))
    target = attention_target(rho=table, f=np.arange(9.0)[:, None])
    grid = np.arange(9)[:, None] / 8
    assert np.abs(target.coupling(grid, grid) - table).max() <= target.moduli.rho
    assert target.moduli.rho < 1e-12
    assert target.moduli.f == 0


@pytest.mark.parametrize("points", [64, pytest.param(256, marks=pytest.mark.slow)])
def test_causal_targets_do_not_look_ahead(points: int) -> None:
    target, other = smooth(causal=True, points=points), smooth(points=points)
    x = np.random.default_rng(4).uniform(size=(1, 8, 1))
    assert np.allclose(target.run(x)[:, :5], target.run(x[:, :5]), atol=1e-14)
    assert not np.allclose(other.run(x)[:, :5], other.run(x[:, :5]), atol=1e-3)


def test_a_file_says_all_of_it() -> None:
    target = smooth(causal=True)
    said = json.loads(json.dumps({"kind": AttentionTarget.kind, **target.to_wire()}))
    again = AttentionTarget.from_wire(said)
    x = np.random.default_rng(5).uniform(size=(3, 8, 1))
    assert np.array_equal(again.run(x), target.run(x))
    assert again.moduli == target.moduli


def test_sines_have_the_singular_values_of_their_name() -> None:
    target = find_by_name("Sine6,1.5:length=4,points=512,scramble=1")
    assert target is not None
    assert target.length == 4
    wanted = np.arange(1, 7) ** -1.5
    assert np.abs(target.pod.sigma[:6] - wanted).max() < 1e-3
    u, v = np.random.default_rng(6).uniform(size=(2, 200, 1))
    i = np.arange(1, 7)
    j = ((i - 1) ^ 1) + 1
    waves = np.sin(2 * np.pi * i * u) * wanted, np.sin(2 * np.pi * j * v)
    off = np.abs(target.coupling(u, v) - 2 * waves[0] @ waves[1].T).max()
    assert off <= target.moduli.rho


def test_joined_rows_are_lines() -> None:
    table = np.array([[0.0], [2.0], [1.0]])
    assert interpolate_rows(np.array([-1, 0.5, 1.5, 9]), table)[:, 0].tolist() == [
        0,
        1,
        1.5,
        1,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Sine",
        "Sine6",
        "Sine0,1",
        "Sine65,1",
        "Sine6,0.5",
        "Sine6,1:length=0",
        "Sine6,1:points=3",
        "Sine6,1:points=1",
        "Sine6,1:points=8192",
        "Sine6,1:rank=7",
        "Sine6,1:knots=3",
        "Sine6,1:depth=3",
        "Sine6,1:knots",
    ],
)
def test_bad_names_are_refused(text: str) -> None:
    with pytest.raises(Refused, match="Sine"):
        find_by_name(text)
    assert find_by_name("C3") is None


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"points": 100}, "2, 4, 8"),
        ({"points": 8192}, "at most 4096"),
        ({"length": 0}, "between 1 and"),
        ({"rho": lambda u, v: u}, "a row for each u"),
        ({"rho": lambda u, v: u / (u - u) + v}, "finite"),
        ({"F": lambda a: 1.0}, "a number for each"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bad_functions_are_refused(options: Any, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        smooth(**options)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"f": lambda x: np.log(x - 0.5)}, "f is not finite at x = 0$"),
        ({"f": lambda x: 1 / (x - 0.25)}, r"f is not finite at x = 0\.25"),
        ({"f": math.exp}, "f takes no arrays: write it with numpy"),
        ({"F": math.exp}, "F takes no arrays"),
        ({"F": np.linspace(0, 1, 9)}, "F is a function, no table"),
        ({"rho": lambda u, v: 1 / (u - v - 0.5)}, r"rho .* at u = 0\.5, v = 0"),
        ({"rho": lambda u, v: 50 * np.sin(9 * u) * np.sin(9 * v)}, "samples show 40"),
        ({"f": lambda x: 5 * x**2}, "at most 9 is said, and the samples show 10"),
        ({"F": lambda a: 2 * a**2}, "of F: at most 2 is said, and the samples show 4"),
    ],
)
def test_functions_that_cannot_be_are_refused_by_name(
    given: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        smooth(**given)


def test_bounds_that_are_reached_are_taken_and_lower_ones_are_not() -> None:
    def lines(steep: float) -> AttentionTarget:
        bounds = {"rho": steep, "f": 1.0}
        told = {"second_derivatives": None, "lipschitz": bounds, "F": None}
        return smooth(rho=lambda u, v: 3 * u * v, f=np.abs, **told)

    assert lines(3.0).moduli.rho > 0
    assert repr(lines(3.0)) == "<AttentionTarget target: 8 vectors, 256 pieces>"
    with pytest.raises(Refused, match=r"lipschitz of rho: at most 2\.9 .* show 3"):
        lines(2.9)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"rho": lambda u, v: 1j * u * v}, "rho has complex numbers"),
        ({"rho": np.full((5, 5), 1j), "lipschitz": {}}, "rho has complex numbers"),
        ({"f": lambda x: np.exp(1j * x)}, "f has complex numbers"),
        ({"f": np.full(17, 1j)}, "f has complex numbers"),
        ({"lipschitz": {"rho": 1.0, "g": 1.0}}, "lipschitz= says a bound of 'g'"),
        ({"lipschitz": {"rho": 1.0, "f": 1.0}}, "a bound of 'f'.*one here: rho"),
        ({"lipschitz": {"Rho": 1.0}}, "a bound of 'Rho'"),
        ({"lipschitz": {"rho": 1j}}, "a number from 0 on"),
        ({"lipschitz": {"rho": "1"}}, "a number from 0 on"),
        ({"lipschitz": 1.0}, "lipschitz= is a dict"),
        ({"second_derivatives": {"rho": 0.0, "F": 1.0}}, "second_derivatives= says"),
    ],
)
def test_what_would_be_lost_or_left_aside_is_refused(
    changed: dict[str, object], reason: str
) -> None:
    usual = {"rho": lambda u, v: u * v, "points": 16, "lipschitz": {"rho": 1.0}}
    with pytest.raises(krohn.KrohnError, match=reason):
        krohn.attention_target(**{**usual, **changed})
