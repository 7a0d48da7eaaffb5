"""Counting programs (C-RASP): Boolean formulas of letters and of counts of prefixes.

Yang and Chiang (2024) define the language: a formula holds or not at each position of a
word; a count says at how many positions so far a formula held; formulas compare sums of
counts. Here every formula of a program has a number, and reads formulas of smaller
ones.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import gcd

import numpy as np

from krohn.program.domains import BoolArray, IntArray
from krohn.program.errors import demand
from krohn.program.word_texts import join_letters

Names = tuple[tuple[str, int], ...]
Counts = tuple[tuple[int, int], ...]
"""A sum of counts: numbers of formulas, in order, each with its factor, which is not 0."""
Sums = Callable[[Counts, list[BoolArray]], IntArray]
"""From a sum, and what the formulas so far say, to the value of the sum."""


@dataclass(frozen=True)
class Letter:
    """Whether the letter here is the one of a number."""

    letter: int


@dataclass(frozen=True)
class Junction:
    """Whether all, or some, of other formulas hold; of none: all do, none does."""

    every: bool
    parts: tuple[int, ...]


@dataclass(frozen=True)
class Negation:
    """Whether another formula does not hold."""

    part: int


@dataclass(frozen=True)
class Comparison:
    """Whether a sum of counts, up to and with this position, lies between two numbers.

    Attributes:
        counts: The sum; the first factor is positive, and the factors have no divisor.
        least: The least number; None if there is none.
        most: The largest number; None if there is none.
    """

    counts: Counts
    least: int | None
    most: int | None


Formula = Letter | Junction | Negation | Comparison


@dataclass(frozen=True)
class CountingProgram:
    """Formulas over an alphabet; a word is accepted if the output holds at its end.

    Attributes:
        letters: The names of the letters.
        name: What it is called.
        formulas: By their numbers; each reads formulas of smaller numbers.
        output: The number of the formula that the program says.
        names: The names that its author gave to formulas, with their numbers.
        counts: The names for counts of formulas, with the numbers of these.
    """

    letters: tuple[str, ...]
    name: str
    formulas: tuple[Formula, ...]
    output: int
    names: Names = field(default=(), compare=False)
    counts: Names = field(default=(), compare=False)

    @cached_property
    def sums(self) -> tuple[Counts, ...]:
        """The sums of counts that are compared, each once, in the order of their use."""
        used = (f.counts for f in self.formulas if isinstance(f, Comparison))
        return tuple(dict.fromkeys(used))

    @property
    def depth(self) -> int:
        """How deep counts are nested in counts."""
        return self.depths[self.output]

    @cached_property
    def depths(self) -> list[int]:
        """How deep counts are nested in each formula."""
        depths = list[int]()
        for formula in self.formulas:
            below = [depths[i] for i in parts(formula)]
            counted = isinstance(formula, Comparison)
            depths.append(max(below, default=0) + counted)
        return depths

    def values(
        self, letters: IntArray, sums: Callable[[Counts, list[BoolArray]], IntArray]
    ) -> list[BoolArray]:
        """The values of all formulas at some positions.

        Args:
            letters: Numbers of letters, of any shape.
            sums: From a sum, and the formulas so far, to its values there.
        """
        truths = list[BoolArray]()
        for formula in self.formulas:
            truths.append(_value(formula, letters, truths, sums))
        return truths

    def accepts(self, words: IntArray) -> BoolArray:
        """``(words, length)``: what it says after each letter of words of one length."""

        def so_far(counts: Counts, held: list[BoolArray]) -> IntArray:
            each = sum(
                (k * held[i].astype(np.int64) for i, k in counts), np.zeros_like(words)
            )
            return np.cumsum(each, axis=-1)

        return self.values(words, so_far)[self.output]

    def step(self, before: IntArray, letters: IntArray) -> tuple[IntArray, BoolArray]:
        """One more letter.

        Args:
            before: ``(rows, sums)``: the value of each sum so far, 0 at the start.
            letters: ``(rows,)``: the letters that come.

        Returns:
            The sums with it, and whether the output holds then.
        """
        after = before.copy()
        places = {counts: i for i, counts in enumerate(self.sums)}

        def with_this(counts: Counts, held: list[BoolArray]) -> IntArray:
            at = places[counts]
            after[:, at] = before[:, at] + _sum_at_position(counts, held)
            return after[:, at]

        return after, self.values(letters, with_this)[self.output]


def parts(formula: Formula) -> tuple[int, ...]:
    """The formulas that a formula reads."""
    match formula:
        case Letter():
            return ()
        case Negation(part):
            return (part,)
        case Junction(_, read):
            return read
        case Comparison(counts):
            return tuple(i for i, _ in counts)


def _sum_at_position(counts: Counts, held: list[BoolArray]) -> IntArray:
    return np.asarray(sum(k * held[i].astype(np.int64) for i, k in counts))


def _value(
    formula: Formula,
    letters: IntArray,
    held: list[BoolArray],
    sums: Sums,
) -> BoolArray:
    match formula:
        case Letter(letter):
            return np.asarray(letters == letter)
        case Negation(part):
            return ~held[part]
        case Junction(every, read):
            holds = np.full(letters.shape, every)
            for i in read:
                holds = holds & held[i] if every else holds | held[i]
            return holds
        case Comparison(counts, least, most):
            total = sums(counts, held)
            holds = np.ones(letters.shape, bool)
            if least is not None:
                holds &= total >= least
            return holds if most is None else holds & (total <= most)


# Counting programs in the making: each formula once, and constants left out.


MOST_FORMULAS = 10_000
Truth = tuple[bool, ...]


@dataclass
class Builder:
    """Formulas over an alphabet, by their numbers.

    Attributes:
        letters: The names of the letters.
        formulas: Those that were made, with their numbers.
        made: The same by their numbers.
        truths: Of formulas that the letter decides: at which letters they hold.
    """

    letters: tuple[str, ...]
    formulas: dict[Formula, int] = field(default_factory=dict)
    made: list[Formula] = field(default_factory=list)
    truths: dict[int, Truth] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number in range(len(self.letters)):
            self.add(Letter(number))

    def program(
        self, name: str, output: int, names: Names = (), counts: Names = ()
    ) -> CountingProgram:
        """The program that says a formula, without those that this does not need.

        Args:
            name: What it is called.
            output: The number of the formula.
            names: Names of formulas, with their numbers; those not needed are left out.
            counts: The same of counts.
        """
        needed = {output}
        for number in range(output, -1, -1):
            if number in needed:
                needed.update(parts(self.made[number]))
        order = sorted(needed)
        places = {number: i for i, number in enumerate(order)}
        kept = tuple(_renumber_formula(self.made[number], places) for number in order)
        known, counted = (
            tuple((label, places[i]) for label, i in each if i in places)
            for each in (names, counts)
        )
        return CountingProgram(self.letters, name, kept, places[output], known, counted)

    def add(self, formula: Formula) -> int:
        """The number of a formula, which is added if it is new.

        Raises:
            Refused: If there are too many.
        """
        truth = self._truth(formula)
        if truth is not None and truth in self.truths.values():
            return next(n for n, known in self.truths.items() if known == truth)
        if formula not in self.formulas:
            demand(
                len(self.made) < MOST_FORMULAS,
                f"the program has more than {MOST_FORMULAS} formulas",
            )
            if truth is not None:
                self.truths[len(self.made)] = truth
            self.formulas[formula] = len(self.made)
            self.made.append(formula)
        return self.formulas[formula]

    def _truth(self, formula: Formula) -> Truth | None:
        """At which letters a formula holds, if the letter decides it."""
        read = [self.truths.get(i) for i in parts(formula)]
        if isinstance(formula, Comparison) or None in read:
            return None
        known = [truth for truth in read if truth is not None]
        match formula:
            case Letter(letter):
                return tuple(a == letter for a in range(len(self.letters)))
            case Negation():
                return tuple(not holds for holds in known[0])
            case Junction(every, _):
                together = all if every else any
                return tuple(
                    together(truth[a] for truth in known)
                    for a in range(len(self.letters))
                )

    def copy_program(self, source: CountingProgram) -> int:
        """The output of another program over the same letters, in any order.

        Raises:
            Refused: If it has other letters.
        """
        same = sorted(source.letters) == sorted(self.letters)
        demand(same, f"{source.name} has other letters: {join_letters(source.letters)}")
        places = dict[int, int]()
        for number, formula in enumerate(source.formulas):
            match formula:
                case Letter(letter):
                    places[number] = self.letter(source.letters[letter])
                case Comparison(counts, least, most):
                    factors = {places[i]: k for i, k in counts}
                    places[number] = self.sum_between(factors, least, most)
                case _:
                    places[number] = self.add(_renumber_formula(formula, places))
        return places[source.output]

    def letter(self, name: str) -> int:
        """Whether the letter here is the one of a name.

        Raises:
            Refused: If there is none.
        """
        known = join_letters(self.letters)
        demand(name in self.letters, f"there is no letter {name!r}; there are {known}")
        return self.letters.index(name)

    def every(self, *parts: int) -> int:
        """Whether all of them hold."""
        return self._join(True, parts)

    def some(self, *parts: int) -> int:
        """Whether one of them holds."""
        return self._join(False, parts)

    def _join(self, every: bool, parts: tuple[int, ...]) -> int:
        decided = Junction(not every, ())
        if any(self.made[i] == decided for i in parts):
            return self.add(decided)
        idle = Junction(every, ())
        different = tuple(sorted({i for i in parts if self.made[i] != idle}))
        return (
            different[0]
            if len(different) == 1
            else self.add(Junction(every, different))
        )

    def no(self, part: int) -> int:
        """Whether it does not hold."""
        formula = self.made[part]
        return (
            formula.part if isinstance(formula, Negation) else self.add(Negation(part))
        )

    def sum_between(
        self, factors: dict[int, int], least: int | None, most: int | None
    ) -> int:
        """Whether a sum of counts, by the factor of each, lies between two numbers."""
        never = (False,) * len(self.letters)
        counts = tuple(
            sorted(
                (i, k) for i, k in factors.items() if k and self.truths.get(i) != never
            )
        )
        low, high = self._grows(counts)
        least = None if low >= 0 and least is not None and least <= 0 else least
        most = None if high <= 0 and most is not None and most >= 0 else most
        below, above = most is not None and most < 0, least is not None and least > 0
        if (low >= 0 and below) or (high <= 0 and above):
            return self.some()
        if not counts or least is most is None:
            inside = (least is None or least <= 0) and (most is None or most >= 0)
            return self.every() if inside else self.some()
        if counts[0][1] < 0:
            counts = tuple((i, -k) for i, k in counts)
            least, most = (
                None if most is None else -most,
                None if least is None else -least,
            )
        divisor = gcd(*(k for _, k in counts))
        counts = tuple((i, k // divisor) for i, k in counts)
        least = None if least is None else -(-least // divisor)
        most = None if most is None else most // divisor
        if least is not None and most is not None and least > most:
            return self.some()
        return self.add(Comparison(counts, least, most))

    def _grows(self, counts: Counts) -> tuple[int, int]:
        """The least and the most that one position adds to a sum."""
        known = [self.truths.get(i) for i, _ in counts]
        if None in known:
            factors = [k for _, k in counts]
            return sum(min(k, 0) for k in factors), sum(max(k, 0) for k in factors)
        added = [
            sum(
                k
                for (_, k), truth in zip(counts, known, strict=True)
                if truth and truth[a]
            )
            for a in range(len(self.letters))
        ]
        return min(added), max(added)


def _renumber_formula(formula: Formula, places: dict[int, int]) -> Formula:
    """A formula that reads others by new numbers."""
    match formula:
        case Letter():
            return formula
        case Negation(part):
            return Negation(places[part])
        case Junction(_, read):
            return replace(formula, parts=tuple(sorted({places[i] for i in read})))
        case Comparison(counts):
            sums = tuple(sorted((places[i], k) for i, k in counts))
            return replace(formula, counts=sums)
