"""Strictly local, strictly piecewise and locally testable languages."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.classification import elements
from krohn.algebra.classification.findings import Findings
from krohn.algebra.classification.languages.language import (
    Language,
    Pairs,
    check_size,
    longest_walk,
)
from krohn.algebra.classification.properties import Property, Witness, spell
from krohn.algebra.monoid import IntegerRows, TransformationMonoid, compose

# Locally testable: which factors of a word occur, and how long they must be.


def locally_testable(
    findings: Findings, aperiodic: Property, budget: Budget
) -> Property:
    """The set of factors of k letters and the ends decide: LT_k.

    Holds for some k exactly if all local monoids eSe are semilattices. The least k by
    Simon's theorem on graphs (Brzozowski, Simon 1973; Eilenberg 1976): with F_j the
    elements of the words of j letters, L is LT_k exactly if

    * for f in F_{k−1}, the maps zf of the image of f, for all z in S¹, are idempotent
      and commute;
    * for words x = gh of fewer than k − 1 letters, and u the end of k − 1 letters of a
      power of x, uxx = ux.

    Docs/classes.md, theorem 2.
    """
    local = elements.locally_testable(findings)
    if local.holds is None and aperiodic.holds is False:
        return replace(aperiodic, name=local.name)
    if not local.holds:
        return local
    assert findings.monoid is not None
    try:
        k = _least(findings.monoid, budget)
    except BudgetExceeded as error:
        reason = f"{local.evidence}; the least k is not known ({error})"
        return Property(local.name, True, reason)
    reason = f"which factors of {k} letters occur, and the {k - 1} at each end, decides"
    return Property(local.name, True, reason, {"k": k})


def _least(monoid: TransformationMonoid, budget: Budget) -> int:
    """The least k of a locally testable language."""
    words = [np.zeros(1, dtype=np.int64)]
    while True:
        k = len(words)
        combined = sum(len(words[i]) ** 2 for i in range(k - 1))
        budget.reserve(f"windows of {k} letters", monoid.elements.shape[1] * combined)
        if _repeats(monoid, words) and _all_semilattices(monoid, words[-1], budget):
            return k
        words.append(np.unique(monoid.right[words[-1]]).astype(np.int64))


def _all_semilattices(
    monoid: TransformationMonoid, chosen: IntArray, budget: Budget
) -> bool:
    for f in chosen.tolist():
        budget.reserve("windows of letters", 10 * monoid.elements.size, 20)
        maps = _loops(monoid, f)
        budget.reserve("windows of letters", maps.size * maps.shape[1])
        if not _semilattice(maps):
            return False
    return True


def _loops(monoid: TransformationMonoid, f: int) -> IntArray:
    """``(maps, image of f)``: the maps zf of the image of f, by places in the image."""
    image = np.unique(monoid.elements[f])
    row = monoid.elements[f].astype(np.int64)
    maps = np.searchsorted(image, row[monoid.elements[:, image]])
    return np.asarray(np.unique(maps, axis=0), dtype=np.int64)


def _semilattice(maps: IntArray) -> bool:
    """Whether maps that are closed under composition are idempotent and commute.

    Idempotent maps that commute are determined by their images, and by their kernels.
    Conversely idempotent maps with one image are L-related, those with one kernel are
    R-related; if there are no such two, the band is J-trivial, and xy, yx are J-related.
    """
    if (compose(maps, maps) != maps).any():
        return False
    images = maps == np.arange(maps.shape[1])
    kernels = (maps[:, :, None] == maps[:, None, :]).argmax(axis=2)
    return all(len(np.unique(x, axis=0)) == len(maps) for x in (images, kernels))


def _repeats(monoid: TransformationMonoid, words: list[IntArray]) -> bool:
    """Whether uxx = ux for the words x that are shorter than the window u they fill."""
    window = len(words) - 1
    for length in range(1, window):
        times, rest = divmod(window, length)
        first, last = np.meshgrid(words[length - rest], words[rest], indexing="ij")
        g, h = (monoid.elements[i.ravel()].astype(np.int64) for i in (first, last))
        x: IntegerRows = compose(g, h)
        u: IntegerRows = h
        for _ in range(times + 1):
            u = compose(u, x)
        if (compose(u, x) != u).any():
            return False
    return True


# Strictly local and strictly piecewise: forbidden factors and subsequences.


BEGIN, END = "⋊", "⋉"
MOST_WORDS = 10_000
MOST_SHOWN = 5

Word = tuple[int, ...]


def strictly_local(language: Language, budget: Budget) -> Property:
    """Words without certain factors of at most k letters, their ends marked: SL_k.

    L is SL_k exactly if u₁xv₁, u₂xv₂ ∈ L and |x| = k − 1 imply u₁xv₂ ∈ L (suffix
    substitution; McNaughton, Papert 1971; De Luca, Restivo 1980). In the minimal
    machine: no word of k − 1 letters leads two states to two different states that are
    both live. Such pairs only become fewer as words grow; if they never end, a word
    keeps two different live states. Docs/classes.md, theorem 1.
    """
    name, live = "strictly local", language.live
    check_size(len(language.machine.letters), language.states)
    apart = live[:, None] & live & ~np.eye(language.states, dtype=bool)
    pairs = Pairs(language.machine.transitions, apart, budget)
    steps, endless = longest_walk(pairs)
    if endless is None:
        k = 1 if steps is None else steps + 2
        factors = list(islice(_forbidden_factors(language, k), MOST_SHOWN))
        reason = (
            f"factors of at most {k} letters, marked ends among them, are forbidden"
        )
        return Property(name, True, reason, {"k": k, "forbidden": factors})
    return Property(
        name,
        False,
        "two words that share a factor as long as you like are in the language, "
        "and the beginning of one with the end of the other is not",
        _crossing(language, pairs, *endless),
    )


def _crossing(
    language: Language, graph: Pairs, pair: tuple[int, int], kept: list[int]
) -> Witness:
    """Words u, v, u', v' with u·xⁿ·v and u'·xⁿ·v' in the language, u·xⁿ·v' not."""
    accepting = language.accepting
    assert accepting is not None
    wrong = accepting[None, :] & ~accepting[:, None]
    pairs = Pairs(language.machine.transitions, np.ones_like(wrong), graph.budget)
    end = pairs.word_to(pair, wrong)
    if end is None:
        pair = pair[1], pair[0]
        end = pairs.word_to(pair, wrong)
    assert end is not None, "states of a minimal machine accept different words"
    own = language.word(pair[0], accepting)
    assert own is not None
    machine = language.machine
    return {
        "factor": spell(machine, kept),
        "in": [
            [spell(machine, language.to(pair[0])), spell(machine, own)],
            [spell(machine, language.to(pair[1])), spell(machine, end)],
        ],
        "out": [spell(machine, language.to(pair[0])), spell(machine, end)],
    }


