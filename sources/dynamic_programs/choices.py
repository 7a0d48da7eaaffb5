"""Terms that choose: by a condition, or by a number of the input in a table."""

from collections.abc import Sequence

from krohn.program.errors import demand
from krohn.sources.dynamic_programs.terms import (
    Term,
    Value,
    bit,
    made,
    maximum,
    minimum,
    numbers,
)

MOST_ENTRIES = 1024
"""Entries of a table that an input chooses."""


def choose(condition: Value, one: Value, zero: Value) -> Value:
    """``one`` where a condition holds, else ``zero``."""
    if isinstance(condition, int):
        demand(condition in (0, 1), f"a condition is 0 or 1, not {condition}")
        return one if condition else zero
    flag, first, second = numbers(bit(condition), one, zero)
    low, high = min(first.low, second.low), max(first.high, second.high)
    return made("choice", (flag, first, second), low, high)


def joined(how: str, found: Value, new: Value, condition: Value = 1) -> Value:
    """``min``, ``max`` or ``sum`` of two numbers; the first where a condition fails.

    Raises:
        Refused: If there is no such way, or the condition can be no 0 or 1.
    """
    demand(how in ("min", "max", "sum"), f"numbers are not joined by {how!r}")
    if how == "sum":
        return found + choose(condition, new, 0)
    if isinstance(condition, int):
        extreme = minimum if how == "min" else maximum
        return extreme(found, new) if condition else found
    flag, first, second = numbers(bit(condition), found, new)
    low, high = first.low, max(first.high, second.high)
    if how == "min":
        low, high = min(first.low, second.low), first.high
    return made(f"{how}imum-if", (flag, first, second), low, high)


def entry(entries: Sequence[int], at: Value) -> Value:
    """The number of a table at a place from 0 that may depend on the input.

    Raises:
        Refused: If the place can be outside of the table.
    """
    (term,) = numbers(at)
    inside = 0 <= term.low and term.high < len(entries)
    demand(inside, "an index can be outside of its range")
    demand(
        len(entries) <= MOST_ENTRIES, f"a table has more than {MOST_ENTRIES} entries"
    )
    if isinstance(at, int):
        return entries[at]
    told = entries[term.low : term.high + 1]
    return made("entry", (term,), min(told), max(told), tuple(entries))


def position(term: Term, first: int) -> Term:
    """A letter as a number: its place among those of its alphabet, from 0."""
    assert term.kind == "letter"
    assert term.cell is not None
    return made("letter-place", (term,), term.low - first, term.high - first, first)
