"""Measures of targets in closed form, and the bound that is made of them."""

from dataclasses import dataclass

import numpy as np
import pytest
from truncated_couplings import truncation

from krohn.kinds.attention_targets.source_complexity import (
    Complexity,
    complexity_of,
    coupling_measure,
    curvature_measure,
    decay,
    facts,
    fourier_measure,
    norm_measure,
)
from krohn.kinds.attention_targets.source_sampling import (
    SineSeries,
    aggregate,
)
from krohn.kinds.attention_targets.source_target import (
    Pod,
    decompose,
    gauss_legendre,
)
from krohn.program.domains import FloatArray
from krohn.program.errors import Refused

ROOT2 = np.sqrt(2)
NODES = gauss_legendre(40)


def sine(index: int) -> FloatArray:
    return np.asarray(ROOT2 * np.sin(2 * np.pi * index * NODES.nodes[:, 0]))


def measured(series: SineSeries, nodes: int) -> Complexity:
    pod = decompose(series, gauss_legendre(nodes))
    return Complexity(pod, 1.0, 1.0, 0.0, 2.0, series.decay)


def test_the_norm_measure_is_the_larger_of_both() -> None:
    assert norm_measure(3, 0.5, 2 * ROOT2) == 3 * ROOT2  # not 1, as an infimum would be
    assert norm_measure(0.1, 0.5, 2) == 1


@pytest.mark.parametrize("alpha", [0.75, 1.0, 2.5])
def test_a_power_law_has_its_own_exponent_and_constant(alpha: float) -> None:
    sigma = 3 * np.arange(1.0, 60) ** -alpha
    assert decay(sigma) == pytest.approx(alpha)
    assert coupling_measure(sigma, alpha) == pytest.approx(3)
    # a slower law is met as well, a faster one only with a larger constant
    assert coupling_measure(sigma, alpha - 0.2) == pytest.approx(3)
    assert coupling_measure(sigma, alpha + 1) == pytest.approx(3 * 59)


def test_a_finite_rank_decays_at_any_rate() -> None:
    assert decay(np.array([2.0])) == np.inf
    with pytest.raises(Refused, match="1/2"):
        coupling_measure(np.ones(3), 0.5)


@pytest.mark.parametrize("index", [1, 3, 5])
def test_feed_forward_measures_of_a_sine(index: int) -> None:
    frequency = 2 * np.pi * index
    assert fourier_measure(sine(index), NODES) == pytest.approx(ROOT2 * frequency)
    line = ROOT2 * np.sin(frequency * np.linspace(0, 1, 2001))
    assert curvature_measure(line) == pytest.approx(ROOT2 * frequency**2 / 8, rel=1e-3)


@pytest.mark.slow
def test_feed_forward_measures_of_polynomials_and_planes() -> None:
    at = np.linspace(0, 1, 65)
    assert curvature_measure(3 * at - 1) == pytest.approx(0, abs=1e-9)
    assert curvature_measure(at**2) == pytest.approx(1 / 4)
    assert fourier_measure(np.ones(40), NODES) == pytest.approx(0, abs=1e-9)
    plane = gauss_legendre(9, 2)
    both = np.sin(np.pi * plane.nodes.sum(axis=1))
    assert fourier_measure(both, plane) == pytest.approx(2 * np.pi)
    pod = decompose(lambda u, v: u @ v.T, plane)
    with pytest.raises(Refused, match="line"):
        Complexity(pod, 1.0, 1.0, 0.0, 2.0, 1.0)
    # u·v has the bases of x and y, rotated: their moments are known to be finite
    found = Complexity(pod, 1.0, 1.0, 0.0, 0.5, 1.0)
    assert pod.rank == 2
    assert found.c2(2) == pytest.approx(found.measures(2).sum())
    with pytest.raises(Refused, match="β"):
        Complexity(pod, 1.0, 1.0, 0.0, 1.0, 1.0)


@pytest.mark.parametrize("pieces", [8, 20, 64])
def test_knots_meet_the_curvature_bound(pieces: int) -> None:
    points = np.linspace(0, 1, 4001)
    knots = np.linspace(0, 1, pieces + 1)

    def wave(at: FloatArray) -> FloatArray:
        return np.asarray(np.exp(np.sin(2 * np.pi * at)))

    off = np.abs(np.interp(points, knots, wave(knots)) - wave(points)).max()
    bound = curvature_measure(wave(points)) / pieces**2
    assert bound / 3 < off <= bound * (1 + 1e-3)