def _forbidden_factors(language: Language, k: int) -> Iterator[list[str]]:
    """Shortest factors that occur in no word, and of which every part occurs.

    A search by length, marked ends counting as letters; it ends after `MOST_WORDS`.
    """
    assert language.accepting is not None
    machine, tried = language.machine, 0
    queue: list[tuple[bool, Word]] = [(False, ()), (True, ())]
    if not _occurs(language, False, (), False):
        yield []
        return
    for begun, word in queue:
        room = k - begun - len(word)
        if room < 1:
            continue
        shown = [*([BEGIN] if begun else []), *spell(machine, word)]
        for letter in range(len(machine.letters)):
            tried += 1
            longer = (*word, letter)
            if _occurs(language, begun, longer, False):
                queue.append((begun, longer))
            elif _rest_occurs(language, begun, longer, False):
                yield [*shown, machine.letters[letter]]
        absent = not _occurs(language, begun, word, True)
        if absent and _rest_occurs(language, begun, word, True):
            yield [*shown, END]
        if tried > MOST_WORDS:
            return


def _rest_occurs(language: Language, begun: bool, word: Word, ended: bool) -> bool:
    """Whether the factor without its first letter, or its mark, occurs."""
    if begun:
        return _occurs(language, False, word, ended)
    return not word or _occurs(language, False, word[1:], ended)


