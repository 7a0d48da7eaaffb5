"""The length of the factors that must be counted, and the threshold of the counts."""

from itertools import product
from math import log2

import numpy as np

from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.classification.languages.language import Language
from krohn.algebra.semiautomaton import IntArray

# Numbers of counts are kept in 64 bits, with room for windows and states.
MOST_BITS = 55


def least_window(language: Language, budget: Budget) -> int:
    """The least k such that counts of factors of k letters, up to some number, decide.

    The words of k − 1 letters are the vertices of a graph, in which the letters lead
    from window to window. A path from u to v acts on the states that u leads to. Counts
    of edges decide, for a language whose monoid is aperiodic, exactly if pr·q and qr·p
    act alike for all paths p, q from u to v and r from v to u (Thérien, Weiss 1985).

    Args:
        language: A language that is locally threshold testable.
        budget: The most work.

    Raises:
        BudgetExceeded: If the paths act in too many ways.
    """
    k = 1
    while not _exchange(_Windows(language, k - 1, budget)):
        k += 1
    return k


class _Windows:
    """The graph of windows, and the maps by which its paths act.

    Attributes:
        rows: ``(letters, states)``: the machine.
        words: The windows.
        images: The states that each window leads to.
        paths: For each window u and v, the maps ``(paths, states of u)`` into states.
    """

    def __init__(self, language: Language, length: int, budget: Budget) -> None:
        self.rows = language.machine.transitions
        letters = len(self.rows)
        self.budget = budget
        self._spend(letters ** (length + 1))
        self.words = list(product(range(letters), repeat=length))
        number = {word: i for i, word in enumerate(self.words)}
        self.following = [
            [number[(*word, a)[1:]] for a in range(letters)]
            if length
            else [0] * letters
            for word in self.words
        ]
        self.images = [self._image(word) for word in self.words]
        self.paths = [self._from(u) for u in range(len(self.words))]

    def _spend(self, calls: int) -> None:
        self.budget.reserve("windows of letters", 0, calls)

    def _image(self, word: tuple[int, ...]) -> IntArray:
        states = np.arange(self.rows.shape[1])
        for letter in word:
            states = np.unique(self.rows[letter, states])
        return states

    def _from(self, u: int) -> list[IntArray]:
        found: list[dict[tuple[int, ...], None]] = [{} for _ in self.words]
        begin = tuple(self.images[u].tolist())
        found[u][begin] = None
        queue = [(u, begin)]
        for v, states in queue:
            for letter, row in enumerate(self.rows[:, list(states)].tolist()):
                after, then = self.following[v][letter], tuple(row)
                if then not in found[after]:
                    found[after][then] = None
                    queue.append((after, then))
            self._spend(len(self.rows))
        return [np.array(list(maps), dtype=np.int64) for maps in found]


def _exchange(windows: _Windows) -> bool:
    """Whether prq and qrp act alike for all paths p, q: u → v and r: v → u."""
    for u, v in product(range(len(windows.words)), repeat=2):
        there, back = windows.paths[u][v], windows.paths[v][u]
        windows.budget.reserve(
            "paths of windows",
            there.size * len(there) * len(back),
            len(there) * len(back),
        )
        there_at = np.searchsorted(windows.images[v], there)
        back_at = np.searchsorted(windows.images[u], back)
        for p, p_at in zip(there, there_at, strict=True):
            for r_at in back_at:
                pr, rp = r_at[p_at], p[r_at]
                if (there[:, pr] != rp[there_at]).any():
                    return False
    return True


def least_threshold(language: Language, k: int, budget: Budget) -> int:
    """The least t such that counts of factors of k letters up to t decide.

    All words are followed by the counts of their factors, up to t, their first and last
    k − 1 letters, and the state: no two states may have all of the others in common.

    Raises:
        BudgetExceeded: If there are too many combinations.
    """
    t = 1
    while _ambiguous(language, k, t, budget):
        t += 1
    return t


def _ambiguous(language: Language, k: int, t: int, budget: Budget) -> bool:
    """Whether words with equal counts and ends lead to different states."""
    letters = len(language.machine.letters)
    if letters**k * log2(t + 1) + log2(language.states) > MOST_BITS:
        raise BudgetExceeded(f"counts up to {t} of {letters**k} factors", t)
    return any(
        _meet(language, k, t, start, budget)
        for start in product(range(letters), repeat=k - 1)
    )


def _meet(
    language: Language, k: int, t: int, start: tuple[int, ...], budget: Budget
) -> bool:
    """The search for all words that begin with one word of k − 1 letters."""
    rows = language.machine.transitions
    letters, n = rows.shape
    windows = letters ** (k - 1)
    place = (t + 1) ** np.arange(letters**k, dtype=np.int64)
    state = language.start
    for letter in start:
        state = int(rows[letter, state])
    window = sum(a * letters**i for i, a in enumerate(reversed(start)))
    frontier = np.array([window * n + state])
    known = frontier
    while len(frontier):
        rest, at = np.divmod(frontier, n)
        counts, last = np.divmod(rest, windows)
        after = []
        for letter in range(letters):
            factor = last * letters + letter
            digit = counts // place[factor] % (t + 1)
            more = counts + np.where(digit < t, place[factor], 0)
            after.append((more * windows + factor % windows) * n + rows[letter, at])
        frontier = np.setdiff1d(np.concatenate(after), known)
        known = np.union1d(known, frontier)
        if len(np.unique(known // n)) < len(known):
            return True
        entries = 10 * (len(known) + letters * len(frontier))
        budget.reserve("combinations of counts", entries, 20 * letters)
    return False
