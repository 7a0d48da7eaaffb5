"""A channel in the hands of a user: Python operators make further ones."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from krohn.sources.sequence_functions.errors import ProgramError
from krohn.sources.sequence_functions.realisation import Known, Realisation

if TYPE_CHECKING:
    from krohn.sources.sequence_functions.builder import SequenceFunction

Make = Callable[[Realisation, str, list[Known]], Known]
"""Adds a channel of a name, from those that it reads."""


@dataclass(frozen=True, eq=False)
class Channel:
    """A value at every position of a word; made by the methods of a sequence function.

    ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=`` compare with a channel or a constant
    (1 where it holds, else 0); ``&``, ``|`` and ``~`` join such flags; ``+`` and ``-``
    take numbers.

    Attributes:
        owner: The function that it belongs to.
        name: Its name in the Program.
        line: The file and line where it was made.
        call: What was called there.
        reads: The channels that it is made of.
        make: How it becomes channels of a Program.
    """

    owner: "SequenceFunction"
    name: str
    line: str
    call: str
    reads: "tuple[Channel, ...]"
    make: Make

    def __eq__(self, other: object) -> "Channel":  # type: ignore[override]
        return self._compared(operator.eq, other)

    def __ne__(self, other: object) -> "Channel":  # type: ignore[override]
        return self._compared(operator.ne, other)

    def __lt__(self, other: object) -> "Channel":
        return self._compared(operator.lt, other)

    def __le__(self, other: object) -> "Channel":
        return self._compared(operator.le, other)

    def __gt__(self, other: object) -> "Channel":
        return self._compared(operator.gt, other)

    def __ge__(self, other: object) -> "Channel":
        return self._compared(operator.ge, other)

    def __and__(self, other: "Channel") -> "Channel":
        return self.owner.map(lambda x, y: int(bool(x and y)), self, other)

    def __or__(self, other: "Channel") -> "Channel":
        return self.owner.map(lambda x, y: int(bool(x or y)), self, other)

    def __invert__(self) -> "Channel":
        return self.owner.map(lambda x: int(not x), self)

    def __add__(self, other: "Channel | int") -> "Channel":
        return self.owner.sum(self, other)

    __radd__ = __add__

    def __sub__(self, other: "Channel | int") -> "Channel":
        return self.owner.difference(self, other)

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> NoReturn:
        raise ProgramError(
            f"{self.line}: {self.name!r} has a value at each position and no truth value; "
            "join flags by &, | and ~, and choose by p.where(flag, x, y)"
        )

    def _compared(self, test: Callable[..., Any], other: object) -> "Channel":
        return self.owner.comparison(test, self, other)
