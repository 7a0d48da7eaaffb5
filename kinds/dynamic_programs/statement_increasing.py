"""The longest increasing subsequence as a short text: one number a number, and the Program.

The text of Feng et al. (2023): x_1 … x_n <sep> d_1 … d_n <sep> max d <eos>, where d_i is
how many numbers the longest increasing subsequence has that ends with x_i.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

from krohn.program.errors import demand
from krohn.program.expressions import Expression, argument, greater, number, rectify
from krohn.program.functions import Row, Select, table
from krohn.program.operations.base import Operation
from krohn.program.operations.earliest import Earliest
from krohn.program.operations.latest import Latest
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
        longest: n: so many numbers a list has at most.
        largest: m: numbers are 0, …, m.
    """

    name: str
    longest: int
    largest: int

    def __post_init__(self) -> None:
        """Refuse lists of no size.

        Raises:
            Refused: If one of the numbers is out of range.
        """
        fits = 0 < self.longest <= MOST and 0 < self.largest <= MOST
        demand(fits, f"lists have 1 to {MOST} numbers, of 0 to {MOST} at most")

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
        sizes = {"longest": self.longest, "largest": self.largest}
        return {"kind": KIND, "name": self.name, "letters": list(self.tokens), **sizes}

    @classmethod
    def from_wire(cls, said: Mapping[str, Any]) -> Self:
        """Lists of numbers from their description in a model file, read strictly.

        Raises:
            Refused: If it is malformed.
            LookupError: If something is missing.
        """
        demand(said["kind"] == KIND, "these are no lists of numbers")
        sizes = (int(whole(said[n], 0)) for n in ("longest", "largest"))
        increasing = cls(str(said["name"]), *sizes)
        demand(
            said["letters"] == list(increasing.tokens), "the tokens have other names"
        )
        return increasing


def program_of(source: Increasing) -> Program:
    """The Program whose greedy continuation of a list is its text (Theorem 5m).

    Of all numbers so far whose longest subsequence has v numbers, the last one is the
    least. So d is 1 and how many of these least numbers are below the next number, as in
    patience sorting.
    """
    return Program(
        letters=source.tokens,
        states=len(source.tokens),
        length=source.length,
        operations={**_places(source), **_least(source), **_next(source)},
        outputs=("next",),
        decode={(token,): token for token in range(len(source.tokens))},
    )


def _places(source: Increasing) -> dict[str, Operation]:
    """Which number of the list belongs to a place of the text, and its phase."""
    end, nothing, p = source.end, source.largest + 1, argument
    phase = p(0) - 2 * p(1) + 2
    goal = rectify(p(0) - nothing * p(1)) + nothing * p(1)
    return {
        "token": Token(),
        "number": _of_token(
            source, lambda a: min(a, nothing) if a < end else 0, nothing
        ),
        "separates": _of_token(source, lambda a: a == end, 0),
        "position": Position(tuple(range(source.length + 1))),
        "first": Earliest("position", "separates"),
        "after": _numbers(p(0) - rectify(p(0) - 1), "first"),
        "back": _numbers(rectify(p(0)), "first"),
        "back to next": _numbers(rectify(p(0) - 1), "first"),
        "own": ShiftBy("number", "back"),
        "wanted": ShiftBy("number", "back to next"),
        "phase": _numbers(rectify(phase) - rectify(phase - 3), "position", "first"),
        "last": Map(table({(k,): int(k == 2) for k in range(4)}), ("phase",)),
        "goal": _numbers(goal, "wanted", "last"),
    }


def _least(source: Increasing) -> dict[str, Operation]:
    """For each v the least number so far whose longest subsequence has v numbers."""
    operations = dict[str, Operation]()
    here: dict[Row, int] = {
        (i, a): int(i == 2 or (i == 1 and a == 1)) for i, a in product(range(3), (0, 1))
    }
    for v in range(1, source.longest + 1):
        operations[f"is{v}"] = _of_token(source, v.__eq__, 2)
        operations[f"says{v}"] = Map(table(here), (f"is{v}", "after"))
        operations[f"least{v}"] = Latest("own", f"says{v}")
    return operations


def _next(source: Increasing) -> dict[str, Operation]:
    """The next token: in each phase another one."""
    end, count = source.end, range(1, source.longest + 1)

    def count_below(shift: int) -> Map:
        below = (greater(argument(0), argument(v)) for v in count)
        read = ("goal", *(f"least{v}" for v in count))
        return _numbers(sum(below, number(shift)), *read)

    return {
        "next number": count_below(1),
        "all": count_below(0),
        "separator": _of_token(source, lambda _: end, end),
        "end": _of_token(source, lambda _: end + 1, end + 1),
        "next": Map(Select(), ("phase", "next number", "separator", "all", "end")),
    }


def _of_token(source: Increasing, says: Callable[[int], int], bos: int) -> Map:
    rows: dict[Row, int] = {(a,): int(says(a)) for a in range(len(source.tokens))}
    return Map(table({**rows, (len(source.tokens),): bos}), ("token",))


def _numbers(e: Expression, *read: str) -> Map:
    return Map(Piecewise(e), read)
