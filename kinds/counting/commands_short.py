"""Counting programs that are as short as people write them: a search, small ones first.

A formula is a flag for each word. Formulas that agree on all words of a sample are one
candidate; the sample grows by every word on which a program that was found is wrong.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.classification.languages.language import language_of
from krohn.kinds.counting.commands import (
    affordable_pairs,
    derive_program,
)
from krohn.kinds.counting.commands_words import Answer, compare_words
from krohn.kinds.counting.source import (
    Builder,
    Comparison,
    CountingProgram,
    Formula,
    Junction,
    Letter,
    Negation,
)
from krohn.kinds.counting.source_program import (
    Counts,
    parts,
)
from krohn.kinds.counting.source_samples import (
    Sample,
    cover,
    first_sample,
)
from krohn.kinds.counting.source_systems import explore, systems_of
from krohn.program.domains import BoolArray, IntArray

DEEPEST = 4
"""How deep counts are nested in what is looked for."""
FORMULAS, DECISIVE = 250, 100
"""Formulas of each depth that are counted, the shortest ones; of those that decide."""
DIFFERENCES = (12, 12, 8, 8)
"""Of so many formulas of each depth, the shortest ones, counts are compared."""
JOINED = 120
"""Formulas that are joined in pairs."""
ROUNDS = 12
"""How often a word that was found wrong begins the search anew."""
CHECKED_LETTERS, CHECKED_PAIRS = 40, 100_000
"""Words that a program is tried on: their letters, and memories that they lead to."""


class Candidate(NamedTuple):
    """A formula of the search.

    Attributes:
        cost: Letters, comparisons and junctions, each as often as it is written.
        holds: ``(words,)``: where it holds.
        build: Makes it of a builder, and says its number there.
    """

    cost: int
    holds: BoolArray
    build: Callable[[Builder], int]


@dataclass
class Search:
    """Formulas by their depth, each once by what it says of the sample's words.

    Attributes:
        sample: The words.
        long: A program of the language, perhaps a long one.
        known: The cheapest candidates, by what they say, one bit for each word.
    """

    sample: Sample
    long: CountingProgram
    known: dict[bytes, Candidate] = field(default_factory=dict)

    def find_formula(self) -> Candidate:
        """A formula that says what is accepted, with least nesting.

        If none is found, the long program, each part of it as short as it is known.
        """
        wanted = self.sample.membership
        letters = counted = literals = self._of_letters()
        for depth in range(min(DEEPEST, self.long.depth) + 1):
            new = self._new(self._comparisons(counted, depth)) if depth else []
            literals = sorted([*literals, *new], key=_cost)
            made = self._combination(literals, wanted)
            if made is not None:
                return made
            known = self._of_parts()
            few = [
                c
                for c, deep in zip(known, self.long.depths, strict=True)
                if deep <= depth
            ]
            # What only this depth says is counted too, though less deep ones are shorter.
            here = product(letters, new[:FORMULAS])
            deep = sorted((_pair(*pair, True) for pair in here), key=_cost)
            counted = self._join_pairs(literals) + self._decisive(literals)
            counted += self._new(deep[:FORMULAS]) + self._new(few)
        return self._of_parts()[self.long.output]

    def _new(self, made: Iterable[Candidate]) -> list[Candidate]:
        """The cheapest of those that say the same, if nothing before did so."""
        candidates = list[Candidate]()
        for candidate in sorted(made, key=_cost):
            key = np.packbits(candidate.holds).tobytes()
            if key not in self.known:
                self.known[key] = candidate
                candidates.append(candidate)
        return candidates

    def _of_parts(self) -> list[Candidate]:
        """The formulas of the long program, each by the cheapest that says the same."""
        letters = self.long.letters.index
        first = np.array([letters(n[0]) for n in self.sample.language.alike])
        here = first[np.array(self.sample.letter)]
        candidates = list[Candidate]()

        def total(counts: Counts, held: list[BoolArray]) -> IntArray:
            each = self.sample.counts(np.array([held[i] for i, _ in counts]))
            return np.asarray([k for _, k in counts] @ each.astype(np.int64))

        truths = self.long.values(here, total)
        for formula, holds in zip(self.long.formulas, truths, strict=True):
            read = [candidates[i] for i in parts(formula)]
            cost = 1 + sum(c.cost for c in read)
            build = partial(_copy, formula=formula, read=read)
            made = Candidate(cost, np.asarray(holds), build)
            key = np.packbits(holds).tobytes()
            candidates.append(min(self.known.get(key, made), made, key=_cost))
        return candidates

    def _of_letters(self) -> list[Candidate]:
        """Sets of letters: all, or small ones and their complements."""
        alike, last = self.sample.language.alike, np.array(self.sample.letter)
        every = frozenset(range(len(alike)))
        most = len(every) if len(every) < 5 else 1 + (len(every) < 9)
        small = [s for n in range(most + 1) for s in combinations(sorted(every), n)]
        candidates = list[Candidate]()
        for some in small:
            names = [name for a in some for name in alike[a]]
            for holds in (True, False):
                candidates.append(
                    Candidate(
                        len(some) + (not holds) + (not some),
                        np.isin(last, some) == holds,
                        partial(_of_names, names=names, holds=holds),
                    )
                )
        return self._new(candidates)

    def _comparisons(self, counted: list[Candidate], depth: int) -> Iterator[Candidate]:
        """Comparisons of counts, and of differences of two counts, with numbers."""
        counts = self.sample.counts(np.array([c.holds for c in counted]))
        for one, count in zip(counted, counts, strict=True):
            yield from _compare_sum([(one, 1)], count, range(9 if depth == 1 else 3))
        factors = [(1, 1), (1, 2), (2, 1), (1, 3), (3, 1)] if depth == 1 else [(1, 1)]
        near = range(-4, 5) if depth == 1 else range(-1, 2)
        several = [*zip(counted, counts, strict=True)][: DIFFERENCES[depth - 1]]
        for (one, first), (other, second) in combinations(several, 2):
            for k, less in factors:
                terms = [(one, k), (other, -less)]
                yield from _compare_sum(terms, k * first - less * second, near)

    def _join_pairs(self, literals: list[Candidate]) -> list[Candidate]:
        """Candidates to be counted at the next depth: formulas, and pairs of them."""
        pairs = sorted(
            combinations(literals[:JOINED], 2), key=lambda p: p[0].cost + p[1].cost
        )[: 8 * FORMULAS]
        made = (_pair(*pair, every) for pair in pairs for every in (True, False))
        return sorted([*literals, *self._new(made)], key=_cost)[:FORMULAS]

    def _decisive(self, literals: list[Candidate]) -> list[Candidate]:
        """Formulas, and pairs, that only hold where all is decided for ever.

        None of the words that go on is accepted; or all are.
        """
        language, state = self.sample.language, np.array(self.sample.state)
        assert language.accepting is not None
        other = replace(language, accepting=~language.accepting)
        tried, candidates = literals[: 4 * FORMULAS], list[Candidate]()
        every = np.array([c.holds for c in tried])
        costs = np.array([c.cost for c in tried])
        for open_states in (language.live, other.live):
            rows = every[:, open_states[state]].astype(np.float32)
            alone = np.asarray(~rows.any(axis=1))
            candidates += [tried[i] for i in np.flatnonzero(alone).tolist()][:DECISIVE]
            apart = np.triu(rows @ rows.T == 0, 1) & ~alone & ~alone[:, None]
            first, second = np.nonzero(apart)
            cheap = np.argsort(costs[first] + costs[second], kind="stable")
            pairs = ((tried[first[i]], tried[second[i]]) for i in cheap[: 4 * FORMULAS])
            made = (_pair(*pair, True) for pair in pairs)
            candidates += self._new(c for c in made if c.holds.any())[:DECISIVE]
        return candidates

    def _combination(
        self, literals: list[Candidate], wanted: BoolArray
    ) -> Candidate | None:
        """The cheapest junction of formulas, and of pairs of them, that is wanted."""
        exact = [c for c in literals if (c.holds == wanted).all()]
        if exact:
            return exact[0]
        best: Candidate | None = None
        for every in (True, False):
            # Where all must hold each is true; where one must hold each is false.
            fixed = wanted == every
            able = [c for c in literals if np.equal(c.holds, every)[fixed].all()]
            able += self._clauses(literals, fixed, every)
            able = sorted(able, key=_cost)[: 4 * FORMULAS]
            if not able:
                continue
            sets = np.array([c.holds != every for c in able])[:, ~fixed]
            costs = [c.cost + 1 for c in able]
            chosen = cover(sets, costs, best.cost - 1 if best else 10**6)
            if chosen is not None:
                cost, some = sum(costs[i] for i in chosen), [able[i] for i in chosen]
                build = partial(_junction, candidates=some, every=every)
                best = Candidate(cost, wanted, build)
        return best

    def _clauses(
        self, literals: list[Candidate], fixed: BoolArray, every: bool
    ) -> Iterator[Candidate]:
        """Pairs that are as they must be, though neither is so alone."""
        alone = [c for c in literals if (np.not_equal(c.holds, every)[fixed]).any()]
        for one, other in combinations(alone[:JOINED], 2):
            made = _pair(one, other, not every)
            if np.equal(made.holds, every)[fixed].all():
                yield made


def _cost(candidate: Candidate) -> int:
    return candidate.cost


def _of_names(builder: Builder, names: list[str], holds: bool) -> int:
    here = builder.some(*map(builder.letters.index, names))
    return here if holds else builder.no(here) if names else builder.every()


def _pair(one: Candidate, other: Candidate, every: bool) -> Candidate:
    """Two formulas that both hold, or one of which holds."""
    holds = one.holds & other.holds if every else one.holds | other.holds
    build = partial(_junction, candidates=[one, other], every=every)
    return Candidate(one.cost + other.cost + 1, holds, build)


def _copy(builder: Builder, formula: Formula, read: list[Candidate]) -> int:
    """A formula of another program, of other parts."""
    match formula:
        case Letter(letter):
            return letter
        case Negation():
            return builder.no(read[0].build(builder))
        case Junction(every, _):
            return _junction(builder, read, every)
        case Comparison(counts, least, most):
            factors = [k for _, k in counts]
            terms = [*zip(read, factors, strict=True)]
            return _build_comparison(builder, terms, least, most, inside=True)


def _junction(builder: Builder, candidates: list[Candidate], every: bool) -> int:
    join = builder.every if every else builder.some
    return join(*(c.build(builder) for c in candidates))


def _build_comparison(
    builder: Builder,
    terms: list[tuple[Candidate, int]],
    least: int | None,
    most: int | None,
    inside: bool,
) -> int:
    factors = dict[int, int]()
    for candidate, k in terms:
        number = candidate.build(builder)
        factors[number] = factors.get(number, 0) + k
    formula = builder.sum_between(factors, least, most)
    return formula if inside else builder.no(formula)


def _compare_sum(
    terms: list[tuple[Candidate, int]], total: IntArray, numbers: range
) -> Iterator[Candidate]:
    """Comparisons of a sum with numbers, but for those that hold always or never."""
    cost = sum(c.cost + abs(k) for c, k in terms)
    for number in numbers:
        more, up, down = cost + abs(number) // 2, total >= number, total <= number
        between = [
            (more, number, None, up),
            (more, None, number, down),
            (more, number, number, up & down),
            *(
                (more + 2, number, above, up & (total <= above))
                for above in range(number + 1, numbers.stop)
            ),
        ]
        for size, least, most, holds in between:
            if holds.any() and not holds.all():
                ends = partial(_build_comparison, terms=terms, least=least, most=most)
                inside = partial(ends, inside=True)
                yield Candidate(size, holds, inside)
                if None not in (least, most):
                    outside = partial(ends, inside=False)
                    yield Candidate(size + 1, ~holds, outside)


def short_program(machine: Automaton, long: CountingProgram) -> CountingProgram:
    """A program with least nesting among those that are looked for.

    It accepts what the machine does on all words of up to some length; whether it does
    on all words is asked by `krohn.kinds.counting.commands_words.compare_words`.

    Args:
        machine: It states which words it accepts.
        long: A program that accepts the same words, which is returned if no other is found.
    """
    language = language_of(machine)
    sample = first_sample(language)
    place = {name: a for a, names in enumerate(language.alike) for name in names}
    for _ in range(ROUNDS):
        candidate = Search(sample, long).find_formula()
        builder = Builder(machine.letters)
        program = builder.program(machine.name, candidate.build(builder))
        systems = systems_of(machine, program, "equal")
        wrong = explore(
            *systems, "equal", CHECKED_LETTERS, lambda done, total: None, CHECKED_PAIRS
        ).word
        if wrong is None:
            return program
        sample.add(place[machine.letters[a]] for a in wrong)
    return long


class Shallowest(NamedTuple):
    """How deep counts must be nested in every program of a language.

    Attributes:
        depth: 0, 1 or 2: at least so deep.
        words: A word of the language, and another one that no program of less depth
            tells from it; None of depth 0.
    """

    depth: int
    words: tuple[tuple[str, ...], tuple[str, ...]] | None


def shallowest(machine: Automaton) -> Shallowest:
    """A bound from below for the depth of all programs (docs/kinds/counting.md).

    Without counts a program knows the last letter alone. With counts of letters it knows
    how often each letter is there, and the last one.
    """
    sample = first_sample(language_of(machine))
    for depth, any_before in ((2, False), (1, True)):
        pair = sample.alike(any_before)
        if pair is not None:
            names = sample.language.machine.letters
            words = (tuple(names[a] for a in sample.word(at)) for at in pair)
            return Shallowest(depth, (next(words), next(words)))
    return Shallowest(0, None)


def proved_program(
    machine: Automaton,
    length: int,
    effort: str | float,
    progress: Callable[[int, int], None],
) -> tuple[CountingProgram, Answer]:
    """A short program of a language that is proved, else the one of Theorem 7.

    Args:
        machine: It states which words it accepts.
        length: Words of up to so many letters are compared one by one.
        effort: What deriving it may take.
        progress: Called with letters done and in all.

    Raises:
        KrohnError: If the language is not in C-RASP, or that takes too long to find out.
    """
    long = derive_program(machine, effort)
    for program in dict.fromkeys((short_program(machine, long), long)):
        answer = compare_words(
            machine,
            program,
            length,
            every_length=True,
            most=affordable_pairs(program),
            progress=progress,
        )
        if answer.verdict == "verified":
            break
    return program, answer
