"""Samples of words that tell programs of a language apart, and covers of their parts."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from krohn.algebra.classification.languages.language import Language
from krohn.program.domains import BoolArray, IntArray

MOST_WORDS = 3_000
"""Words in the first sample that are all words up to some length."""
WALKS, STEPS = 60, 20
"""Words by chance that can still be accepted, and their letters."""
CLAUSES, BRANCHES = 4, 20_000
"""Sets of a cover at most; steps of a search for them."""


@dataclass
class Sample:
    """Words, with all words that begin them, by a tree.

    Attributes:
        language: The language that is asked.
        parent: For each word the number of the word without its last letter, or -1.
        letter: The last letter of each.
        state: The state of the machine after each.
    """

    language: Language
    parent: list[int] = field(default_factory=list)
    letter: list[int] = field(default_factory=list)
    state: list[int] = field(default_factory=list)
    known: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(self, word: Iterable[int]) -> None:
        """A word, and all that begin it."""
        at, state = -1, self.language.start
        for letter in word:
            state = int(self.language.machine.transitions[letter, state])
            if (at, letter) not in self.known:
                self.known[at, letter] = len(self.parent)
                self.parent.append(at)
                self.letter.append(letter)
                self.state.append(state)
            at = self.known[at, letter]

    def word(self, at: int) -> tuple[int, ...]:
        """The letters of a word."""
        letters = list[int]()
        while at >= 0:
            letters.append(self.letter[at])
            at = self.parent[at]
        return tuple(reversed(letters))

    @property
    def membership(self) -> BoolArray:
        """``(words,)``: which words the language has."""
        assert self.language.accepting is not None
        return np.asarray(self.language.accepting[np.array(self.state)])

    def counts(self, holds: BoolArray) -> IntArray:
        """``(formulas, words)``: how often each formula held so far."""
        here = holds.T.astype(np.int16)
        counts = np.zeros((len(here) + 1, len(holds)), np.int16)
        for at, parent in enumerate(self.parent):
            counts[at] = counts[parent] + here[at]
        return np.ascontiguousarray(counts[:-1].T)

    def alike(self, ordered: bool) -> tuple[int, int] | None:
        """Two words that end alike, of which one is accepted.

        Args:
            ordered: They may have different letters before; otherwise each letter as
                often.
        """
        letters = len(self.language.machine.letters)
        last = np.array(self.letter)
        keys = last[None]
        if not ordered:
            keys = np.vstack([keys, self.counts(last == np.arange(letters)[:, None])])
        order = np.lexsort(keys)
        same = (keys[:, order[1:]] == keys[:, order[:-1]]).all(axis=0)
        says = self.membership[order]
        differs = np.flatnonzero(same & (says[1:] != says[:-1]))
        if not len(differs):
            return None
        lengths = self.counts(np.ones((1, len(last)), bool))[0]
        first = min(differs.tolist(), key=lambda i: (lengths[order[i]], i))
        one, other = int(order[first]), int(order[first + 1])
        return (one, other) if says[first] else (other, one)


def first_sample(language: Language) -> Sample:
    """All words up to some length, and some long ones that can still be accepted."""
    sample = Sample(language)
    letters = len(language.machine.letters)
    level: list[tuple[int, ...]] = [()]
    while level and len(sample.parent) + letters * len(level) <= MOST_WORDS:
        level = [(*word, a) for word in level for a in range(letters)]
        for word in level:
            sample.add(word)
    random = np.random.default_rng(0)
    moves, live = language.machine.transitions, language.live
    for _ in range(WALKS):
        state, walk = language.start, list[int]()
        while len(walk) < STEPS and live[moves[:, state]].any():
            walk.append(int(random.choice(np.flatnonzero(live[moves[:, state]]))))
            state = int(moves[walk[-1], state])
        sample.add(walk)
    return sample


# Covers: the cheapest few of some sets whose union is all.


def cover(sets: BoolArray, costs: list[int], limit: int) -> list[int] | None:
    """The cheapest few sets that cover all places together.

    Only some places are asked for; a place that these sets leave out is asked for next.

    Args:
        sets: ``(sets, places)``: which places each has.
        costs: Of each set, in ascending order.
        limit: What they may cost together.

    Returns:
        Their numbers; None if there are none, or too many steps were needed.
    """
    if not sets.any(axis=0).all():
        return None
    asked, chosen = list[int](), list[int]()
    left = np.arange(sets.shape[1])
    while len(left):
        # The place that fewest sets have decides most.
        asked.append(int(left[sets[:, left].sum(axis=0).argmin()]))
        cheapest = dict[int, int]()
        for number, row in enumerate(sets[:, asked].tolist()):
            mask = sum(1 << i for i, has in enumerate(row) if has)
            cheapest.setdefault(mask, number)
        rows = [(mask, costs[n], n) for mask, n in cheapest.items() if mask]
        best = _cheapest(rows, len(asked), limit)
        if best is None:
            return None
        chosen = best
        left = np.flatnonzero(~sets[chosen].any(axis=0))
    return chosen


def _cheapest(
    rows: list[tuple[int, int, int]], places: int, limit: int
) -> list[int] | None:
    """The cheapest few sets, as bits with costs and numbers, that have all places."""
    kept = [
        (mask, cost, number)
        for mask, cost, number in rows
        if not any(mask | m == m and (c, n) < (cost, number) for m, c, n in rows)
    ]
    having = [[row for row in kept if row[0] >> i & 1] for i in range(places)]
    best, steps = list[int](), 0

    def search(left: int, chosen: list[int], cost: int) -> None:
        nonlocal best, limit, steps
        if not left:
            best, limit = chosen, cost - 1
            return
        steps += 1
        if len(chosen) == CLAUSES or steps > BRANCHES:
            return
        able = min((having[i] for i in range(places) if left >> i & 1), key=len)
        for mask, price, number in able:
            if cost + price > limit:
                break
            search(left & ~mask, [*chosen, number], cost + price)

    search((1 << places) - 1, [], 0)
    return best or None
