"""Commutative machines: how often each letter has occurred decides, whatever the order."""

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.minimisation import reachable
from krohn.compiler.constructions.counter import LARGEST_SUM
from krohn.compiler.errors import CompileError
from krohn.compiler.output_programs import one_tuple_each
from krohn.program import Latest, Map, Operation, PrefixSum, Program, Row, Token, table

NAME = "content"
SUMMARY = "count every letter, up to a threshold and then modulo a period"
LARGEST_TABLE = 20_000


def content(machine: Automaton, length: int) -> Program:
    """The machine from the number of times that each letter has occurred.

    Letters that act alike are counted together; letters that do nothing are not counted.
    The powers of a letter come to repeat themselves: aⁿ⁺ᵖ = aⁿ from some n on. So a count
    matters up to n, and beyond it modulo p. For n = p = 1, whether the letter has
    occurred at all is a memory, which needs no sum.

    Raises:
        CompileError: If two letters do not commute, or the tables would be too large.
    """
    part = reachable(machine)
    rows = part.transitions
    if not all(np.array_equal(rows[:, row], row[rows]) for row in rows):
        raise CompileError(f"two letters of {machine.name} do not commute")
    operations: dict[str, Operation] = {"token": Token()}
    acts = np.unique(rows, axis=0)
    acts = acts[(acts != np.arange(rows.shape[1])).any(axis=1)]
    outputs: list[str] = []
    images: dict[Row, int] = {(): part.start}
    for i, act in enumerate(acts):
        powers, period = _powers(act)
        alike = (rows == act).all(axis=1)
        operations |= _count_channels(f"letter{i}", alike, len(powers), period, length)
        outputs.append(f"letter{i}.class")
        images = {
            (*counts, n): int(power[q])
            for counts, q in images.items()
            for n, power in enumerate(powers)
        }
        if len(images) > LARGEST_TABLE:
            raise CompileError(f"too many counts decide the state of {machine.name}")
    if not outputs:
        raise CompileError(f"no letter of {machine.name} does anything")
    program = Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=operations,
        outputs=tuple(outputs),
        decode={
            counts: machine.states.index(part.states[q]) for counts, q in images.items()
        },
    )
    return one_tuple_each(program, "power")


def _powers(act: IntArray) -> tuple[list[IntArray], int]:
    """All different powers of a map, a⁰ first, and the period of the last ones."""
    powers = [np.arange(len(act))]
    known = {powers[0].tobytes(): 0}
    while (after := act[powers[-1]]).tobytes() not in known:
        known[after.tobytes()] = len(powers)
        powers.append(after)
    return powers, len(powers) - known[after.tobytes()]


def _count_channels(
    name: str, alike: IntArray, classes: int, period: int, length: int
) -> dict[str, Operation]:
    """``{name}.class``: the number of letters among ``alike``, as a power of the act."""
    here: dict[Row, int] = {(a,): int(x) for a, x in enumerate(alike.tolist())}
    bos = len(alike)
    occurs = Map(table({**here, (bos,): 0}), ("token",))
    if (classes, period) == (2, 1):
        flag = Map(table({**here, (bos,): 1}), ("token",))
        return {
            f"{name}.here": occurs,
            f"{name}.flag": flag,
            f"{name}.class": Latest(f"{name}.here", f"{name}.flag"),
        }
    if length > LARGEST_SUM:
        raise CompileError(
            f"counting would need a table of {length} sums; choose a shorter length"
        )
    tail = classes - period
    reduced: dict[Row, int] = {
        (s,): s if s < tail else tail + (s - tail) % period for s in range(length + 1)
    }
    return {
        f"{name}.here": occurs,
        f"{name}.sum": PrefixSum(f"{name}.here"),
        f"{name}.class": Map(table(reduced), (f"{name}.sum",)),
    }
