"""Counting programs (C-RASP): Boolean formulas of letters and of counts of prefixes.

Yang and Chiang (2024) define the language: a formula holds or not at each position of a
word; a count says at how many positions so far a formula held; formulas compare sums of
counts. Here every formula of a program has a number, and reads formulas of smaller ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from krohn.program.domains import BoolArray, IntArray

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
    """

    letters: tuple[str, ...]
    name: str
    formulas: tuple[Formula, ...]
    output: int

    @cached_property
    def sums(self) -> tuple[Counts, ...]:
        """The sums of counts that are compared, each once, in the order of their use."""
        used = (f.counts for f in self.formulas if isinstance(f, Comparison))
        return tuple(dict.fromkeys(used))

    @property
    def depth(self) -> int:
        """How deep counts are nested in counts."""
        depths = list[int]()
        for formula in self.formulas:
            below = [depths[i] for i in parts(formula)]
            counted = isinstance(formula, Comparison)
            depths.append(max(below, default=0) + counted)
        return depths[self.output]

    def values(
        self, letters: IntArray, sums: Callable[[Counts, list[BoolArray]], IntArray]
    ) -> list[BoolArray]:
        """What every formula says at some positions.

        Args:
            letters: Numbers of letters, of any shape.
            sums: From a sum, and the formulas so far, to its values there.
        """
        held = list[BoolArray]()
        for formula in self.formulas:
            held.append(_value(formula, letters, held, sums))
        return held

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
            after[:, at] = before[:, at] + _added(counts, held)
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


def _added(counts: Counts, held: list[BoolArray]) -> IntArray:
    """What one position adds to a sum of counts."""
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
            found = np.full(letters.shape, every)
            for i in read:
                found = found & held[i] if every else found | held[i]
            return found
        case Comparison(counts, least, most):
            total = sums(counts, held)
            found = np.ones(letters.shape, bool)
            if least is not None:
                found &= total >= least
            return found if most is None else found & (total <= most)
