"""Contexts: the last letters, as many as decide the belief nearly (Theorem W8b)."""

import heapq
from dataclasses import dataclass, field
from math import inf

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.sources.hidden_markov.model import HiddenMarkovModel

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
    def told(self) -> str:
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
    return _listed(leaves, inner, size, largest)


def _before(model: HiddenMarkovModel) -> FloatArray:
    """``(n, columns)``: the beliefs before a context are combinations of these.

    They are those after a few more letters, or after few letters from the start.
    """
    columns, first = np.eye(model.size), model.start[:, None]
    found = list[FloatArray]()
    for _ in range(MOST_BEFORE):
        if columns.shape[1] * len(model.letters) > MOST_COLUMNS:
            break
        found.append(first)
        columns, first = (_applied(model, each) for each in (columns, first))
    return np.hstack([*found, columns])


def _applied(model: HiddenMarkovModel, columns: FloatArray) -> FloatArray:
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


def _listed(
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
