"""Piecewise testable languages, and languages without a flip-flop."""

import numpy as np

from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.classification.digraph import (
    components,
    j_trivial,
    restricted_transitions,
)
from krohn.algebra.classification.languages.language import Language, Pairs, check_size
from krohn.algebra.classification.properties import Property, Witness, call, spell
from krohn.algebra.wording import count

# Piecewise testable: which subsequences of a word occur, and how long they must be.


Ranks = tuple[int, ...]
Pair = tuple[int, int]


def piecewise_testable(language: Language, budget: Budget) -> Property:
    """The set of subsequences of at most k letters decides: PT_k (Simon 1975).

    Holds for some k exactly if the syntactic monoid is J-trivial. For the least k let
    r(x, a) be the largest i such that x and xa have the same subsequences of at most i
    letters, and l(a, y) the same for y and ay. Then xy and xay have the same ones of at
    most k letters exactly if r(x, a) + l(a, y) ≥ k, and if two words have the same
    ones, steps that insert or leave out one letter lead from one to the other without
    leaving their class (Simon; Lothaire 1983, chapter 6). So the least k is the largest
    r(x, a) + l(a, y) + 1 for which xy and xay lead to different states. Docs/classes.md,
    theorem 3.
    """
    name = "piecewise testable"
    trivial = j_trivial(language.machine)
    if not trivial.holds:
        return Property(name, False, trivial.evidence, trivial.witness)
    try:
        k, states = _least(language, budget)
    except BudgetExceeded as error:
        reason = f"{trivial.evidence}; the least k is not known ({error})"
        return Property(name, True, reason)
    reason = f"which subsequences of at most {count(k, 'letter')} occur decides"
    return Property(name, True, reason, {"k": k, "states": states})


def _least(language: Language, budget: Budget) -> tuple[int, list[str]]:
    """The least k, and two states that only subsequences of k letters tell apart."""
    search = _Ranks(language, budget)
    right, left = search.right(), search.separating_ranks()
    best, states = 1, list[str]()
    for (state, letter), rank in sorted(right.items()):
        after = search.rows[letter][state]
        k = 1 + rank + max(ranks[letter] for ranks in left[state, after])
        if k > best or not states:
            best = k
            states = [language.machine.states[q] for q in (state, after)]
    return best, states


class _Ranks:
    """The largest vectors (r(x, a))_a of the words x that lead to a state, and mirrored.

    After a letter c, r(xc, c) = r(x, c) + 1 and r(xc, a) = min(r(x, a), r(x, c) + 1) for
    the other letters a; larger vectors lead to larger ones, so that the largest ones are
    enough. Repeating the letters of a set B that keep the state makes their ranks as
    large as one likes, and cuts the others at 1 + min over B; only sets of the letters
    with the largest ranks need be tried. Ranks above the number of states do not matter,
    since k is at most that (Klíma, Polák 2013).
    """

    def __init__(self, language: Language, budget: Budget) -> None:
        machine = language.machine
        self.budget = budget
        self.start = language.start
        self.states = language.states
        self.letters = [
            a for a in range(len(machine.letters)) if not language.neutral[a]
        ]
        self.rows: list[list[int]] = machine.transitions.tolist()
        self.most = self.states + 1
        self.zero = (0,) * len(machine.letters)
        self.order = self._order()

    def right(self) -> dict[Pair, int]:
        """The largest r(x, a) for each state of a word x and letter a that changes it."""
        at: dict[int, set[Ranks]] = {self.start: {self.zero}}
        best: dict[Pair, int] = {}
        for state in self.order:
            moving = [a for a in self.letters if self.rows[a][state] != state]
            still = [a for a in self.letters if self.rows[a][state] == state]
            for ranks in self._spun(at.pop(state, set()), still):
                for a in moving:
                    best[state, a] = max(best.get((state, a), 0), ranks[a])
                    at.setdefault(self.rows[a][state], set()).add(
                        self._ranks_after(ranks, a)
                    )
        return best

    def separating_ranks(self) -> dict[Pair, set[Ranks]]:
        """The largest (l(a, y))_a of the words y that lead a pair to different states."""
        wanted = self._pairs()
        separating: dict[Pair, set[Ranks]] = {}
        for pair in wanted:
            moved = [(a, self._after(pair, a)) for a in self.letters]
            vectors = {self.zero}
            for a, after in moved:
                if after != pair and after[0] != after[1]:
                    vectors |= {
                        self._ranks_after(ranks, a) for ranks in separating[after]
                    }
            still = [a for a, after in moved if after == pair]
            separating[pair] = self._spun(vectors, still)
        return separating

    def _after(self, pair: Pair, letter: int) -> Pair:
        return self.rows[letter][pair[0]], self.rows[letter][pair[1]]

    def _pairs(self) -> list[Pair]:
        """The pairs that a letter makes of a state, and all that follow, backwards."""
        place = {state: i for i, state in enumerate(self.order)}
        first = {(q, self.rows[a][q]) for q in self.order for a in self.letters}
        queue = sorted(pair for pair in first if pair[0] != pair[1])
        seen = set(queue)
        for pair in queue:
            for a in self.letters:
                after = self._after(pair, a)
                if after[0] != after[1] and after not in seen:
                    self._keep(1)
                    seen.add(after)
                    queue.append(after)
        return sorted(seen, key=lambda p: (-place[p[0]] - place[p[1]], p))

    def _order(self) -> list[int]:
        """The states, each before the states that it leads to."""
        ahead = [0] * self.states
        for row in self.rows:
            for state, after in enumerate(row):
                ahead[after] += after != state
        queue = [q for q in range(self.states) if not ahead[q]]
        for state in queue:
            for row in self.rows:
                ahead[row[state]] -= row[state] != state
                if row[state] != state and not ahead[row[state]]:
                    queue.append(row[state])
        return queue

    def _ranks_after(self, ranks: Ranks, letter: int) -> Ranks:
        cut = min(ranks[letter] + 1, self.most)
        return tuple(
            cut if a == letter else min(rank, cut) for a, rank in enumerate(ranks)
        )

    def _spun(self, vectors: set[Ranks], still: list[int]) -> set[Ranks]:
        """The largest vectors after any words over the letters that keep the state."""
        spun = set(vectors)
        for ranks in vectors:
            for least in {ranks[a] for a in still}:
                inside = {a for a in still if ranks[a] >= least}
                spun.add(
                    tuple(
                        self.most if a in inside else min(rank, least + 1)
                        for a, rank in enumerate(ranks)
                    )
                )
            self._keep(1 + len(still) + len(spun))
        return _largest(spun)

    def _keep(self, more: int) -> None:
        self.budget.reserve("the ranks of letters", 0, more)


