"""The beliefs that can be reached, letters that decide them, and how small entries get."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import gcd, inf
from typing import NamedTuple, Self

import numpy as np

from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.program.domains import FloatArray, IntArray
from krohn.program.patterns import letters_until_rectangles

# The beliefs that can be reached, if they are finitely many: in exact arithmetic.


MOST_BELIEFS = 4096
"""How many beliefs are looked at; there are 36 of RRXOR, and 76 of Cyclic-HARD5,5."""
MOST_DIGITS = 4096
"""Binary digits of an entry. Where beliefs are without end, each letter adds about 50."""
MOST_WORK = 2**22
"""How many products of entries, each as often as it has words of 64 bits."""
LEAST_BELIEFS = 16
"""Nothing is looked at if there is not enough work for so many."""
IMPOSSIBLE = -1
Weights = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The machine of all beliefs that some possible word leads to.

    Attributes:
        weights: The beliefs in the order in which they are found, the start first: whole
            numbers without a common divisor, in the proportion of the probabilities.
        following: ``(letters, beliefs)``: where a letter leads; `IMPOSSIBLE` if it has
            probability 0.
    """

    weights: tuple[Weights, ...]
    following: IntArray

    @property
    def laws(self) -> FloatArray:
        """``(beliefs, n)``: the probabilities, each rounded once."""
        return np.array([[w / sum(each) for w in each] for each in self.weights])


