"""Rates of truncated couplings: what pairs of inputs see, the diagonal, the output."""

import numpy as np
import pytest
from truncated_couplings import slopes, truncation

from krohn.sources.attention_targets.sampling import SineSeries
from krohn.sources.attention_targets.target import decompose, gauss_legendre

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
