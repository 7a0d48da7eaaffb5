"""Engines held against plain loops, and what the engine of fractions is not about."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from many_digits import DIGITS, many_digits, near
from random_networks import RandomNetwork, random_transformer
from slow_network import slow_logits

from krohn.network.meaning.arrays import Arrays, points, whole, with_bos
from krohn.network.meaning.attention import (
    places_of,
)
from krohn.network.meaning.forward import read_out, through
from krohn.network.meaning.rationals import (
    IdealRationals,
    Looking,
    Rationals,
    Scores,
    exact,
    first,
)
from krohn.program.errors import Refused

IDEAL: Any = {"kinds": ("softmax", "sparse", "relu"), "units": ("relu",), "longest": 6}
"""What is rational of random networks."""


def of_loops(given: RandomNetwork, **how: Any) -> list[Any]:
    """The logits of all its words by the evaluator that is written apart."""
    said = (
        slow_logits(given.architecture, given.tensors, w, **how) for w in given.words
    )
    return list(said)


def coarse(given: RandomNetwork) -> RandomNetwork:
    """With small whole numbers, so that scores tie."""
    rounded = {name: np.rint(2 * t) for name, t in given.tensors.items()}
    return replace(given, tensors=rounded)


def in_fractions(given: RandomNetwork, o: IdealRationals) -> Rationals:
    """Its logits by the engine of fractions."""
    net = exact(given.net, given.words.shape[1])
    return np.asarray(whole(net, o, given.words))


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(60))
def test_real_numbers_are_those_of_plain_loops(seed: int) -> None:
    given = random_transformer(seed, longest=6)
    with mpmath.workdps(DIGITS):
        right = np.array(of_loops(given), dtype=object)
        apart = near(abs(many_digits(given.net, given.words) - right)).max()
    assert apart < 10.0 ** (5 - DIGITS) * (1 + abs(near(right)).max())
    said = whole(given.net, Arrays(), given.words)
    np.testing.assert_allclose(said, near(right), rtol=1e-9, atol=1e-9)


def last(_looking: Looking, scores: Scores) -> int:
    """The last point with a largest score."""
    return max(reversed(scores), key=lambda j: scores[j])


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(60))
def test_fractions_are_those_of_plain_loops(seed: int) -> None:
    given = random_transformer(seed, "float16", **IDEAL)
    for network in (given, coarse(given)):
        for choose in (first, last):

            def chosen(
                b: int, h: int, i: int, scores: Scores, how: Any = choose
            ) -> int:
                return int(how(Looking(places_of(b).pattern, h, i), scores))

            right = of_loops(network, number=Fraction, choose=chosen)
            assert in_fractions(network, IdealRationals(choose)).tolist() == right


@pytest.mark.slow
def test_ties_are_there() -> None:
    """So the choices of the test above differ."""
    ways = []
    for choose in (first, last):
        seeds = (coarse(random_transformer(s, **IDEAL)) for s in range(8))
        ways.append([in_fractions(g, IdealRationals(choose)).tolist() for g in seeds])
    assert ways[0] != ways[1]


def test_heads_say_where_they_look() -> None:
    """Also letter by letter, where points before are remembered."""
    given = random_transformer(3, "float16", ahead=False, **IDEAL)
    net, looks = exact(given.net, given.words.shape[1]), list[tuple[Looking, Any]]()

    def noted(looking: Looking, scores: Scores) -> int:
        looks.append((looking, dict(scores)))
        return first(looking, scores)

    o, words = IdealRationals(noted), given.words[:1]
    right, at_once = whole(net, o, words), sorted(looks)
    looks.clear()
    memory: Sequence[Any] = ()
    said = []
    for t, tokens in enumerate(with_bos(net, words).T):
        x, memory = through(net, o, points(tokens[:, None], t), memory)
        said.append(read_out(net, o, x))
    assert np.concatenate(said[1:], axis=1).tolist() == right.tolist()
    assert at_once == sorted(looks)
    assert looks


def test_a_smaller_score_is_no_choice() -> None:
    given = random_transformer(3, ahead=False, **IDEAL)
    with pytest.raises(Refused, match="takes no largest score"):
        in_fractions(
            given, IdealRationals(lambda _, scores: min(scores, key=scores.get))
        )


@pytest.mark.parametrize(
    ("how", "named"),
    [
        ({"kinds": ("linear",), "units": ("relu",)}, "linear heads"),
        ({"kinds": ("softmax",), "units": ("sine",)}, "'sine' units"),
        ({"kinds": ("softmax",), "units": ("gelu",)}, "'gelu' units"),
    ],
)
def test_what_is_no_rational_function_is_refused_by_name(how: Any, named: str) -> None:
    each = [random_transformer(seed, longest=2, **how) for seed in range(9)]
    with pytest.raises(Refused, match=named):  # some have no heads, or no units
        _ = [in_fractions(given, IdealRationals()) for given in each]


def test_numbers_that_words_meet_must_be_finite() -> None:
    """What lies beyond them is absent."""
    given = random_transformer(5, **IDEAL)
    table = given.tensors["embed.position"]
    table = np.concatenate([table, np.full_like(table[:1], np.inf)])
    longer = replace(given, tensors={**given.tensors, "embed.position": table})
    right = in_fractions(given, IdealRationals())
    assert in_fractions(longer, IdealRationals()).tolist() == right.tolist()
    with pytest.raises(Refused, match="not finite"):
        exact(longer.net, given.words.shape[1] + 1)
