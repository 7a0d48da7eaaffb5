"""The memory: flip-flops of any size in one layer (Lemma 16)."""

from collections.abc import Mapping

from krohn.algebra.automaton import Automaton
from krohn.algebra.structure import Memory, as_memory
from krohn.compiler.errors import CompileError
from krohn.program import Latest, Map, Operation, Program, Row, Token, table

NAME = "memory"
SUMMARY = "fetch the latest letter that wrote (Lemma 16)"


def memory(machine: Automaton, length: int) -> Program:
    """The memory of a machine whose letters each write a state or keep it.

    Departures from the paper: BOS counts as having written the start state (E16), and the
    value that the head fetched is decoded as it is: its noise is far below 1/2.

    Raises:
        CompileError: If some letter neither writes one state nor keeps all.
    """
    found = as_memory(machine)
    if found is None:
        raise CompileError(
            f"{machine.name} is no memory: every letter must either lead all states to "
            "one state or keep every state"
        )
    operations: dict[str, Operation] = {"token": Token()}
    operations |= channels(found, machine, "")
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=operations,
        outputs=("stored",),
        decode={(q,): q for q in (machine.start, *found.writes) if q is not None},
    )


def channels(found: Memory, machine: Automaton, prefix: str) -> Mapping[str, Operation]:
    """The channels of the letter's write, of its flag, and of the stored state."""
    bos = len(machine.letters)
    values: dict[Row, int] = {(a,): q or 0 for a, q in enumerate(found.writes)}
    flags: dict[Row, int] = {
        (a,): int(q is not None) for a, q in enumerate(found.writes)
    }
    return {
        f"{prefix}written": Map(table({**values, (bos,): machine.start}), ("token",)),
        f"{prefix}writes": Map(table({**flags, (bos,): 1}), ("token",)),
        f"{prefix}stored": Latest(f"{prefix}written", f"{prefix}writes"),
    }
