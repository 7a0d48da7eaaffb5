"""Counting programs in the making: each formula once, and constants left out."""

from dataclasses import dataclass, field, replace
from math import gcd

from krohn.program.errors import demand
from krohn.sources.counting.program import (
    Comparison,
    CountingProgram,
    Counts,
    Formula,
    Junction,
    Letter,
    Negation,
    parts,
)

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

    def program(self, name: str, output: int) -> CountingProgram:
        """The program that says a formula, without those that this does not need."""
        needed = {output}
        for number in range(output, -1, -1):
            if number in needed:
                needed.update(parts(self.made[number]))
        order = sorted(needed)
        places = {number: i for i, number in enumerate(order)}
        kept = tuple(_renumbered(self.made[number], places) for number in order)
        return CountingProgram(self.letters, name, kept, places[output])

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

    def copied(self, source: CountingProgram) -> int:
        """The output of another program over the same letters, in any order.

        Raises:
            Refused: If it has other letters.
        """
        same = sorted(source.letters) == sorted(self.letters)
        demand(same, f"{source.name} has other letters: {' '.join(source.letters)}")
        places = dict[int, int]()
        for number, formula in enumerate(source.formulas):
            match formula:
                case Letter(letter):
                    places[number] = self.letter(source.letters[letter])
                case Comparison(counts, least, most):
                    factors = {places[i]: k for i, k in counts}
                    places[number] = self.between(factors, least, most)
                case _:
                    places[number] = self.add(_renumbered(formula, places))
        return places[source.output]

    def letter(self, name: str) -> int:
        """Whether the letter here is the one of a name.

        Raises:
            Refused: If there is none.
        """
        known = " ".join(self.letters)
        demand(name in self.letters, f"there is no letter {name!r}; there are {known}")
        return self.letters.index(name)

    def every(self, *parts: int) -> int:
        """Whether all of them hold."""
        return self._joined(True, parts)

    def some(self, *parts: int) -> int:
        """Whether one of them holds."""
        return self._joined(False, parts)

    def _joined(self, every: bool, parts: tuple[int, ...]) -> int:
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

    def between(
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


def _renumbered(formula: Formula, places: dict[int, int]) -> Formula:
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
