"""Between the bounds for all words lie the numbers of each word, and partial sums."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from enclosed_words import enclosed
from random_networks import random_transformer

from krohn.network.meaning.arrays import Arrays, whole
from krohn.network.meaning.attention import WEIGH
from krohn.network.meaning.net import Affine, Block, Heads, Net
from krohn.program.attention import (
    Attention,
    Linear,
    Rectified,
    Sight,
    Softmax,
    Sparse,
    visible,
)
from krohn.program.domains import BoolArray, FloatArray
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import FORMATS, Interval
from krohn.verify.enclosures.all_words import Ranges, ranges
from krohn.verify.enclosures.positions import Among, Maybe

SLACK = 1e-9
"""More than arithmetic of float64 is off by here."""
SEEDS = range(0, 100, 10)


def single(last: int) -> list[range]:
    """Each position in a stretch of its own."""
    return [range(t, t + 1) for t in range(last)]


def cut(last: int, seed: int) -> list[range]:
    """Letters cut into stretches by chance."""
    chosen = np.random.default_rng(seed).random(last) < 0.3
    ends = [0, 1, *(t for t in range(2, last) if chosen[t]), last]
    return [range(a, b) for a, b in pairwise(ends)]


def of_positions(found: Ranges, place: str, parts: Sequence[range]) -> Interval:
    """The box of each position at a place; of logits without BOS, which has none."""
    axis = 2 if ".attention" in place else 1
    sizes = [len(part) for part in parts]
    box = found.boxes[place].each(lambda x: np.repeat(x, sizes, axis=axis))
    return box[:, 1:] if place == "logits" else box


def lies_in(inner: Interval, outer: Interval) -> bool:
    """Whether numbers do, up to rounding."""
    low, high = outer.low - SLACK, outer.high + SLACK
    return bool((inner.low >= low).all() and (inner.high <= high).all())


@pytest.mark.slow
@pytest.mark.parametrize("first", SEEDS)
def test_numbers_of_words_lie_within(first: int) -> None:
    """By each position, by stretches, and by all letters, with larger boxes each time."""
    for seed in range(first, first + 10):
        given = random_transformer(seed)
        last = len(given.net.position)
        known = enclosed(given.net, given.words)
        for parts in (single(last), [range(1), range(1, last)]):
            found = ranges(given.net, parts)
            boxes = {place: of_positions(found, place, parts) for place in known}
            for place, inner in known.items():
                assert lies_in(inner, boxes[place]), (seed, place)
            known = boxes
        some = cut(last, seed)
        found = ranges(given.net, some)
        for place, outer in known.items():
            assert lies_in(of_positions(found, place, some), outer), (seed, place)


class Largest(Arrays):
    """Arrays that remember the largest results, and sums of absolute values of terms."""

    def __init__(self) -> None:
        self.stored = self.inside = 0.0

    def note(self, result: FloatArray, terms: FloatArray) -> FloatArray:
        """No partial sum is larger than the terms together."""
        self.stored = max(self.stored, float(abs(result).max(initial=0.0)))
        self.inside = max(self.inside, float(terms.max(initial=0.0)))
        return result

    def add(self, x: Any, y: Any) -> Any:
        """Of two terms."""
        return self.note(super().add(x, y), np.zeros(1))

    def contract(self, axes: str, x: Any, y: Any) -> Any:
        """Of products."""
        terms = super().contract(axes, abs(x), abs(y))
        return self.note(super().contract(axes, x, y), terms)

    def affine(self, x: Any, layer: Affine[Any]) -> Any:
        """The bias is added before or after a result."""
        terms = abs(x) @ abs(layer.weight) + abs(layer.bias)
        self.note(x @ layer.weight, terms)
        return self.note(super().affine(x, layer), terms)

    def combine(self, weights: Any, values: Any, seen: Any) -> Any:
        """Of weights that are divided before or after."""
        terms = super().combine(abs(weights), abs(values), seen)
        return self.note(super().combine(weights, values, seen), terms)

    def total(self, x: Any) -> Any:
        """Of numbers that are not negative; a softmax stores none of it."""
        self.note(np.zeros(1), super().total(x))
        return super().total(x)


@pytest.mark.sample(1)
@pytest.mark.parametrize("first", SEEDS)
def test_results_and_partial_sums_are_no_larger(first: int) -> None:
    for seed in range(first, first + 10):
        given, seen = random_transformer(seed), Largest()
        whole(given.net, seen, given.words)
        sizes = ranges(given.net).sizes.values()
        assert seen.stored <= max(size.stored for size in sizes) + SLACK, seed
        assert seen.inside <= max(size.inside for size in sizes) + SLACK, seed


LENGTH = 9
LETTERS = (1.0, -1.0)


def one_head(
    kind: Attention,
    sight: Sight = Sight.CAUSAL,
    letters: Sequence[float] = LETTERS,
    key: float = 2.0,
) -> Net[FloatArray]:
    """A head that reads letters, which are numbers, and BOS, which is 0.

    All queries are 2, and all keys alike; what it takes is added to the letter.
    """
    matrices = (
        np.array(x, np.float64).reshape(1, *np.shape(x))
        for x in ([[0], [2]], [[0], [key]], [[1], [0]], [[1, 0]])
    )
    block = Block(Heads(kind, (sight,), *matrices), None, ())
    token = np.array([[x, 1.0] for x in (*letters, 0.0)])
    out = Affine(np.array([[1.0], [0.0]]), np.zeros(1))
    return Net(token, np.zeros((LENGTH + 1, 2)), (block,), out)


def test_a_mean_stays_between_and_a_sum_adds_up() -> None:
    """Weights of sums are scores, which are 4; words may be short."""
    sparse = Sparse(2, 1, 1)
    for kind, most in ((Softmax(), 2), (Linear(), 2), (sparse, 2), (Rectified(), 37)):
        (box,) = ranges(one_head(kind)).boxes["logits"][:, 1]
        assert (box.low, box.high) == (pytest.approx(-most), pytest.approx(most))
        (box,) = ranges(one_head(kind, letters=[1.0])).boxes["logits"][:, 1]
        assert box.low <= 1 + (4 if most > 2 else 0.5)
        assert box.high == pytest.approx(most)


def sizes(net: Net[FloatArray]) -> list[tuple[float, ...]]:
    """What is stored, and added up, of queries, of weights, and of what a head takes."""
    found = ranges(net).sizes
    each = (found[f"blocks.0.attention.{n}"] for n in ("query", "pattern", "taken"))
    return [tuple(round(x, 6) for x in size) for size in each]


@pytest.mark.parametrize("value", [1.0, 2.0])
def test_all_that_is_stored_or_added_up_counts(value: float) -> None:
    """Ten positions, of which BOS is 0; features of 2 are 3, and divided last."""
    query, letters = (2, 2), [value, -value]
    softmax = [query, (4, 10), (value, 9 * value)]
    assert sizes(one_head(Softmax(), letters=letters)) == softmax
    sums = [query, (4, 4), (36 * value, 36 * value)]
    assert sizes(one_head(Rectified(), letters=letters)) == sums
    linear = [query, (9, 90), (max(90, 81 * value), 81 * value)]
    assert sizes(one_head(Linear(), letters=letters)) == linear
    few = [round(x, 6) for x in (np.exp(-9.0) * 3, np.exp(-9.0) * 30)]
    assert sizes(one_head(Linear(), key=-9.0))[1] == (3, few[1])


def test_a_bias_counts_apart_from_what_it_is_added_to() -> None:
    net = one_head(Softmax(), letters=[1.0])
    net.out.bias[:] = -1.5
    found = ranges(net)
    assert found.boxes["logits"].size.max() == pytest.approx(1.5)
    assert found.sizes["logits"].stored == pytest.approx(2)
    assert found.sizes["logits"].inside == pytest.approx(3.5)


def test_what_an_mlp_keeps_counts_apart_from_what_it_adds() -> None:
    less = Affine(np.zeros((2, 2)), np.array([-3.0, 0.0]))
    net = one_head(Softmax(), letters=[1.0])
    net = replace(net, blocks=(Block(None, np.array([5.0, 1.0]), (less,)),))
    found = ranges(net)
    assert found.boxes["stream.2"].size.max() == pytest.approx(3)
    assert found.sizes["stream.2"].stored == pytest.approx(5)


def test_sums_need_more_room_than_what_is_stored() -> None:
    """They may overflow on the way, and be half of the largest number in the end."""
    form = FORMATS["float32"]
    for part, refused in ((0.2, False), (0.5, True)):
        net = one_head(Softmax())
        net.out.weight[0] = part / 2 * form.largest
        found = ranges(net)
        assert found.sizes["logits"].stored == pytest.approx(part * form.largest)
        if refused:
            with pytest.raises(Refused, match="a sum before logits can overflow"):
                found.check(form)
        else:
            found.check(form)


@pytest.mark.parametrize("sight", Sight)
@pytest.mark.parametrize("kind", [Softmax(), Rectified()])
def test_who_does_not_see_a_position_has_nothing_of_it(
    kind: Attention, sight: Sight
) -> None:
    net = one_head(kind, sight)
    net.position[4] = np.inf
    box = ranges(net, single(LENGTH + 1)).boxes["logits"][0, :, 0]
    nothing = np.arange(LENGTH + 1) >= (4 if sight is Sight.CAUSAL else 1)
    assert np.array_equal(~np.isfinite(box.size), nothing)


KINDS = (Softmax(), *(Sparse(*x) for x in ((1, 1, 1), (3, 2, 1), (4, 1, 2), (5, 3, 5))))


def flags(bits: Sequence[bool]) -> BoolArray:
    return np.array(bits)[:, None, None]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sights", [*product(Sight, repeat=2)])
def test_stretches_may_see_what_one_of_their_positions_sees(
    kind: Attention, sights: tuple[Sight, ...]
) -> None:
    last = 23
    t = np.arange(last)
    one_by_one = visible(kind, sights, t[:, None], t, flags, "a test")
    for seed in range(20):
        parts = cut(last, seed) if seed else single(last)
        ends = np.array([part[0] for part in parts])
        some = Among(ends, np.array([part[-1] for part in parts]))
        found = visible(
            kind, sights, some[:, None], some, lambda x: Maybe(flags(x)), "a test"
        )
        each = np.logical_or.reduceat(one_by_one, ends, axis=-2)
        each = np.logical_or.reduceat(each, ends, axis=-1)
        assert (found.flags | ~each).all()
        if not seed or isinstance(kind, Softmax):
            assert np.array_equal(found.flags, each)


class Another(Softmax):
    """A kind of attention made of one whose heads take means."""


def test_a_kind_that_is_made_of_another_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody said what it takes: here it adds up, far beyond all values."""
    monkeypatch.setitem(WEIGH, Another, WEIGH[Rectified])
    net = one_head(Another())
    word = np.zeros((1, LENGTH), dtype=np.int64)
    assert enclosed(net, word)["logits"].low.max() > 30
    with pytest.raises(Refused, match="is not about 'softmax'"):
        ranges(net)
