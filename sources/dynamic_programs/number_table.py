"""A table of numbers that are given: weights, costs of substitution, probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from krohn.program.errors import demand
from krohn.sources.dynamic_programs.choices import MOST_ENTRIES, entry, position
from krohn.sources.dynamic_programs.terms import Term, Value


@dataclass(frozen=True)
class NumberTable:
    """Numbers by indices, which can be letters.

    Attributes:
        name: What it is called.
        sides: Of each index the range, or the letters.
        entries: The numbers, the last index fastest.
    """

    name: str
    sides: tuple[range | tuple[str, ...], ...]
    entries: tuple[int, ...]

    def at(self, indices: Sequence[Value], alphabet: Sequence[str]) -> Value:
        """The number at some indices, each of which may depend on the input.

        Args:
            indices: Numbers and letters.
            alphabet: All letters, in their order.

        Raises:
            Refused: If one can be outside of its range.
        """
        demand(len(indices) == len(self.sides), f"{self.name!r} has other indices")
        places = [
            self._place(index, side, alphabet)
            for index, side in zip(indices, self.sides, strict=True)
        ]
        told = [[p] if isinstance(p, int) else range(p.low, p.high + 1) for p in places]
        count = prod(map(len, told))
        demand(
            count <= MOST_ENTRIES,
            f"{self.name!r} is read at over {MOST_ENTRIES} places",
        )
        strides = [1]
        for side in self.sides[:0:-1]:
            strides.insert(0, strides[0] * len(side))
        chosen = [
            self.entries[sum(x * y for x, y in zip(at, strides, strict=True))]
            for at in product(*told)
        ]
        where: Value = 0
        for place, span in zip(places, told, strict=True):
            where = where * len(span) + (place - span[0])
        return entry(chosen, where)

    def _place(
        self, index: Value, side: range | tuple[str, ...], alphabet: Sequence[str]
    ) -> Value:
        """The place of an index on its side, from 0."""
        is_letter = isinstance(index, Term) and index.kind == "letter"
        wanted = "a number" if isinstance(side, range) else "a letter"
        fits = is_letter != isinstance(side, range)
        demand(fits, f"an index of {self.name!r} is {wanted}")
        if isinstance(side, range):
            place = index - side.start
            low, high = (
                (place, place) if isinstance(place, int) else (place.low, place.high)
            )
        else:
            assert isinstance(index, Term)
            known = side[0] in alphabet
            demand(known, f"the letters of {self.name!r} are those of no input")
            first = alphabet.index(side[0])
            same = tuple(alphabet[first : first + len(side)]) == side
            demand(same, f"the letters of {self.name!r} are in another order in inputs")
            place = position(index, first)
            low, high = place.low, place.high
        inside = 0 <= low <= high < len(side)
        demand(inside, f"an index of {self.name!r} can be outside of its range")
        return place