def _largest(vectors: set[Ranks]) -> set[Ranks]:
    """The vectors that no other one dominates."""
    maximal: list[Ranks] = []
    for ranks in sorted(vectors, reverse=True):
        if not any(
            all(a <= b for a, b in zip(ranks, other, strict=True)) for other in maximal
        ):
            maximal.append(ranks)
    return set(maximal)


# Flip-flops that a machine can write for ever, and the languages without one.


def no_flip_flop(language: Language, budget: Budget) -> Property:
    """No two idempotents of the monoid are R-related: R∘G.

    Equivalently, no words x and y lead two different states p and q both to p, and both
    to q: a flip-flop that can be written for ever (docs/proofs/classes.md, 6). The
    states are in one strongly connected component, so each is searched alone.
    """
    name, machine = "R∘G", language.machine
    label = components(machine)
    for number in np.flatnonzero(np.bincount(label) > 1).tolist():
        states = np.flatnonzero(label == number)
        check_size(len(machine.letters), len(states))
        rows = restricted_transitions(machine, states)
        pairs = Pairs(rows, np.ones((len(states), len(states)), dtype=bool), budget)
        pair = _flip_flop(pairs)
        if pair is not None:
            reason = "one word leads two states to the first, another to the second"
            words = [spell(machine, _reset(pairs, pair, end)) for end in pair]
            names = call(machine, states[list(pair)])
            witness: Witness = {"states": names, "resets": words}
            return Property(name, False, reason, witness)
    reason = "no two words write different states over the same two states"
    return Property(name, True, reason)


def _flip_flop(pairs: Pairs) -> tuple[int, int] | None:
    """Two states that words lead both to the first, and both to the second.

    A set of bits for each pair says at which states words make its two ends meet; sets
    grow against the letters until they stay.
    """
    n, letters = pairs.states, len(pairs.after)
    width, bit, first = -(-n // 8), np.arange(n), np.repeat(np.arange(n), n)
    meeting = np.zeros((n * n + 1, width), dtype=np.uint8)
    meeting[bit * (n + 1), bit // 8] = 1 << bit % 8
    while True:
        words = pairs.after.size * width // 8
        pairs.budget.reserve("a search through pairs of states", words, 2 * letters)
        grown = meeting.copy()
        for after in pairs.after:
            # A pair that leaves the component has −1 here: the last row, which is empty.
            grown[:-1] |= meeting[after]
        bits = grown[np.arange(n * n), first // 8] >> first % 8 & 1
        writes = bits.reshape(n, n).astype(bool)
        both = np.argwhere(writes & writes.T & ~np.eye(n, dtype=bool))
        if len(both):
            return int(both[0, 0]), int(both[0, 1])
        apart = pairs.nodes % (n + 1) != 0
        if np.array_equal(grown, meeting) or not grown[:-1][apart].any():
            return None
        meeting = grown


def _reset(pairs: Pairs, pair: tuple[int, int], end: int) -> list[int]:
    """A word that leads both states to one of them."""
    wanted = np.zeros((pairs.states, pairs.states), dtype=bool)
    wanted[end, end] = True
    return pairs.word_to(pair, wanted) or []


def aperiodic_without_flip_flop(
    aperiodic: Property, free: Property, rasp: Property
) -> Property:
    """Aperiodic, and no two idempotents of the monoid are R-related: R∞."""
    if rasp.holds:
        return Property("R∞", True, f"it is in C-RASP: {rasp.evidence}")
    for condition in (free, aperiodic):
        if condition.holds is not True:
            return Property(
                "R∞", condition.holds, condition.evidence, condition.witness
            )
    return Property("R∞", True, f"{free.evidence}, and {aperiodic.evidence}")
