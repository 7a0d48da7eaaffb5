"""The longest increasing subsequence as a short text: one number a number, and the Program.

The text of Feng et al. (2023): x_1 … x_n <sep> d_1 … d_n <sep> max d <eos>, where d_i is
how many numbers the longest increasing subsequence has that ends with x_i.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, Self

from krohn.kinds.dynamic_programs.statement_inputs import SIZES
from krohn.program.errors import demand
from krohn.program.expressions import Expression, argument, rectify
from krohn.program.functions import Row, Select, table
from krohn.program.operations.base import Operation
from krohn.program.operations.best import Best
from krohn.program.operations.earliest import Earliest
from krohn.program.operations.map import Map
from krohn.program.operations.position import Position
from krohn.program.operations.shift_by import ShiftBy
from krohn.program.operations.token import Token
from krohn.program.piecewise import Piecewise
from krohn.program.program import Program
from krohn.program.strict_json import whole

KIND = "increasing"
"""The name of the kind in the header of a model file."""
SEPARATOR, LAST = "<sep>", "<eos>"
MOST = 512


@dataclass(frozen=True)
class Increasing:
    """Texts about the longest increasing subsequences of lists of numbers.

    Attributes:
        name: What it is called.
        shortest: So many numbers a list has at least: 1, or n.
        longest: n: so many it has at most.
        largest: m: numbers are 0, …, m.
    """

    name: str
    shortest: int
    longest: int
    largest: int

    def __post_init__(self) -> None:
        """Refuse lists of no size.

        Raises:
            Refused: If one of the numbers is out of range.
        """
        fits = 0 < self.longest <= MOST and 0 < self.largest <= MOST
        demand(fits, f"lists have 1 to {MOST} numbers, of 0 to {MOST} at most")
        alike = self.shortest in (1, self.longest)
        demand(alike, "lists have any number of numbers up to n, or exactly n")

    @property
    def sizes(self) -> tuple[int, int, int]:
        """What it is about, in the order of `SIZES`."""
        return self.shortest, self.longest, self.largest

    @property
    def end(self) -> int:
        """The separator; so many numbers are tokens."""
        return max(self.largest, self.longest + 1) + 1

    @property
    def tokens(self) -> tuple[str, ...]:
        """The name of each token."""
        return (*map(str, range(self.end)), SEPARATOR, LAST)

    @property
    def length(self) -> int:
        """T: so many tokens are read at most."""
        return 2 * self.longest + 3

    def to_wire(self) -> dict[str, Any]:
        """As the header of a model file states it."""
        sizes = dict(zip(SIZES, self.sizes, strict=True))
        return {"kind": KIND, "name": self.name, "letters": list(self.tokens), **sizes}

    @classmethod
    def from_wire(cls, said: Mapping[str, Any]) -> Self:
        """Lists of numbers from their description in a model file, read strictly.

        Raises:
            Refused: If it is malformed.
            LookupError: If something is missing.
        """
        demand(said["kind"] == KIND, "these are no lists of numbers")
        increasing = cls(str(said["name"]), *(int(whole(said[n], 0)) for n in SIZES))
        demand(
            said["letters"] == list(increasing.tokens), "the tokens have other names"
        )
        return increasing


def program_of(source: Increasing) -> Program:
    """The Program whose greedy continuation of a list is its text (Theorem 5m).

    d is 1 more than the largest d of a smaller number before: the threshold match of Feng
    et al. (2023), by one head.
    """
    known = source.shortest == source.longest
    places = _known_places(source) if known else _found_places(source)
    return Program(
        letters=source.tokens,
        states=len(source.tokens),
        length=source.length,
        operations={**_numbers_said(source), **places, **_next(source)},
        outputs=("next",),
        decode={(token,): token for token in range(len(source.tokens))},
    )


def _numbers_said(source: Increasing) -> dict[str, Operation]:
    """What a token says, as a number of the list and as the size of a subsequence."""
    end, nothing, most = source.end, source.largest + 1, source.longest
    return {
        "token": Token(),
        "number": _of_token(
            source, lambda a: min(a, nothing) if a < end else 0, nothing
        ),
        "said": _of_token(source, lambda a: a if a <= most else 0, 0),
        "separates": _of_token(source, lambda a: a == end, 0),
    }


def _found_places(source: Increasing) -> dict[str, Operation]:
    """Where the separator is, T before it, and the phase of the text."""
    p, every = argument, range(1, source.length + 1)
    phase = p(0) - 2 * p(1) + 2
    return {
        "position": Position((source.length, *every)),
        "first": Earliest("position", "separates"),
        "back": _numbers(p(0), "first"),
        "back to next": _numbers(p(0) - 1, "first"),
        "phase": _numbers(rectify(phase) - rectify(phase - 3), "position", "first"),
    }


def _known_places(source: Increasing) -> dict[str, Operation]:
    """The same where the separator stands at n + 1 in every text."""
    place, last = source.longest + 1, source.length
    first = [place if t >= place else last for t in range(last + 1)]
    phases = [min(max(t - 2 * place + 2, 0), 3) for t in range(last + 1)]
    return {
        "back": Position(tuple(first)),
        "back to next": Position(tuple(f - 1 for f in first)),
        "phase": Position(tuple(phases)),
    }


def _next(source: Increasing) -> dict[str, Operation]:
    """The next token: in each phase another one."""
    end, nothing = source.end, source.largest + 1
    sizes, asked = range(source.longest + 1), range(nothing + 1)
    goals: dict[Row, int] = {
        (a, s): nothing if s else a for a, s in product(asked, (0, 1))
    }
    below = chain(*((k, q) for q in asked for k in range(q)))
    return {
        "own": ShiftBy("number", "back"),
        "wanted": ShiftBy("number", "back to next"),
        "goal": Map(table(goals), ("wanted", "separates")),
        "largest": Best("said", "own", "goal", "said", tuple(below)),
        "next number": Map(table({(v,): v + 1 for v in sizes}), ("largest",)),
        "separator": _of_token(source, lambda _: end, end),
        "end": _of_token(source, lambda _: end + 1, end + 1),
        "next": Map(Select(), ("phase", "next number", "separator", "largest", "end")),
    }


def _of_token(source: Increasing, says: Callable[[int], int], bos: int) -> Map:
    rows: dict[Row, int] = {(a,): int(says(a)) for a in range(len(source.tokens))}
    return Map(table({**rows, (len(source.tokens),): bos}), ("token",))


def _numbers(e: Expression, *read: str) -> Map:
    return Map(Piecewise(e), read)
