"""Lemma W9a: all products of positive operators have bounds in common."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from normalised_networks import positive

from krohn.kinds.hidden_markov.check_positive_operators import (
    MOST_WORDS,
    PositiveOperators,
)
from krohn.kinds.hidden_markov.check_products import Projective
from krohn.program.errors import Refused


@settings(max_examples=10, deadline=None)
@given(st.integers(2, 4), st.integers(1, 3), st.integers(0, 10**6), st.integers(1, 12))
def test_products_are_within_the_bounds_of_their_length(
    states: int, letters: int, seed: int, length: int
) -> None:
    source, random = positive(states, letters, seed), np.random.default_rng(seed)
    found = PositiveOperators.of(source.operators, source.start, 12)
    word = random.integers(letters, size=length)
    product = np.linalg.multi_dot(
        [np.eye(states), *source.operators[word], np.eye(states)]
    )
    product = product / (product @ source.start).sum()
    at = int(found.at(np.array([float(length)]))[0])
    assert (found.entries.low[at] <= product).all()
    assert (product <= found.entries.high[at]).all()
    sums, zero = product.sum(axis=0), source.start == 0
    assert (found.columns.low[at] <= sums).all()
    assert (sums <= found.columns.high[at]).all()
    shares = product / sums
    assert (found.share.low[at][:, None] <= shares).all()
    assert (shares <= found.share.high[at][:, None]).all()
    others = product[:, zero].sum(axis=1) / product[:, ~zero].sum(axis=1)
    assert (others <= found.others.high[at]).all()
    for _ in range(5):
        u, v = random.random((2, states)) + 1e-3
        before, after = np.log(u / v), np.log((product @ u) / (product @ v))
        most = found.contraction[length] * np.ptp(before)
        assert np.ptp(after) <= most + 1e-12


def test_entries_that_are_0_are_refused() -> None:
    for wrong in (0.0, -1.0, np.nan, np.inf):
        operators = np.full((1, 2, 2), 0.5)
        operators[0, 0, 1] = wrong
        with pytest.raises(Refused, match="an entry 0"):
            PositiveOperators.of(operators, np.array([1.0, 0.0]), 3)
    with pytest.raises(Refused, match="no mass"):
        PositiveOperators.of(np.full((1, 2, 2), 0.5), np.zeros(2), 3)


def test_matrices_whose_quotients_are_subnormal_are_refused() -> None:
    """They were taken for multiples: all quotients are 64 times the least number."""
    operators, start = np.full((1, 2, 2), 2.0**970), np.full(2, 2.0**-82)
    off = np.array([[[1.007, 1.007], [0.993, 0.993]]])
    assert len(np.unique(2.0**-98 * off / operators)) == 1
    with pytest.raises(Refused, match="too large or too small"):
        Projective.of(operators, start, 2.0**-98 * off, 1)
    with pytest.raises(Refused, match="too large or too small"):
        Projective.of(operators / 2.0**970, start, 2.0**-129 * off, 1)
    near = Projective.of(operators / 2.0**970, start, 2.0**-98 * off, 1)
    assert near.first[2, 1] == pytest.approx(np.log(1.007 / 0.993), rel=1e-6)


def test_a_matrix_that_may_be_held_as_0_is_refused() -> None:
    """Twice what is beside the mass was more than it: errors became negative."""
    operators, start = np.full((1, 2, 2), 0.5), np.array([1.0, 0.0])
    metric = Projective.of(operators, start, operators, 3)
    assert metric.largest(metric.first) < 1.01
    noise = metric.first.copy()
    noise[-1, 0] = 0.6
    with pytest.raises(Refused, match="held as 0"):
        metric.largest(noise)


@pytest.mark.parametrize(("operator", "entry"), [(2.0**-950, 2.0**-120), (1, 1e-300)])
def test_a_start_whose_products_are_subnormal_is_refused(
    operator: float, entry: float
) -> None:
    with pytest.raises(Refused, match="too large or too small"):
        PositiveOperators.of(np.full((1, 2, 2), operator), np.full(2, entry), 1)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(("letters", "size", "length"), [(1, 8, 1000), (2, 12, 40)])
def test_few_matrices_take_little_work_whatever_the_length(
    letters: int, size: int, length: int
) -> None:
    operators = np.random.default_rng(0).random((letters, size, size)) + 0.1
    found = PositiveOperators.of(operators / 50, np.full(size, 1 / size), length)
    assert letters < len(found.others.high) + letters <= 2 * MOST_WORDS + 1
    assert len(found.contraction) == length + 1
    assert found.contraction[-1] <= found.contraction[1] < 1
