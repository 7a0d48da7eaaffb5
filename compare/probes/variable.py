"""A variable: something that a network could hold after each letter of a word."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from krohn.algebra.semiautomaton import IntArray
from krohn.program import Program

Kind = Literal["answer", "channel", "standard", "reference"]
"""The answer; a channel of a Program; a variable people look for; one that comes free."""

MOST_CLASSES = 128
"""So many values are told apart; S5 has 120 states. Of more, only numbers are kept."""


@dataclass(frozen=True, eq=False)
class VariableLocation:
    """The place of a variable in a derived network, where its effect can be computed.

    Attributes:
        construction: The name of the construction.
        program: Its Program.
        channels: The channels that are the variable, together.
    """

    construction: str
    program: Program
    channels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Variable:
    """A quantity after each letter of some words.

    Attributes:
        names: Its names; several names are one variable if their columns are
            equal up to renaming of values on all words at hand.
        kind: Its kind.
        classes: ``(count, length)`` values, numbered from 0 as they first occur.
        numbers: ``(count, length)`` the numbers for a regression; None if the values have
            no order.
        homes: Derived networks that have it.
    """

    names: tuple[str, ...]
    kind: Kind
    classes: IntArray
    numbers: IntArray | None = None
    homes: tuple[VariableLocation, ...] = ()

    @property
    def name(self) -> str:
        """The first of its names."""
        return self.names[0]

    @property
    def values(self) -> int:
        """How many values occur."""
        return int(self.classes.max(initial=-1)) + 1

    @property
    def told_apart(self) -> bool:
        """Whether its values are few enough to be classes."""
        return self.values <= MOST_CLASSES


def variable(
    name: str,
    kind: Kind,
    columns: IntArray,
    numeric: bool = False,
    homes: tuple[VariableLocation, ...] = (),
) -> Variable:
    """A variable from its values.

    Args:
        name: What to call it.
        kind: What it is.
        columns: ``(count, length)``, or ``(count, length, parts)`` of several parts.
        numeric: Whether the values are numbers that a regression may predict.
        homes: Derived networks that have it.
    """
    numbers = columns if numeric and columns.ndim == 2 else None
    return Variable((name,), kind, canonical(columns), numbers, homes)


def canonical(columns: IntArray) -> IntArray:
    """Values ``(count, length[, parts])`` numbered in the order in which they occur.

    Two columns are equal up to a bijection of their values exactly if this is equal.
    """
    shape = columns.shape[:2]
    rows = columns.reshape(shape[0] * shape[1], -1)
    code = np.zeros(len(rows), dtype=np.int64)
    for part in rows.T:  # one after the other: unique rows are found by slow sorting
        _, values = np.unique(part, return_inverse=True)
        _, code = np.unique(code * (values.max() + 1) + values, return_inverse=True)
    _, first = np.unique(code, return_index=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[code].reshape(shape))


def merge_equal(variables: list[Variable]) -> list[Variable]:
    """Each variable once, with the names and homes of all that are equal to it.

    The first one of its class decides the kind; constants are left out.
    """
    found: dict[bytes, Variable] = {}
    for v in variables:
        if v.values < 2:
            continue
        key = v.classes.tobytes()
        known = found.get(key)
        found[key] = v if known is None else _merge_pair(known, v)
    return list(found.values())


def _merge_pair(first: Variable, second: Variable) -> Variable:
    numbers = second.numbers if first.numbers is None else first.numbers
    names = (*first.names, *(n for n in second.names if n not in first.names))
    homes = (*first.homes, *second.homes)
    return replace(first, names=names, numbers=numbers, homes=homes)


def depends_only_on(v: Variable, given: IntArray) -> bool:
    """Whether the variable is a function of ``given`` ``(count, length)``."""
    pairs = np.unique(given * v.values + v.classes)
    return len(pairs) == len(np.unique(given))


def one_per_program(homes: tuple[VariableLocation, ...]) -> list[VariableLocation]:
    """For each Program all its channels that are the variable, exchanged together."""
    found: dict[str, VariableLocation] = {}
    for home in homes:
        before = found.get(home.construction)
        channels = (*(before.channels if before else ()), *home.channels)
        distinct = tuple(dict.fromkeys(channels))
        found[home.construction] = replace(home, channels=distinct)
    return list(found.values())
