"""Machines of one layer: memories, counters, products of them, commutative machines."""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.minimisation import reachable
from krohn.algebra.structure import (
    Counter,
    Factor,
    Memory,
    as_corridor,
    as_counter,
    as_memory,
    parallel_factors,
)
from krohn.compiler import CompileError
from krohn.compiler.machine_programs import (
    machine_program,
    of_letter,
    of_sum,
    one_tuple_each,
)
from krohn.program import Latest, Operation, PrefixSum, Program, Row

# The memory: flip-flops of any size (Lemma 16).


def memory(machine: Automaton, length: int) -> Program:
    """The memory of a machine whose letters each write a state or keep it.

    Departures from the paper: BOS counts as having written the start state (E16), and the
    value that the head fetched is decoded as it is: its noise is far below 1/2.

    Raises:
        CompileError: If some letter neither writes one state nor keeps all.
    """
    known = as_memory(machine)
    if known is None:
        raise CompileError(
            f"{machine.name} is no memory: every letter must either lead all states to "
            "one state or keep every state"
        )
    decode: dict[Row, int] = {
        (q,): q for q in (machine.start, *known.writes) if q is not None
    }
    channels = memory_channels(known, machine.start, "")
    return machine_program(machine, length, channels, ("stored",), decode)


def memory_channels(found: Memory, start: int, prefix: str) -> dict[str, Operation]:
    """The channels of the letter's write, of its flag, and of the stored state."""
    return {
        f"{prefix}written": of_letter((q or 0 for q in found.writes), start),
        f"{prefix}writes": of_letter((q is not None for q in found.writes), 1),
        f"{prefix}stored": Latest(f"{prefix}written", f"{prefix}writes"),
    }


# The modular counter: cyclic groups (Lemma 15, repaired).


def counter(machine: Automaton, length: int) -> Program:
    """The counter of a machine whose letters rotate a cycle of its states.

    Departures from the paper: the table computes (S + q0) mod n (E14), and the common
    weight of all letters is a power of two.

    Raises:
        CompileError: If the letters do not generate a cyclic group of rotations.
    """
    cycle = as_counter(machine)
    if cycle is None:
        raise CompileError(
            f"{machine.name} is no modular counter: its letters must be commuting "
            "permutations that rotate one cycle of all states"
        )
    channels = counter_channels(cycle, machine.start, length, "")
    decode: dict[Row, int] = {(label,): q for q, label in enumerate(cycle.labels)}
    return machine_program(machine, length, channels, ("count",), decode)


def counter_channels(
    found: Counter, start: int, length: int, prefix: str
) -> dict[str, Operation]:
    """Increment, running sum, and the state's label ``{prefix}count``."""
    n, first, most = found.modulus, found.labels[start], max(found.increments) * length
    return {
        f"{prefix}increment": of_letter(found.increments, 0),
        f"{prefix}sum": PrefixSum(f"{prefix}increment"),
        f"{prefix}count": of_sum(f"{prefix}sum", most, lambda s: (s + first) % n),
    }


# The direct product: factors of a machine side by side (Lemma 17).


@dataclass(frozen=True)
class Component:
    """A factor as a part of a Program.

    Attributes:
        operations: Its channels.
        output: The channel that says its state.
        codes: The value of its output for each of its states.
    """

    operations: dict[str, Operation]
    output: str
    codes: list[int]


def product(machine: Automaton, length: int) -> Program:
    """The product of a machine's quotients, each a counter, a memory or a gridworld.

    The quotients are found from congruences of the machine, so every abelian group,
    every product of flip-flops and every gridworld of several dimensions is served,
    however its states are named. The machine need only be a *sub*-machine of the
    product: the read-out knows the reachable tuples.

    Raises:
        CompileError: If the machine has no such quotients.
    """
    factors = parallel_factors(machine)
    if factors is None:
        raise CompileError(
            f"{machine.name} is not a product of smaller machines on the same letters"
        )
    components = [
        _component(factor, machine, length, f"factor{i}.")
        for i, factor in enumerate(factors)
    ]
    operations: dict[str, Operation] = {}
    for component in components:
        operations |= component.operations
    alive = set(reachable(machine).states)
    pairs = list(zip(factors, components, strict=True))
    decode: dict[Row, int] = {
        tuple(c.codes[f.block[q]] for f, c in pairs): q
        for q, name in enumerate(machine.states)
        if name in alive
    }
    outputs = tuple(c.output for c in components)
    return machine_program(machine, length, operations, outputs, decode)


def _component(
    factor: Factor, machine: Automaton, length: int, prefix: str
) -> Component:
    part = factor.machine
    if (count := as_counter(part)) is not None:
        made = counter_channels(count, part.start, length, prefix)
        return Component(made, f"{prefix}count", list(count.labels))
    if (stored := as_memory(part)) is not None:
        made = memory_channels(stored, part.start, prefix)
        return Component(made, f"{prefix}stored", list(range(len(part.states))))
    if (walked := as_corridor(part)) is not None:
        from krohn.compiler.constructions.gridworld import corridor_channels

        made = corridor_channels(walked, part.start, length, prefix)
        return Component(made, f"{prefix}cell", list(walked.cell))
    raise CompileError(
        f"{machine.name} is no product of counters, memories and gridworlds: a factor "
        f"with {len(part.states)} states is none of these"
    )


# Commutative machines: how often each letter has occurred decides, whatever the order.

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
    operations: dict[str, Operation] = {}
    acts = np.unique(rows, axis=0)
    acts = acts[(acts != np.arange(rows.shape[1])).any(axis=1)]
    outputs: list[str] = []
    images: dict[Row, int] = {(): part.start}
    for i, act in enumerate(acts):
        powers, period = _powers(act)
        alike = (rows == act).all(axis=1)
        operations |= _count_channels(f"letter{i}", alike, len(powers), period, length)
        outputs.append(f"letter{i}.class")
        if len(images) * len(powers) > LARGEST_TABLE:
            raise CompileError(f"too many counts decide the state of {machine.name}")
        images = {
            (*counts, n): int(power[q])
            for counts, q in images.items()
            for n, power in enumerate(powers)
        }
    if not outputs:
        raise CompileError(f"no letter of {machine.name} does anything")
    decode = {
        counts: machine.states.index(part.states[q]) for counts, q in images.items()
    }
    program = machine_program(machine, length, operations, tuple(outputs), decode)
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
    made: dict[str, Operation] = {f"{name}.here": of_letter(alike, 0)}
    if (classes, period) == (2, 1):
        made[f"{name}.flag"] = of_letter(alike, 1)
        made[f"{name}.class"] = Latest(f"{name}.here", f"{name}.flag")
        return made
    tail = classes - period
    made[f"{name}.sum"] = PrefixSum(f"{name}.here")
    made[f"{name}.class"] = of_sum(
        f"{name}.sum", length, lambda s: s if s < tail else tail + (s - tail) % period
    )
    return made
