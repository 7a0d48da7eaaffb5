"""A scan of few points, which the last letters make states: less than a scan of states.

The points and the letters are those of `krohn.algebra.windows`. The scan composes
maps of points; one layer of look-backs beside it fetches the last letters, and a table of
both says the state. Cyclic-HARD is solved so by 5 points instead of 76 beliefs (Hu et al.
2024, 3): an action moves the point at once, a told state resets it, ``*`` does nothing;
that the action before ``*`` is not yet taken is for the table to undo.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.windows import ContextPoints, context_points
from krohn.compiler.constructions.scan import compose
from krohn.compiler.errors import CompileError
from krohn.program import Map, Operation, Program, Row, Shift, Token, table

NAME = "context-scan"
MOST_ROWS = 2**16
"""Rows of a table of letters."""
SUMMARY = "scan few points: the last letters and the point decide the state"


def context_scan(
    letters: tuple[str, ...], transitions: IntArray, length: int
) -> Program:
    """The Program of a machine that starts in state 0, for words up to ``length``.

    Args:
        letters: Their names.
        transitions: ``(letters, states)``: where a letter leads; −1 if it cannot come.
        length: T.

    Raises:
        CompileError: If there are no fewer points than states.
    """
    found, states = context_points(transitions, 0), transitions.shape[1]
    if found.points == states:
        raise CompileError(
            "the last letters do not reduce the number of points below that of the "
            "states"
        )
    size, seen = len(letters), max(found.moved + 1, found.read)
    if (size + 1) ** seen > MOST_ROWS:
        raise CompileError(f"tables of the last {seen} of {size} letters are too large")
    same: dict[Row, int] = {(i,): i for i in range(size + 1)}
    operations: dict[str, Operation] = {
        "token": Token(),
        "letter": Map(table(same), ("token",)),
    }
    backs = ["letter", *(f"letter.back{by}" for by in range(1, seen))]
    operations |= {name: Shift("letter", by) for by, name in enumerate(backs) if by}
    told = tuple(backs[: found.moved + 1]) if found.moved else ("token",)
    for p in range(found.points):
        images = table(dict(_images(found, transitions, p)))
        operations[f"map0[{p}]"] = Map(images, told)
    scanned, outputs = compose("", length, 2, found.points)
    operations |= scanned
    kind, rows = _read_out(found, size)
    operations["context"] = Map(table(kind), tuple(backs[: found.read]) or ("token",))
    operations["state"] = Map(table(rows), ("context", outputs[found.of[0]]))
    return Program(
        letters=letters,
        states=states,
        length=length,
        operations=operations,
        outputs=("state",),
        decode={(state,): state for state in range(states)},
    )


def _code(word: tuple[int, ...], size: int) -> int:
    """The number of last letters, as `ContextPoints` numbers them."""
    code = 0
    for letter in word:
        code = code * (size + 1) + letter
    return code


def _images(
    found: ContextPoints, transitions: IntArray, point: int
) -> Iterator[tuple[Row, int]]:
    """Where the map of the letter, after letters before, takes a point."""
    size = len(transitions)
    members = np.flatnonzero(found.of == point)
    for row in product(range(size + 1), repeat=found.moved + 1):
        letter, *last = row
        image = point
        if letter < size:
            here = members[found.before[members, _code(tuple(last), size)]]
            led = transitions[letter, here]
            image = int(found.of[led[led >= 0]].max(initial=-1))
        yield row, point if image < 0 else image


def _read_out(found: ContextPoints, size: int) -> tuple[dict[Row, int], dict[Row, int]]:
    """Kinds of last letters, and the state of each kind and point.

    Last letters are of one kind if no point is another state with them.
    """
    states = np.full((found.behind.shape[1], found.points), -1)
    q, context = np.nonzero(found.behind)
    states[context, found.of[q]] = q
    kinds: list[IntArray] = []
    kind: dict[Row, int] = {}
    for row in product(range(size + 1), repeat=max(found.read, 1)):
        here = states[_code(row, size) if found.read else 0]
        fits = (((here < 0) | (k < 0) | (here == k)).all() for k in kinds)
        at = next((i for i, fit in enumerate(fits) if fit), len(kinds))
        if at == len(kinds):
            kinds.append(here)
        kinds[at] = np.maximum(kinds[at], here)
        kind[row] = at
    told: dict[Row, int] = {
        (i, p): int(max(k[p], 0))
        for i, k in enumerate(kinds)
        for p in range(found.points)
    }
    return kind, told
