"""Machines as dicts, as functions, and as lists of permutations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from krohn.algebra.errors import MachineError
from krohn.machine_objects.table import Table, Told, names, started

LIMIT = 100_000
"""States of a transition function that are explored where nothing else is said."""


def of_dict(source: Mapping[Any, Any], told: Told) -> Table:
    """State to letter to state; the first key is the start if nothing else is said."""
    if not source:
        raise MachineError("the dict is empty; a machine needs at least one state")
    for q, row in source.items():
        if not isinstance(row, Mapping):
            raise MachineError(
                f"the state {q!r} leads to a {type(row).__name__}, not to a dict from "
                "letters to states"
            )
    return started(source, told)


def of_function(source: Callable[[Any, Any], Any], told: Told) -> Table:
    """Breadth first from the start state."""
    if told.letters is None or told.start is None:
        raise MachineError("a transition function needs letters= and start=")
    letters, limit = list(told.letters), LIMIT if told.limit is None else told.limit
    moves: dict[Any, dict[Any, Any]] = {}
    todo = list(names("state", [told.start]))
    while todo:
        for q in todo:
            moves[q] = {a: _led(source, q, a) for a in letters}
        if len(moves) >= limit + 1:
            raise MachineError(
                f"more than {limit:,} states are reachable; say a larger limit=, or "
                "another function"
            )
        reached = names("state", (to for q in todo for to in moves[q].values()))
        todo = list(islice((q for q in reached if q not in moves), limit + 1))
    return Table(moves, told.start, letters)


def _led(source: Callable[[Any, Any], Any], state: Any, letter: Any) -> Any:
    """Where a transition function leads.

    Raises:
        MachineError: If it fails; what failed in it is the cause.
    """
    try:
        return source(state, letter)
    except Exception as error:
        raise MachineError(
            f"the transition function fails for state {state!r} and letter {letter!r}: "
            f"{type(error).__name__}: {error}"
        ) from error


def of_permutations(source: Sequence[Any], told: Told) -> Table:
    """One permutation of 0, 1, … for each letter."""
    maps = [list(getattr(each, "array_form", each)) for each in source]
    count = len(maps[0])
    for i, images in enumerate(maps):
        if len(images) != count:
            raise MachineError(
                f"permutation {i} is of {len(images)} points, permutation 0 of {count}; "
                "write the fixed points too (of sympy: size=)"
            )
        if sorted(images) != list(range(count)):
            raise MachineError(
                f"permutation {i} is none: it must have each of 0, …, {count - 1} once"
            )
    named = [f"g{i}" for i in range(1, len(maps) + 1)]
    letters = named if told.letters is None else list(told.letters)
    if len(letters) != len(maps):
        raise MachineError(f"{len(letters)} letters for {len(maps)} permutations")
    rows = {
        q: {a: int(images[q]) for a, images in zip(letters, maps, strict=True)}
        for q in range(count)
    }
    return started(rows, replace(told, letters=letters))
