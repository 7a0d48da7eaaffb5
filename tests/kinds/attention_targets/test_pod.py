"""The decomposition of couplings: spectra, bases, best truncations, and their rates."""

import numpy as np
import pytest
from truncated_couplings import slopes, truncation

from krohn.kinds.attention_targets.source_sampling import SineSeries
from krohn.kinds.attention_targets.source_target import (
    Pod,
    Quadrature,
    decompose,
    gauss_legendre,
    interpolate_coupling,
)
from krohn.program.domains import FloatArray
from krohn.program.errors import Refused

POINTS = np.linspace(0, 1, 57)[:, None]


def sine(u: FloatArray, v: FloatArray) -> FloatArray:
    return 1 + 2 * np.sin(2 * np.pi * u[:, 0])[:, None] * np.sin(2 * np.pi * v[:, 0])


def mixed(u: FloatArray, v: FloatArray) -> FloatArray:
    later = np.sin(2 * np.pi * (u[:, :1] + v[:, 0]))
    return 1 + 2 * np.sin(2 * np.pi * u[:, 0])[:, None] * later


def decaying(u: FloatArray, v: FloatArray) -> FloatArray:
    gap = ((u[:, None] - v[None]) ** 2).sum(-1)
    return np.exp(-gap)


def change(found: Pod, finer: Pod) -> float:
    """How far the singular values of two quadratures are apart, at most."""
    longest = max(len(found.sigma), len(finer.sigma))
    both = [np.pad(p.sigma, (0, longest - len(p.sigma))) for p in (found, finer)]
    return float(np.abs(both[0] - both[1]).max())


def farthest(found: Pod, terms: int, points: FloatArray) -> float:
    """The largest |ρ − its first terms| at points."""
    cut = found.sum_terms(points, points, terms)
    return float(np.abs(found.coupling(points, points) - cut).max())


def test_mixing_in_time_raises_the_rank_from_two_to_three() -> None:
    before = decompose(sine, gauss_legendre(40))
    assert before.rank == 2
    np.testing.assert_allclose(before.sigma[:2], [1, 1], atol=1e-12)
    after = decompose(mixed, gauss_legendre(40))
    assert after.rank == 3
    # sin a sin(a + b) in the bases 1, √2 sin, √2 cos of b, and 1, … of a
    closed = [[1, 0.5**0.5, 0], [0, -0.5, 0], [0, 0, 0.5]]
    exact = np.linalg.svd(np.array(closed), compute_uv=False)
    np.testing.assert_allclose(after.sigma[:3], exact, atol=1e-12)
    np.testing.assert_allclose(after.sigma[:3], [1.2622, 0.5, 0.3961], atol=1e-4)


@pytest.mark.parametrize("dimensions", [1, 2])
def test_bases_are_orthonormal_at_the_nodes_and_continued(dimensions: int) -> None:
    found = decompose(decaying, gauss_legendre(14, dimensions))
    weights = found.rule.weights[:, None]
    for basis in (found.left[:, :6], found.right[:, :6]):
        np.testing.assert_allclose(basis.T @ (weights * basis), np.eye(6), atol=1e-12)
    np.testing.assert_allclose(
        found.phi(found.rule.nodes, 6), found.left[:, :6], atol=1e-8
    )
    # the same functions by another quadrature: they do not depend on the nodes
    finer = decompose(decaying, gauss_legendre(20, dimensions))
    assert change(found, finer) < 1e-13
    points = np.random.default_rng(0).uniform(size=(50, dimensions))
    assert farthest(found, 9, points) < 5e-3
    one, other = found.phi(points, 1), finer.phi(points, 1)
    np.testing.assert_allclose(one, other, atol=1e-10)


def test_no_other_coupling_of_that_rank_is_nearer_in_the_mean() -> None:
    found = decompose(decaying, gauss_legendre(30))
    random = np.random.default_rng(1)
    weights = np.outer(found.rule.weights, found.rule.weights)
    for terms in range(5):
        cut = (found.left[:, :terms] * found.sigma[:terms]) @ found.right[:, :terms].T
        off = np.sqrt((weights * (found.values - cut) ** 2).sum())
        assert off == pytest.approx(np.sqrt((found.sigma[terms:] ** 2).sum()), rel=1e-8)
        other = decompose(
            lambda u, v: decaying(u, v) + random.normal(scale=1e-2, size=(30, 30)),
            found.rule,
        )
        cut = (other.left[:, :terms] * other.sigma[:terms]) @ other.right[:, :terms].T
        worse = np.sqrt((weights * (found.values - cut) ** 2).sum())
        assert worse >= off


def test_a_basis_solves_its_integral_equation_away_from_the_nodes() -> None:
    found = decompose(mixed, gauss_legendre(24))
    fine = gauss_legendre(80)
    left, right = found.phi(POINTS, 3), found.psi(fine.nodes, 3)
    integral = mixed(POINTS, fine.nodes) @ (fine.weights[:, None] * right)
    np.testing.assert_allclose(integral, left * found.sigma[:3], atol=1e-12)
    assert farthest(found, 3, POINTS) < 1e-12


def test_a_matrix_at_the_nodes_is_a_polynomial_between_them() -> None:
    rule = gauss_legendre(18)
    values = decaying(rule.nodes, rule.nodes)
    between = interpolate_coupling(values, rule)
    np.testing.assert_allclose(between(rule.nodes, rule.nodes), values, atol=1e-12)
    np.testing.assert_allclose(
        between(POINTS, POINTS), decaying(POINTS, POINTS), atol=1e-12
    )
    plane = gauss_legendre(7, 2)
    powers = plane.nodes[:, 0] ** 6 * plane.nodes[:, 1] ** 5
    points = np.random.default_rng(2).uniform(size=(9, 2))
    exact = points[:, 0] ** 6 * points[:, 1] ** 5
    np.testing.assert_allclose(plane.cardinal(points) @ powers, exact, atol=1e-13)


