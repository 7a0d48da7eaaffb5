"""Contexts: the last letters, as many as decide the belief nearly.

A window looks them up (Theorem W8b); a machine goes from one to the next (Theorem W8e).
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.program.domains import FloatArray, IntArray

MOST_BEFORE, MOST_COLUMNS = 10, 1024
"""Letters before a context, and beliefs after these, that are looked at."""
MOST_CONTEXTS, MOST_WINDOWS, MOST_ENTRIES = 4096, 200_000, 2**25
"""Contexts, words of the longest of them, letters before the first one included, and
entries of the products of contexts."""
ROOM = 0.998
"""How much of an error contexts may have: the checker knows less of what came before."""
LONGEST = 64
"""Letters of a context of a machine."""
NEAREST = 12
"""Contexts with which one is tried to be put together."""
Word = tuple[int, ...]
"""Letters, the last one first."""


class Suffixes:
    """Suffixes of words, one of which each word has: those that are split, and leaves.

    Attributes:
        model: The model.
        most: How many leaves there may be.
        inner: The suffixes that are split by the letter before, in this order.
        leaves: The others that may be possible; of each A_w up to a power of 2, and the
            least and the largest entry of the belief after it, whatever was before.
    """

    def __init__(self, model: HiddenMarkovModel) -> None:
        nothing = np.zeros(model.size)
        self.model = model
        self.most = min(MOST_CONTEXTS, MOST_ENTRIES // model.size**2)
        self.inner = dict[Word, None]()
        self.leaves: dict[Word, tuple[FloatArray, FloatArray, FloatArray]] = {
            (): (np.eye(model.size), nothing, nothing)
        }
        self._before = _before(model)
        self._queue: list[tuple[float, Word]] = [(-inf, ())]

    def least_certain(self) -> tuple[float, Word]:
        """How far a belief can be from what is said in a leaf, at most; and its letters."""
        while self._queue and self._queue[0][1] in self.inner:
            heapq.heappop(self._queue)
        radius, word = self._queue[0] if self._queue else (0.0, ())
        return -radius, word

    @property
    def error(self) -> float:
        """How far a belief can be from what is said in its leaf."""
        return self.least_certain()[0]

    @property
    def description(self) -> str:
        """How many leaves there are, and how long."""
        width = max(map(len, self.leaves), default=0)
        return f"{len(self.leaves)} contexts of up to {width} letters"

    def split(self, word: Word) -> None:
        """Split a leaf by the letter before it."""
        whole = self.leaves.pop(word)[0]
        self.inner[word] = None
        for letter, operator in enumerate(self.model.operators):
            product = whole @ operator
            if product.any():
                product = product / 2.0 ** np.floor(np.log2(product.max()))
                joint = product @ self._before
                total = joint.sum(axis=0)
                columns = joint[:, total > 0] / total[total > 0]
                low, high = columns.min(axis=1), columns.max(axis=1)
                before = (*word, letter)
                self.leaves[before] = product, low, high
                radius = _middle(low, high)[1]
                heapq.heappush(self._queue, (-radius, before))

    def split_factors(self, word: Word) -> None:
        """Split a leaf, and whatever its first letters are a leaf of.

        So a leaf and the next letter decide the next leaf: without its last letter, each
        suffix in the tree is one.
        """
        if word and word[1:] not in self.inner:
            self.split_factors(word[1:])
        self.split(word)


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


def _middle(low: FloatArray, high: FloatArray) -> tuple[FloatArray, float]:
    """A law that is near to all between two bounds, and how far they are.

    The middle between the least and the largest entry is nearest; what it lacks to sum to
    1 is put where there is room, or else the middle is scaled.
    """
    radius = (high - low).max() / 2
    law = (high + low) / 2
    room = radius - (high - low) / 2
    lacks = 1 - law.sum()
    if room.sum() > abs(lacks):
        law = np.maximum(law + lacks * room / room.sum(), 0.0)
    law = law / law.sum()
    return law, float(np.maximum(high - law, law - low).max())


# A window: a table of the last letters.


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


def contexts(model: HiddenMarkovModel, error: float) -> Contexts:
    """Contexts that say the belief within an error: the least certain grow first.

    They stop growing where there are too many; then their own error is larger.
    """
    size, suffixes = len(model.letters), Suffixes(model)
    first = dict[Word, FloatArray]()
    while suffixes.leaves:
        radius, word = suffixes.least_certain()
        few = (size + 1) ** (len(word) + 1) <= MOST_WINDOWS
        few &= len(first) + len(suffixes.leaves) < suffixes.most
        if suffixes.inner and (radius <= error or not few):
            break
        first |= _first(model, word, suffixes.leaves[word][0])
        suffixes.split(word)
    leaves = {word: _middle(*box)[0] for word, (_, *box) in suffixes.leaves.items()}
    inner = list(suffixes.inner)
    return _list_contexts(first | leaves, inner, size, suffixes.error)


def _first(
    model: HiddenMarkovModel, word: Word, product: FloatArray
) -> dict[Word, FloatArray]:
    """The context of the word itself, with nothing before it, if it is possible."""
    joint = product @ model.start
    if not joint.any():
        return {}
    return {(*word, len(model.letters)): joint / joint.sum()}


def _list_contexts(
    leaves: dict[Word, FloatArray], inner: list[Word], letters: int, error: float
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


# A machine of contexts: those that are near to each other become one state.


@dataclass(frozen=True)
class ContextMachine:
    """A machine whose state says the belief nearly, after every word.

    Attributes:
        following: ``(letters, states)``: where a letter leads from each state, the start
            being state 0; -1 where it is impossible.
        laws: ``(states, n)``: what is said.
    """

    following: IntArray
    laws: FloatArray


def grow_contexts(model: HiddenMarkovModel, error: float) -> Suffixes:
    """Contexts that say the belief within an error, and of which each decides the next.

    They stop growing where there are too many, or one is too long; then their own error is
    larger.
    """
    suffixes = Suffixes(model)
    while not suffixes.inner or (
        suffixes.error > error
        and len(suffixes.leaves) < suffixes.most
        and len(suffixes.least_certain()[1]) < LONGEST
    ):
        suffixes.split_factors(suffixes.least_certain()[1])
    return suffixes


def context_machine(suffixes: Suffixes, error: float) -> ContextMachine:
    """A machine of contexts; those that are within an error of a law become one state."""
    classes = _Classes(suffixes, error)
    for one, other in classes.pairs():
        classes.join(one, other)
    return classes.machine()


class _Classes:
    """States of a machine, put together so that letters lead from classes to classes.

    A state is a word that is split, with nothing before it, or else a leaf.

    Attributes:
        error: How far a belief may be from the middle of its class.
        above: Of each state one of its class, and itself of one in each class.
        letter: The last letter of each; a unit of a network stands for one.
        ways: Where each letter leads from one in each class.
        low: The least entries of beliefs of the class.
        high: The largest entries.
    """

    def __init__(self, suffixes: Suffixes, error: float) -> None:
        start = suffixes.model.start / suffixes.model.start.sum()
        number, words = dict[Word, int]({(): 0}), list[Word]([()])
        self.error, self.ways = error, list[IntArray]()
        self.low, self.high = [start], [start]
        for at, word in enumerate(words):
            row = np.full(len(suffixes.model.letters), -1)
            first = self.low[at] if word in suffixes.inner else None
            for letter, after, low, high in _followers(suffixes, word, first):
                if after not in number:
                    number[after] = len(words)
                    words.append(after)
                    self.low.append(low)
                    self.high.append(high)
                row[letter] = number[after]
            self.ways.append(row)
        self.above = list(range(len(words)))
        self.letter = [word[0] if word else -1 for word in words]

    def roots(self) -> list[int]:
        """One of each class."""
        return [i for i, above in enumerate(self.above) if i == above]

    def root(self, state: int) -> int:
        """The one of a state's class."""
        while self.above[state] != state:
            state = self.above[state]
        return state

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Pairs of classes that are near enough, the nearest first."""
        roots = np.array(self.roots())
        near = list[tuple[float, int, int]]()
        for letter in {self.letter[i] for i in roots.tolist()}:
            some = roots[[self.letter[i] == letter for i in roots.tolist()]].tolist()
            low, high = (np.array([x[i] for i in some]) for x in (self.low, self.high))
            for at, state in enumerate(some[:-1]):
                most, least = high[at], low[at]
                across = np.maximum(most, high[at + 1 :])
                across -= np.minimum(least, low[at + 1 :])
                size = across.max(axis=1)
                for other in np.argsort(size, kind="stable")[:NEAREST].tolist():
                    if size[other] <= 2 * self.error:
                        near.append((float(size[other]), state, some[at + 1 + other]))
        for _, one, other in sorted(near):
            yield one, other

    def join(self, one: int, other: int) -> None:
        """Put two classes together, and those that letters lead to, if all are near."""
        before, todo = list[tuple[int, int, FloatArray, FloatArray, IntArray]](), []
        todo.append((one, other))
        while todo:
            a, b = map(self.root, todo.pop())
            if a == b:
                continue
            low = np.minimum(self.low[a], self.low[b])
            high = np.maximum(self.high[a], self.high[b])
            near = self.letter[a] == self.letter[b]
            near = near and (high - low).max() <= 2 * self.error
            if not (near and _middle(low, high)[1] <= self.error):
                for a, b, low, high, ways in reversed(before):
                    self.above[b], self.ways[a] = b, ways
                    self.low[a], self.high[a] = low, high
                return
            mine, own = self.ways[a], self.ways[b]
            before.append((a, b, self.low[a], self.high[a], mine))
            self.above[b], self.ways[a] = a, np.where(mine >= 0, mine, own)
            self.low[a], self.high[a] = low, high
            both = (mine >= 0) & (own >= 0)
            todo += zip(mine[both].tolist(), own[both].tolist(), strict=True)

    def machine(self) -> ContextMachine:
        """The machine of the classes."""
        roots = self.roots()
        number = {root: i for i, root in enumerate(roots)} | {-1: -1}
        rows = [
            [number[self.root(q) if q >= 0 else -1] for q in self.ways[root].tolist()]
            for root in roots
        ]
        laws = [_middle(self.low[root], self.high[root])[0] for root in roots]
        return ContextMachine(np.array(rows).T, np.array(laws))


def _followers(
    suffixes: Suffixes, word: Word, first: FloatArray | None
) -> Iterator[tuple[int, Word, FloatArray, FloatArray]]:
    """The states that letters lead to, each with the bounds of its beliefs.

    Args:
        suffixes: The contexts.
        word: A leaf, or a word that is split.
        first: The belief after this word with nothing before it; None of a leaf.
    """
    for letter, operator in enumerate(suffixes.model.operators):
        after = (letter, *word)
        if first is not None:
            joint = operator @ first
            if not joint.any():
                continue
            if after in suffixes.inner:
                law = joint / joint.sum()
                yield letter, after, law, law
                continue
        ends = (after[:end] for end in range(1, len(after) + 1))
        leaf = next((end for end in ends if end in suffixes.leaves), None)
        if leaf is not None:
            yield letter, leaf, *suffixes.leaves[leaf][1:]