def _occurs(language: Language, begun: bool, word: Word, ended: bool) -> bool:
    assert language.accepting is not None
    after = np.array([language.start]) if begun else np.arange(language.states)
    for letter in word:
        after = language.machine.transitions[letter][after]
    wanted = language.accepting if ended else language.live
    return bool(wanted[after].any())


def strictly_piecewise(language: Language, budget: Budget) -> Property:
    """Words without certain subsequences: closed under leaving out letters (SP).

    L is strictly piecewise exactly if uv ∈ L whenever uav ∈ L (Haines 1969; Rogers et
    al. 2010): each word that can follow q·a can follow q, for all states q and
    letters a. Then k is the length of the longest word outside L of which every proper
    subsequence is in L.
    """
    name = "strictly piecewise"
    accepting = language.accepting
    assert accepting is not None
    check_size(len(language.machine.letters), language.states)
    every = np.ones((language.states, language.states), dtype=bool)
    pairs = Pairs(language.machine.transitions, every, budget)
    worse = pairs.leading_to(accepting[:, None] & ~accepting)
    for letter, row in enumerate(language.machine.transitions):
        states = np.flatnonzero(worse[row, np.arange(language.states)])
        if len(states):
            return _not_closed(language, pairs, int(states[0]), letter)
    reason = "leaving out letters never leads out of the language"
    try:
        longest, shown = _forbidden_subsequences(language, budget)
    except BudgetExceeded as error:
        return Property(name, True, f"{reason}; the least k is not known ({error})")
    witness = {"k": max(longest, 1), "forbidden": shown}
    return Property(name, True, reason, witness)


def _not_closed(language: Language, pairs: Pairs, state: int, letter: int) -> Property:
    accepting, machine = language.accepting, language.machine
    assert accepting is not None
    start = int(machine.transitions[letter, state]), state
    end = pairs.word_to(start, accepting[:, None] & ~accepting)
    assert end is not None
    begin = language.to(state)
    return Property(
        "strictly piecewise",
        False,
        "a word of the language has a subsequence outside it",
        {
            "in": spell(machine, (*begin, letter, *end)),
            "out": spell(machine, (*begin, *end)),
        },
    )


def _forbidden_subsequences(
    language: Language, budget: Budget
) -> tuple[int, list[list[str]]]:
    """The length of the longest smallest word outside, and the shortest few of them.

    A search by length along the states q of a word together with the set of states of
    the words with one letter less: a word is smallest if q rejects and these accept. A
    letter that keeps one of them, or leads where a shorter word leads, can be left out.
    """
    accepting, machine = language.accepting, language.machine
    assert accepting is not None
    table = machine.transitions.tolist()
    outside: list[Word] = []
    level: dict[tuple[int, frozenset[int]], list[Word]]
    level = {(language.start, frozenset()): [()]}
    while level:
        budget.reserve("forbidden subsequences", 0, len(level) * len(table))
        for (state, _), words in level.items():
            outside += [] if accepting[state] else words
        longer: dict[tuple[int, frozenset[int]], list[Word]] = {}
        for ((state, less), words), (letter, row) in product(
            level.items(), enumerate(table)
        ):
            rest = frozenset(row[q] for q in less) | {state}
            if row[state] not in rest and accepting[list(rest)].all():
                known = longer.setdefault((row[state], rest), [])
                room = MOST_SHOWN - len(known)
                known += [(*word, letter) for word in words[:room]]
        level = longer
    shown = [spell(machine, word) for word in outside[:MOST_SHOWN]]
    return max(map(len, outside), default=0), shown