def reachable(
    model: HiddenMarkovModel,
    most: int = MOST_BELIEFS,
    digits: int = MOST_DIGITS,
    work: int = MOST_WORK,
) -> Beliefs | None:
    """All beliefs that can be reached from the start; None if they are too many.

    A belief is a ray: it is the same however the operators are scaled, so whole numbers
    are enough, and nothing is rounded. None does not say that they are infinitely many.

    Args:
        model: The model, whose numbers stand for themselves.
        most: Give up beyond so many beliefs.
        digits: Give up beyond so many binary digits of an entry.
        work: Give up after so many products of words of 64 bits.
    """
    if np.count_nonzero(model.operators) > work // LEAST_BELIEFS:
        return None
    edges = [_edges(operator) for operator in model.operators]
    first = _reduce_weights(_whole(model.start))
    assert first is not None
    weights, number = [first], {first: 0}
    following: list[list[int]] = []
    while len(following) < len(weights):
        belief, row = weights[len(following)], []
        size = max(belief).bit_length()
        work -= (1 + size // 64) * sum(map(len, edges))
        if size > digits or work < 0:
            return None
        for letter in edges:
            after = _reduce_weights(_apply_letter(letter, belief))
            if after is not None and after not in number:
                number[after] = len(weights)
                weights.append(after)
                if len(weights) > most:
                    return None
            row.append(IMPOSSIBLE if after is None else number[after])
        following.append(row)
    return Beliefs(tuple(weights), np.array(following, np.int64).T)


def _edges(operator: FloatArray) -> list[tuple[int, int, int]]:
    """Of each entry that is not 0: where it leads, whence, and a whole number."""
    into, outof = np.nonzero(operator)
    whole = _whole(operator[into, outof])
    return list(zip(into.tolist(), outof.tolist(), whole, strict=True))


def _whole(numbers: FloatArray) -> list[int]:
    """Floats times the power of two that makes them whole."""
    ratios = [x.as_integer_ratio() for x in numbers.tolist()]
    scale = max((below for _, below in ratios), default=1)
    return [above * (scale // below) for above, below in ratios]


def _apply_letter(letter: list[tuple[int, int, int]], belief: Weights) -> list[int]:
    after = [0] * len(belief)
    for into, outof, weight in letter:
        after[into] += weight * belief[outof]
    return after


def _reduce_weights(weights: Sequence[int]) -> Weights | None:
    """Without a common divisor; None if all are 0."""
    divisor = gcd(*weights)
    return tuple(w // divisor for w in weights) if divisor else None


# Contexts: the last letters, as many as decide the belief nearly (Theorem W8b).


MOST_BEFORE, MOST_COLUMNS = 10, 1024
"""Letters before a context, and beliefs after these, that are looked at."""
MOST_CONTEXTS, MOST_WINDOWS = 4096, 200_000
"""Contexts, and words of the longest of them, letters before the first one included."""


@dataclass(frozen=True)
class Contexts:
    """Suffixes of words, one of which each word has, with the law that is said there.

    Attributes:
        width: How many letters the longest has.
        numbers: ``(letters + 1,) * width``: the context of the last letters, the last one
            first; the number of letters stands for all before the first one.
        laws: ``(contexts, n)``: what is said.
        error: How far a belief can be from what is said.
    """

    width: int
    numbers: IntArray
    laws: FloatArray
    error: float

    @property
    def description(self) -> str:
        """How many there are, and how long."""
        return f"{len(self.laws)} contexts of up to {self.width} letters"


@dataclass(order=True)
class _Node:
    """A suffix that is no context yet, the least certain one first.

    Attributes:
        key: Minus its radius.
        word: The letters, the last one first.
        product: A_w, up to a power of 2.
    """

    key: float
    word: tuple[int, ...]
    product: FloatArray = field(compare=False)


def contexts(model: HiddenMarkovModel, error: float) -> Contexts:
    """Contexts that say the belief within an error: the least certain grow first.

    They stop growing where there are too many; then their own error is larger.
    """
    size = len(model.letters)
    leaves: dict[tuple[int, ...], FloatArray] = {}
    before = _before(model)
    todo = [_Node(-inf, (), np.eye(model.size))]
    inner = list[tuple[int, ...]]()
    while todo and (-todo[0].key > error or not inner):
        width, count = len(todo[0].word) + 1, len(leaves) + len(todo)
        few = (size + 1) ** width <= MOST_WINDOWS and count < MOST_CONTEXTS
        if inner and not few:
            break
        node = heapq.heappop(todo)
        inner.append(node.word)
        leaves |= _first(model, node)
        for letter in range(size):
            product = node.product @ model.operators[letter]
            if product.any():
                product = product / 2.0 ** np.floor(np.log2(product.max()))
                radius = _middle(product @ before)[1]
                heapq.heappush(todo, _Node(-radius, (*node.word, letter), product))
    leaves |= {node.word: _middle(node.product @ before)[0] for node in todo}
    largest = max((-node.key for node in todo), default=0.0)
    return _list_contexts(leaves, inner, size, largest)


def _before(model: HiddenMarkovModel) -> FloatArray:
    """``(n, columns)``: the beliefs before a context are combinations of these.

    They are those after a few more letters, or after few letters from the start.
    """
    columns, first = np.eye(model.size), model.start[:, None]
    blocks = list[FloatArray]()
    for _ in range(MOST_BEFORE):
        if columns.shape[1] * len(model.letters) > MOST_COLUMNS:
            break
        blocks.append(first)
        columns, first = (_applied_to_columns(model, each) for each in (columns, first))
    return np.hstack([*blocks, columns])


def _applied_to_columns(model: HiddenMarkovModel, columns: FloatArray) -> FloatArray:
    """Columns after each letter, those that are possible, made to sum to 1."""
    after = np.hstack(list(model.operators @ columns))
    total = after.sum(axis=0)
    return np.asarray(after[:, total > 0] / total[total > 0])


def _first(model: HiddenMarkovModel, node: _Node) -> dict[tuple[int, ...], FloatArray]:
    """The context of the word itself, with nothing before it, if it is possible."""
    joint = node.product @ model.start
    if not joint.any():
        return {}
    return {(*node.word, len(model.letters)): joint / joint.sum()}


def _middle(product: FloatArray) -> tuple[FloatArray, float]:
    """A law that is near to all columns made to sum to 1, and how far they are.

    The middle between the least and the largest entry is nearest; what it lacks to sum to
    1 is put where there is room, or else the middle is scaled.
    """
    total = product.sum(axis=0)
    columns = product[:, total > 0] / total[total > 0]
    low, high = columns.min(axis=1), columns.max(axis=1)
    radius = (high - low).max() / 2
    law = (high + low) / 2
    room = radius - (high - low) / 2
    lacks = 1 - law.sum()
    if room.sum() > abs(lacks):
        law = np.maximum(law + lacks * room / room.sum(), 0.0)
    law = law / law.sum()
    return law, float(np.abs(columns - law[:, None]).max())


def _list_contexts(
    leaves: dict[tuple[int, ...], FloatArray],
    inner: list[tuple[int, ...]],
    letters: int,
    error: float,
) -> Contexts:
    """The contexts as one array; what is impossible does as what is possible beside it."""
    width = max(map(len, leaves))
    numbers = np.full((letters + 1,) * width, -1)
    for number, word in enumerate(leaves):
        numbers[word] = number
    for word in sorted(inner, key=len, reverse=True):
        below = numbers[word]
        known = [i for i in range(letters + 1) if below[i].flat[0] >= 0]
        for i in range(letters + 1) if known else ():
            if below[i].flat[0] < 0:
                below[i] = below[known[0]]
    return Contexts(width, numbers, np.array(list(leaves.values())), error)


# How small the entries of products of operators are, that are not 0.
#
# All numbers are binary logarithms, estimates from below in float64. Words of few letters
# are multiplied out; longer ones are put together of these.


MOST_WORDS, LONGEST, FARTHEST = 2**10, 12, 900
"""Words of a length that are multiplied out, their letters, and how far entries of them
may be apart."""


class Sizes(NamedTuple):
    """Of products of 0, 1, …, T operators, and of these applied to the start.

    Attributes:
        least: ``(T + 1,)``: the least entry of a product that is not 0.
        share: ``(T + 1,)``: the same in units of the sum of its product.
        said: ``(T + 1,)``: the least entry of a vector that is not 0.
        part: ``(T + 1,)``: the same in units of the sum of its vector.
    """

    least: FloatArray
    share: FloatArray
    said: FloatArray
    part: FloatArray

    @classmethod
    def of(cls, letters: FloatArray, start: FloatArray, length: int) -> Self:
        """Those of operators ``(letters, n, n)`` whose columns add up to 1 at most.

        Where all products of k operators are positive in a rectangle and 0 elsewhere,
        a column of a longer one is a mean of columns of these, and a row one of rows. So
        what share an entry has of the sum is bounded for all lengths.
        """
        least, share = [0.0], [-np.log2(len(start))]
        vector_least, part = [_least(start)], [_least(start)]
        column = row = -np.inf
        alike = letters_until_rectangles(letters, length)
        for words in _words(letters, length):
            vectors = words @ start
            least.append(_least(words))
            share.append(_least(words / words.sum(axis=(1, 2), keepdims=True)))
            vector_least.append(_least(vectors))
            total = vectors.sum(axis=1, keepdims=True)
            part.append(_least(vectors[total[:, 0] > 0] / total[total[:, 0] > 0]))
            column = max(column, _alike(words))
            row = max(row, _alike(words.transpose(0, 2, 1)))
        known = len(least)
        for count in range(known, length + 1):
            parts = range(1, known)
            least.append(
                max((least[a] + least[count - a] for a in parts), default=-1e9)
            )
            vector_least.append(
                max((least[a] + vector_least[count - a] for a in parts), default=-1e9)
            )
            if alike is not None and count >= alike:
                column = max(column, least[alike])
                row = max(row, least[alike] - np.log2(len(start)))
            share.append(max(least[-1] - np.log2(len(start)), column + row))
            part.append(max(vector_least[-1], column))
        return cls(
            *(np.array(x[: length + 1]) for x in (least, share, vector_least, part))
        )

    def window(self, letters: int) -> tuple[float, float]:
        """The least entry and share of a product of so many operators.

        Or of fewer, applied to the start and written into each column.
        """
        size = 2.0 ** -self.share[0]
        beside = self.part[:letters].min() - np.log2(size)
        least = min(self.least[letters], self.said[:letters].min())
        return float(least), float(min(self.share[letters], beside))


def _words(letters: FloatArray, length: int) -> Iterator[FloatArray]:
    """The products of each length that are not 0, while they are few."""
    digits = -np.log2(letters[letters > 0].min(initial=1.0))
    words = np.eye(letters.shape[1])[None]
    for count in range(1, min(length, LONGEST) + 1):
        if len(words) * len(letters) > MOST_WORDS or count * digits > FARTHEST:
            return
        words = (words[:, None] @ letters).reshape(-1, *letters.shape[1:])
        words = words[words.any(axis=(1, 2))]
        yield words


def _least(numbers: FloatArray) -> float:
    return float(np.floor(np.log2(numbers[numbers > 0].min(initial=1.0))))


def _alike(words: FloatArray) -> float:
    """The least share of an entry in its column, if each word is a rectangle."""
    there = words > 0
    some = there.any(axis=2, keepdims=True) & there.any(axis=1, keepdims=True)
    if not len(words) or (there != some).any():
        return -np.inf
    total = words.sum(axis=1, keepdims=True)
    return _least(np.divide(words, total, out=np.zeros_like(words), where=total > 0))
