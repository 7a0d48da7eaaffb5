"""The modular counter: cyclic groups in one layer (Lemma 15, repaired)."""

from collections.abc import Mapping

from krohn.algebra.automaton import Automaton
from krohn.algebra.structure import Counter, as_counter
from krohn.compiler.errors import CompileError
from krohn.program import Map, Operation, PrefixSum, Program, Row, Token, table

NAME = "counter"
LARGEST_SUM = 300_000
SUMMARY = "sum the letters' increments in one uniform head, modulo n (Lemma 15)"


def counter(machine: Automaton, length: int) -> Program:
    """The counter of a machine whose letters rotate a cycle of its states.

    Departures from the paper: the table computes (S + q0) mod n (E14), and the common
    weight of all letters is a power of two.

    Raises:
        CompileError: If the letters do not generate a cyclic group of rotations.
    """
    found = as_counter(machine)
    if found is None:
        raise CompileError(
            f"{machine.name} is no modular counter: its letters must be commuting "
            "permutations that rotate one cycle of all states"
        )
    operations: dict[str, Operation] = {"token": Token()}
    operations |= channels(found, machine, length, "")
    labels = found.labels
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=operations,
        outputs=("count",),
        decode={(labels[q],): q for q in range(len(machine.states))},
    )


def channels(
    found: Counter, machine: Automaton, length: int, prefix: str
) -> Mapping[str, Operation]:
    """Increment, running sum, and the state's label ``{prefix}count``."""
    n = found.modulus
    if max(found.increments) * length > LARGEST_SUM:
        raise CompileError(
            f"a counter would need a table of {max(found.increments) * length} sums; "
            "choose a shorter length or another construction"
        )
    increments: dict[Row, int] = {(a,): i for a, i in enumerate(found.increments)}
    increments[(len(machine.letters),)] = 0
    start = found.labels[machine.start]
    sums = range(max(found.increments) * length + 1)
    counts: dict[Row, int] = {(s,): (s + start) % n for s in sums}
    return {
        f"{prefix}increment": Map(table(increments), ("token",)),
        f"{prefix}sum": PrefixSum(f"{prefix}increment"),
        f"{prefix}count": Map(table(counts), (f"{prefix}sum",)),
    }
