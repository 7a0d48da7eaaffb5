"""Nested brackets of bounded depth in three layers: depth, partners, first error."""

from collections.abc import Callable
from dataclasses import dataclass

from algebra.automaton import Automaton
from algebra.brackets import Brackets, Stack, as_brackets
from compiler.errors import CompileError
from compiler.program import (
    Latest,
    LatestMatch,
    Map,
    Operation,
    PrefixSum,
    Program,
    Row,
    Table,
    Token,
    table,
)

NAME = "dyck"
SUMMARY = "find each bracket's partner by its depth, and the first error"


def dyck(machine: Automaton, length: int) -> Program:
    """The stack machine for words up to ``length``.

    Let z be the depth, the brackets opened less those closed. While no letter was
    illegal, the i-th bracket of the stack is the latest one that was opened at depth i.
    A letter is illegal if z leaves 0..D, or if it closes another kind than that of
    depth z + 1. The first illegal letter is judged by a stack that is still right; what
    is found later does not matter. Depths modulo D + 2 tell −1 and D + 1, both illegal,
    from all legal ones.

    Raises:
        CompileError: If the machine is no stack of bounded depth.
    """
    found = as_brackets(machine)
    if found is None:
        raise CompileError(
            f"{machine.name} is no stack of bounded depth: letters must open and close "
            "brackets, and illegal letters must lead to one absorbing error"
        )
    build = _Stack(found, found.stacks[machine.start], length)
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations={
            "token": Token(),
            **build.letters(),
            **build.depths(),
            **build.partners(),
            **build.verdict(),
            **build.shown(),
        },
        outputs=tuple(f"open{i}" for i in build.levels),
        decode={build.code(stack): q for q, stack in enumerate(found.stacks)},
    )


@dataclass(frozen=True)
class _Stack:
    """The parts of the Program of a stack.

    Attributes:
        found: The stack machine.
        first: What it holds before the first letter; None for the error.
        length: T.
    """

    found: Brackets
    first: Stack | None
    length: int

    @property
    def start(self) -> Stack:
        """The stack that BOS stands for; any will do if it is the error."""
        return self.first or ()

    @property
    def levels(self) -> range:
        """The depths at which brackets are opened."""
        return range(1, self.found.depth + 1)

    @property
    def modulus(self) -> int:
        """Depths are told apart modulo D + 2."""
        return self.found.depth + 2

    def code(self, stack: Stack | None) -> Row:
        """The values of the outputs: one more than the kind, or 0; a last for errors."""
        empty = (0,) * self.found.depth
        if stack is None:
            return (self.found.kinds + 1, *empty[1:])
        return (*(kind + 1 for kind in stack), *empty[len(stack) :])

    def letters(self) -> dict[str, Operation]:
        """What a letter opens or closes; BOS opened something unknown."""
        opens, closes = self.found.opens, self.found.closes
        kinds = self.found.kinds
        return {
            "opening": _letter([int(kind is not None) for kind in opens], 0),
            "closing": _letter([int(kind is not None) for kind in closes], 0),
            "kind": _letter([kind or 0 for kind in opens], kinds),
            "closed": _letter([0 if k is None else k + 1 for k in closes], kinds + 1),
        }

    def depths(self) -> dict[str, Operation]:
        """The depth modulo D + 2, the level a bracket opens, and the one it closes."""
        residues: dict[Row, int] = {
            (s,): s % self.modulus for s in range(self.length + 1)
        }
        within = {z: z if z <= self.found.depth else 0 for z in range(self.modulus)}
        counts = ("upwards", "downwards")
        levels: dict[Row, int] = {
            (*row, opening): within[z] * opening
            for row, z in self._depth_rows().items()
            for opening in (0, 1)
        }
        return {
            "ups": PrefixSum("opening"),
            "downs": PrefixSum("closing"),
            "upwards": Map(table(residues), ("ups",)),
            "downwards": Map(table(residues), ("downs",)),
            "depth": Map(self._of_depth(lambda z: z), counts),
            "level": Map(table(levels), (*counts, "opening")),
            "above": Map(self._of_depth(lambda z: within.get(z + 1, 0)), counts),
        }

    def partners(self) -> dict[str, Operation]:
        """The latest bracket of every level, and of the level just closed."""
        operations: dict[str, Operation] = {}
        for i in self.levels:
            operations[f"at{i}"] = _letter([i] * len(self.found.opens), i)
            operations[f"latest{i}"] = LatestMatch("kind", "level", f"at{i}")
        return {**operations, "partner": LatestMatch("kind", "level", "above")}

    def verdict(self) -> dict[str, Operation]:
        """Whether a letter up to here was illegal."""
        kinds = self.found.kinds
        rows: dict[Row, int] = {
            (partner, z, closed): self._illegal(partner, z, closed)
            for partner in range(kinds + 1)
            for z in range(self.modulus)
            for closed in range(kinds + 2)
        }
        flags: dict[Row, int] = {
            row: bad or int(row[2] == kinds + 1) for row, bad in rows.items()
        }
        inputs = ("partner", "depth", "closed")
        return {
            "illegal": Map(table(rows), inputs),
            "flagged": Map(table(flags), inputs),
            "failed": Latest("illegal", "flagged"),
        }

    def shown(self) -> dict[str, Operation]:
        """The stack if no letter was illegal, else the code of the error."""
        operations: dict[str, Operation] = {}
        for i in self.levels:
            rows: dict[Row, int] = {
                (failed, z, kind): self._shown(i, failed, z, kind)
                for failed in (0, 1)
                for z in range(self.modulus)
                for kind in range(self.found.kinds + 1)
            }
            read = ("failed", "depth", f"latest{i}")
            operations[f"open{i}"] = Map(table(rows), read)
        return operations

    def _depth_rows(self) -> dict[Row, int]:
        m = self.modulus
        both = [(u, v) for u in range(m) for v in range(m)]
        return {(u, v): (len(self.start) + u - v) % m for u, v in both}

    def _of_depth(self, value: Callable[[int], int]) -> Table:
        return table({row: value(z) for row, z in self._depth_rows().items()})

    def _bracket(self, level: int, kind: int) -> int | None:
        """The kind that is open at a level, from what was found there."""
        if kind < self.found.kinds:
            return kind
        return self.start[level - 1] if level <= len(self.start) else None

    def _illegal(self, partner: int, z: int, closed: int) -> int:
        kinds = self.found.kinds
        if closed == kinds + 1:
            return int(self.first is None)
        if z == self.found.depth + 1:
            return 1
        return int(closed > 0 and self._bracket(z + 1, partner) != closed - 1)

    def _shown(self, level: int, failed: int, z: int, kind: int) -> int:
        if failed:
            return self.code(None)[level - 1]
        bracket = self._bracket(level, kind)
        there = level <= z <= self.found.depth
        return bracket + 1 if there and bracket is not None else 0


def _letter(values: list[int], at_bos: int) -> Map:
    return Map(table({(a,): v for a, v in enumerate([*values, at_bos])}), ("token",))
