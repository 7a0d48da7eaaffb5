"""What networks compute without rounding lies between the bounds of the engine."""

from dataclasses import replace

import numpy as np
import pytest
from enclosed_words import Enclosed, enclosed
from many_digits import many_digits
from random_networks import RandomNetwork, random_transformer

from krohn.network.meaning.rewrites import divide_scores
from krohn.verify.checker.arithmetic import Interval

NARROW = 1e-9
"""Logits of these networks are of the size of 1, and 9e-11 apart at most."""


@pytest.mark.sample(1)
@pytest.mark.parametrize("first", range(0, 100, 10))
def test_true_logits_lie_within(first: int) -> None:
    for seed in range(first, first + 10):
        given = random_transformer(seed, longest=12)
        found = enclosed(given.net, given.words[:2])["logits"]
        true = many_digits(given.net, given.words[:2])
        assert (true >= found.low).all(), seed
        assert (true <= found.high).all(), seed
        assert (found.high - found.low).max() < NARROW, seed


def with_heads(kind: str) -> RandomNetwork:
    """A network with heads of a kind that see nothing ahead, and words of some letters."""
    drawn = (random_transformer(s, kinds=[kind], ahead=False) for s in range(100))
    return next(
        given
        for given in drawn
        if given.words.shape[1] > 3 and any(b.heads for b in given.net.blocks)
    )


@pytest.mark.parametrize("kind", ["softmax", "linear", "relu", "sparse"])
def test_what_is_not_seen_spoils_nobody(kind: str) -> None:
    """And whoever reads what is no number, or not finite, knows nothing."""
    given = with_heads(kind)
    position = given.net.position.copy()
    position[-1] = np.inf
    spoilt = replace(given.net, position=position)
    whole, found = (enclosed(x, given.words)["logits"] for x in (given.net, spoilt))
    assert np.allclose(found.low[:, :-1], whole.low[:, :-1], rtol=0, atol=NARROW)
    assert np.allclose(found.high[:, :-1], whole.high[:, :-1], rtol=0, atol=NARROW)
    assert not np.isfinite(found.size[:, -1]).any()


def test_queries_and_divisors_cancel() -> None:
    given = with_heads("softmax")
    both = [
        enclosed(net, given.words)["logits"]
        for net in (given.net, divide_scores(given.net, 8.0))
    ]
    assert np.allclose(both[0].low, both[1].low, rtol=0, atol=NARROW)
    assert np.allclose(both[0].high, both[1].high, rtol=0, atol=NARROW)


def test_values_that_are_not_finite_are_absent_where_they_are_hidden() -> None:
    """Even where weights are known, as with values that are too large for float64."""
    seen = np.array([[True, False], [True, True]])
    weights = Interval.of(np.where(seen, 0.5, 0.0)[None, None])
    values = Interval.of(np.array([[3.0, 1.0], [np.inf, 1.0]])[None, None])
    with np.errstate(all="ignore"):
        found = Enclosed().combine(weights, values, seen)[0, 0]
    assert (found.low[0] <= [1.5, 0.5]).all()
    assert (found.high[0] >= [1.5, 0.5]).all()
    assert np.isnan(found.low[1]).all()