def test_a_kink_is_resolved_slowly_and_the_change_says_so() -> None:
    def apart(u: FloatArray, v: FloatArray) -> FloatArray:
        return np.abs(u - v[:, 0])

    rules = [decompose(apart, gauss_legendre(n)) for n in (20, 40, 400)]
    first = change(rules[0], rules[2])
    assert change(rules[1], rules[2]) < first
    assert first / 2 < change(rules[0], rules[1]) < 2 * first


def test_points_of_a_table_with_a_mass_are_a_quadrature_too() -> None:
    random = np.random.default_rng(3)
    table = random.normal(size=(5, 5))
    rule = Quadrature(np.arange(5.0)[:, None], np.full(5, 0.2))

    def looked_up(u: FloatArray, v: FloatArray) -> FloatArray:
        return table[np.ix_(u[:, 0].astype(int), v[:, 0].astype(int))]

    found = decompose(looked_up, rule)
    np.testing.assert_allclose(
        found.sigma, np.linalg.svd(table / 5, compute_uv=False), atol=1e-14
    )
    assert farthest(found, 5, rule.nodes) < 1e-12


def test_what_cannot_be_decomposed_is_refused() -> None:
    rule = gauss_legendre(4)
    with pytest.raises(Refused, match="finite"):
        decompose(lambda u, v: np.full((4, 4), np.nan), rule)
    with pytest.raises(Refused, match="zero"):
        decompose(lambda u, v: np.zeros((4, 4)), rule)
    with pytest.raises(Refused, match="row"):
        decompose(lambda u, v: np.zeros((4, 1)), rule)
    with pytest.raises(Refused, match="rank"):
        decompose(sine, gauss_legendre(30)).phi(POINTS, 3)
    with pytest.raises(Refused, match="nodes"):
        gauss_legendre(20, 3)
    with pytest.raises(Refused, match="grid"):
        interpolate_coupling(np.eye(2), Quadrature(np.eye(2), np.ones(2)))


TERMS = (1, 2, 3, 4, 6, 8, 11, 16)
INPUTS = np.random.default_rng(0).uniform(size=(400, 16))


@pytest.mark.sample(1)
@pytest.mark.parametrize("scramble", [0, 1, 7])
def test_its_singular_values_are_the_ones_that_were_chosen(scramble: int) -> None:
    series = SineSeries(1.5, 8, scramble)
    pod = decompose(series, gauss_legendre(60))
    np.testing.assert_allclose(pod.sigma[:8], series.sigma, atol=1e-12)
    assert pod.rank == 8
    # bases are one's own up to a sign: singular values are distinct
    both = np.abs((series.psi(pod.rule.nodes[:, 0]) * pod.rule.weights[:, None]).T)
    assert both.shape == (8, 60)
    product = (series.psi(pod.rule.nodes[:, 0]).T * pod.rule.weights) @ pod.right[:, :8]
    np.testing.assert_allclose(np.abs(product), np.eye(8), atol=1e-10)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("alpha", "pairs", "diagonal", "output"),
    [
        (1.0, -0.94, -0.47, -0.59),
        (1.5, -1.85, -1.09, -1.14),
        (2.0, -2.76, -1.91, -2.22),
    ],
)
def test_rates_where_both_bases_are_the_same(
    alpha: float, pairs: float, diagonal: float, output: float
) -> None:
    series = SineSeries(alpha, 400)
    found = slopes(TERMS, truncation(series, INPUTS, TERMS))
    assert found["pairs"] == pytest.approx(pairs, abs=0.03)
    assert found["diagonal"] == pytest.approx(diagonal, abs=0.02)
    assert found["output"] == pytest.approx(output, abs=0.08)
    # A25: the diagonal decays by 2(α − 1), and holds the output back
    assert found["diagonal"] - found["pairs"] > 0.4


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("alpha", "output"), [(1.0, -0.69), (1.5, -1.85), (2.0, -2.98)]
)
def test_rates_where_the_bases_of_keys_are_scrambled(
    alpha: float, output: float
) -> None:
    found = slopes(TERMS, truncation(SineSeries(alpha, 400, 7), INPUTS, TERMS))
    assert found["output"] == pytest.approx(output, abs=0.12)


@pytest.mark.slow
def test_mean_squares_tend_to_their_closed_forms() -> None:
    """Σ σ_i² over i > m where s ≠ t, and (Σ σ_i)² + ½ Σ σ_i² where s = t and ψ = φ.

    For φ_i(u)² = 1 − cos 4πiu: so the rate of the diagonal is 2(α − 1), not 2α − 1.
    """
    series = SineSeries(1.5, 400)
    found = truncation(series, INPUTS, TERMS)
    tails = [series.sigma[m:] for m in TERMS]
    pairs = np.array([(tail**2).sum() for tail in tails])
    diagonal = np.array([tail.sum() ** 2 for tail in tails]) + pairs / 2
    np.testing.assert_allclose(found.pairs, pairs, rtol=0.05)
    np.testing.assert_allclose(found.diagonal, diagonal, rtol=0.02)


@pytest.mark.parametrize("rank", [2, 6])
def test_a_finite_rank_is_exact_from_its_rank_on(rank: int) -> None:
    found = truncation(SineSeries(1.0, rank), INPUTS[:50], (rank - 1, rank, 16))
    assert found.output[0] > 1e-5
    assert found.output[1] == found.output[2] == 0
