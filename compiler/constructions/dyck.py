"""Nested brackets of bounded depth in three layers: depth, partners, first error."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.brackets import Brackets, Stack, as_brackets
from krohn.compiler.constructions.first_looks import no_stack
from krohn.compiler.machine_programs import machine_program, of_letter, of_sum
from krohn.compiler.table_forms import form
from krohn.program import (
    Latest,
    LatestMatch,
    Map,
    Operation,
    PrefixSum,
    Program,
    Row,
    table,
)

# The channels of all Programs for nested brackets: depths, partners, first error.


@dataclass(frozen=True)
class Nesting:
    """The channels that say how deep a word is nested and whether it is legal.

    Attributes:
        found: The stack machine.
        first: What it holds before the first letter; None for the error.
        length: T.
        direct: Whether tables read pairs of counts as they are, not modulo D + 2.
    """

    found: Brackets
    first: Stack | None
    length: int
    direct: bool

    @property
    def start(self) -> Stack:
        """The stack that BOS stands for; any will do if it is the error."""
        return self.first or ()

    @property
    def levels(self) -> range:
        """The depths at which brackets are opened."""
        return range(1, self.found.depth + 1)

    @property
    def outside(self) -> int:
        """A number that stands for every depth that no stack has."""
        return self.found.depth + 1

    def operations(self) -> dict[str, Operation]:
        """The letters, the depth, the partner of a closing bracket, and the verdict."""
        return {
            **self._letters(),
            **self._depths(),
            "partner": LatestMatch("kind", "level", "above"),
            **self._verdict(),
        }

    def of_depth(self, value: Callable[[int], int]) -> Map:
        """A table of the depth; `outside` where there is none."""
        rows = {row: value(z) for row, z in self._depth_rows().items()}
        return Map(table(rows), self._counts)

    def bracket(self, level: int, kind: int) -> int | None:
        """The kind of the bracket that is open at a level, from the kind fetched there."""
        if kind < self.found.kinds:
            return kind
        return self.start[level - 1] if level <= len(self.start) else None

    @property
    def _counts(self) -> tuple[str, str]:
        return ("ups", "downs") if self.direct else ("upwards", "downwards")

    def _letters(self) -> dict[str, Operation]:
        """The bracket that a letter opens or closes; BOS opened an unknown one."""
        opens, closes = self.found.opens, self.found.closes
        kinds = self.found.kinds
        return {
            "opening": of_letter([int(kind is not None) for kind in opens], 0),
            "closing": of_letter([int(kind is not None) for kind in closes], 0),
            "kind": of_letter([kind or 0 for kind in opens], kinds),
            "closed": of_letter([0 if k is None else k + 1 for k in closes], kinds + 1),
        }

    def _depths(self) -> dict[str, Operation]:
        """The depth, the level that a bracket opens, and the one that it closes."""
        modulus = self.found.depth + 2
        levels: dict[Row, int] = {
            (*row, opening): z * opening if z != self.outside else 0
            for row, z in self._depth_rows().items()
            for opening in (0, 1)
        }
        return {
            "ups": PrefixSum("opening"),
            "downs": PrefixSum("closing"),
            "upwards": of_sum("ups", self.length, lambda s: s % modulus),
            "downwards": of_sum("downs", self.length, lambda s: s % modulus),
            "depth": self.of_depth(lambda z: z),
            "outside": self.of_depth(lambda z: int(z == self.outside)),
            "level": Map(table(levels), (*self._counts, "opening")),
            "above": self.of_depth(lambda z: z + 1 if z < self.found.depth else 0),
        }

    def _depth_rows(self) -> dict[Row, int]:
        """The depth for each pair of counts.

        Counts modulo D + 2 tell −1 and D + 1, both illegal, from all legal depths.
        """
        modulus = self.found.depth + 2
        each = range(self.length + 1 if self.direct else modulus)
        depths = {(u, v): len(self.start) + u - v for u in each for v in each}
        if not self.direct:
            return {row: z % modulus for row, z in depths.items()}
        legal = range(self.outside)
        return {row: z if z in legal else self.outside for row, z in depths.items()}

    def _verdict(self) -> dict[str, Operation]:
        """Whether a letter up to here was illegal."""
        kinds = self.found.kinds
        # Where nothing was open at first, an unknown partner is none at any depth.
        reads, depths = "outside", [0, self.outside]
        if self.start:
            reads, depths = "depth", [*range(self.outside + 1)]
        rows: dict[Row, int] = {
            (partner, i, closed): self._illegal(partner, z, closed)
            for partner in range(kinds + 1)
            for i, z in enumerate(depths)
            for closed in range(kinds + 2)
        }
        flags: dict[Row, int] = {
            row: bad or int(row[2] == kinds + 1) for row, bad in rows.items()
        }
        inputs = ("partner", reads, "closed")
        return {
            "illegal": Map(table(rows), inputs),
            "flagged": Map(table(flags), inputs),
            "failed": Latest("illegal", "flagged"),
        }

    def _illegal(self, partner: int, z: int, closed: int) -> int:
        kinds = self.found.kinds
        if closed == kinds + 1:
            return int(self.first is None)
        if z == self.outside:
            return 1
        return int(closed > 0 and self.bracket(z + 1, partner) != closed - 1)


# Nested brackets of bounded depth in three layers: depth, partners, first error.


MOST_PAIRS = 10_000


def dyck(machine: Automaton, length: int) -> Program:
    """The stack machine for words up to ``length``.

    Let z be the depth, the brackets opened less those closed. While no letter was
    illegal, the i-th bracket of the stack is the latest one that was opened at depth i.
    A letter is illegal if z leaves 0..D, or if it closes another kind than the bracket
    of depth z + 1. The first illegal letter is judged by a stack that is still right; later
    ones do not matter. If the machine's outputs depend only on the depth and
    on the top of the stack, no other bracket is looked for.

    Raises:
        CompileError: If the machine is no stack of bounded depth.
    """
    brackets = as_brackets(machine)
    if brackets is None:
        raise no_stack(machine)
    if (length + 1) ** 2 <= MOST_PAIRS:
        program = _program(machine, brackets, length, direct=True)
        if _sees_differences(program):
            return program
    return _program(machine, brackets, length, direct=False)


def _sees_differences(program: Program) -> bool:
    """Whether all tables of two counts are steps along a sum; they are large if not."""
    matched = replace(program, one_hot=frozenset({"level", "above"}))
    counts = {"ups", "downs"}
    joint = [
        form(matched, name, operation)
        for name, operation in program.operations.items()
        if isinstance(operation, Map) and counts <= set(operation.reads)
    ]
    return all(sum_form is not None and not sum_form.steep for sum_form in joint)


def _program(machine: Automaton, found: Brackets, length: int, direct: bool) -> Program:
    nesting = Nesting(found, found.stacks[machine.start], length, direct)
    views = None if machine.output is None else _views(found, machine.output.table)
    seen = views is not None and nesting.first == ()
    read_out = _view(nesting, views or []) if seen else _stack(nesting)
    operations = {**nesting.operations(), **read_out.operations}
    return machine_program(
        machine, length, operations, read_out.outputs, read_out.decode
    )


@dataclass(frozen=True)
class _ReadOut:
    """The channels that say the state, or its outputs, and the meaning of their values."""

    operations: dict[str, Operation]
    outputs: tuple[str, ...]
    decode: dict[Row, int]


def _stack(nesting: Nesting) -> _ReadOut:
    """All brackets of the stack if no letter was illegal, else the code of the error."""
    brackets, operations = nesting.found, dict[str, Operation]()
    for i in nesting.levels:
        rows: dict[Row, int] = {
            (failed, z, kind): _code_at_level(nesting, i, failed, z, kind)
            for failed in (0, 1)
            for z in range(brackets.depth + 2)
            for kind in range(brackets.kinds + 1)
        }
        operations[f"at{i}"] = of_letter([i] * len(brackets.opens), i)
        operations[f"latest{i}"] = LatestMatch("kind", "level", f"at{i}")
        read = ("failed", "depth", f"latest{i}")
        operations[f"open{i}"] = Map(table(rows), read)
    outputs = tuple(f"open{i}" for i in nesting.levels)
    decode = {_code(brackets, stack): q for q, stack in enumerate(brackets.stacks)}
    return _ReadOut(operations, outputs, decode)


def _code(found: Brackets, stack: Stack | None) -> Row:
    """The values of the outputs: one more than the kind, or 0; a last for errors."""
    empty = (0,) * found.depth
    if stack is None:
        return (found.kinds + 1, *empty[1:])
    return (*(kind + 1 for kind in stack), *empty[len(stack) :])


def _code_at_level(nesting: Nesting, level: int, failed: int, z: int, kind: int) -> int:
    if failed:
        return _code(nesting.found, None)[level - 1]
    bracket = nesting.bracket(level, kind)
    there = level <= z <= nesting.found.depth
    return bracket + 1 if there and bracket is not None else 0


def _views(found: Brackets, shows: IntArray) -> list[Row] | None:
    """The output at each depth for each top of the stack, if these two decide it."""
    shown: dict[tuple[int, int], int] = {}
    for stack, output in zip(found.stacks, shows.tolist(), strict=True):
        if stack is not None:
            top = len(stack), stack[-1] if stack else 0
            if shown.setdefault(top, output) != output:
                return None
    kinds, depths = range(found.kinds), range(1, found.depth + 1)
    return [(shown[0, 0],), *(tuple(shown[z, k] for k in kinds) for z in depths)]


def _view(nesting: Nesting, views: list[Row]) -> _ReadOut:
    """The error, which of the different views it is, and the top where that matters.

    The state that is decoded is one with the right output, not the right state.
    """
    brackets = nesting.found
    different = list(dict.fromkeys(views))
    label = [different.index(view) for view in views] + [0]
    operations: dict[str, Operation] = {
        "seen": nesting.of_depth(lambda z: label[z]),
        "top": LatestMatch("kind", "level", "depth"),
    }
    state = {
        (len(s), s[-1] if s else 0): q
        for q, s in enumerate(brackets.stacks)
        if s is not None
    }
    decode: dict[Row, int] = {}
    for top in range(brackets.kinds + 1):
        for i, view in enumerate(different):
            z = views.index(view)
            decode[0, i, top] = state[z, top if 1 < len(view) > top else 0]
            decode[1, i, top] = brackets.stacks.index(None)
    return _ReadOut(operations, ("failed", "seen", "top"), decode)