def test_measures_of_a_sum_of_sines() -> None:
    series = SineSeries(1.5, 6)
    found = measured(series, 60)
    assert found.pod.rank == 6
    np.testing.assert_allclose(found.pod.sigma[:6], series.sigma, atol=1e-12)
    assert found.c1 == pytest.approx(1)
    assert found.c0(6) == pytest.approx(2 * ROOT2, rel=1e-2)  # the nodes miss the tops
    each = ROOT2 * (2 * np.pi * series.indices) ** 2 / 8
    assert found.c2(6) == pytest.approx(2 * each.sum(), rel=1e-3)
    assert found.c2(60) == found.c2(6)
    assert found.bound_as_printed(16, 4, 1e9) == pytest.approx(
        16**2 * found.c0(4) * (1 / 4**2 + found.c2(4) * 4**3 / 1e18)
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize(("alpha", "scramble"), [(1.0, 0), (1.5, 0), (2.0, 7)])
def test_the_repaired_bound_holds_for_truncated_couplings(
    alpha: float, scramble: int
) -> None:
    series, widths = SineSeries(alpha, 40, scramble), [1, 2, 4, 8, 16]
    found = measured(series, 160)
    inputs = np.random.default_rng(0).uniform(size=(1500, 8))
    errors = truncation(series, inputs, widths)
    for at, width in enumerate(widths):
        tail = np.sqrt((series.sigma[width:] ** 2).sum())
        assert tail <= found.tail(width)
        assert found.diagonal(width) == pytest.approx(
            np.sqrt(errors.diagonal[at]), rel=0.05
        )
        assert 8 * errors.absolute[at] <= found.mean_error(8, width)
        assert 8 * errors.output[at] <= found.squared_error(8, width)
        assert found.mean_error(8, width) < found.mean_error(8, width, 1000)


def test_the_repaired_bound_holds_with_knots_in_the_place_of_bases() -> None:
    series, knots = SineSeries(1.5, 4), 200
    found = measured(series, 60)
    inputs = np.random.default_rng(1).uniform(size=(400, 8))
    at = np.linspace(0, 1, knots + 1)
    left = np.stack([np.interp(inputs, at, g) for g in series.phi(at).T], axis=2)
    logits = (left * series.sigma) @ left.swapaxes(1, 2)
    off = np.abs(aggregate(logits, inputs) - series.outputs(inputs)).sum(axis=1).mean()
    share = found.mean_error(8, 4, knots * 8) - found.mean_error(8, 4)
    assert 0 < off <= share


def test_the_printed_bound_is_missed_by_the_network_of_its_proof() -> None:
    # A24: an error that is not squared beside the rate of a squared one
    series, width = SineSeries(2.0, 2000, 7), 100
    inputs = np.random.default_rng(2).uniform(size=(1000, 2))
    off = 2 * truncation(series, inputs, [width]).absolute[0]
    printed = 2**2 * norm_measure(1, 1, 2 * ROOT2) * 1 / width ** (2 * 2.0 - 1)
    assert off > 10 * printed


@dataclass(frozen=True)
class Square:
    values: FloatArray
    step: float


@dataclass(frozen=True)
class Table:
    """A target of tables; F is the square of what is aggregated, or the identity."""

    pod: Pod
    f: FloatArray
    outer: Square | None = None
    length: int = 8


def test_facts_of_a_target_of_tables() -> None:
    series, line = SineSeries(1.5, 6), np.linspace(0, 1, 1025)[:, None]
    pod = decompose(series, gauss_legendre(60))
    plain = complexity_of(Table(pod, line))
    assert (plain.lipschitz, plain.value, plain.outer) == (1, 1, pytest.approx(0))
    assert plain.alpha == pytest.approx(1.5)
    found = facts(Table(pod, line))
    assert found["c0"] == pytest.approx(2 * ROOT2, rel=1e-2)
    assert found["c1"] == pytest.approx(1)
    assert list(found["bound"]) == [1, 2, 4, 6]
    assert found["bound"][2] == plain.mean_error(8, 2)
    assert found["bound_as_printed"][4] == pytest.approx(8**2 * found["c0"] / 4**2)
    squared = complexity_of(Table(pod, 2 * line, Square((2 * line) ** 2, 2 / 1024)))
    assert squared.lipschitz == pytest.approx(4, rel=1e-2)
    assert squared.value == 2
    # g(a) = a² on [0, 2], over [0, 1]: 4x², so max|g″| / 8 is 1
    assert squared.outer == pytest.approx(1)
