"""Nested brackets of bounded depth in three layers: depth, partners, first error."""

from dataclasses import dataclass, replace

from krohn.algebra.automaton import Automaton
from krohn.algebra.brackets import Brackets, Stack, as_brackets
from krohn.algebra.semiautomaton import IntArray
from krohn.compiler.constructions.counter import LARGEST_SUM
from krohn.compiler.constructions.stack import Nesting, letter
from krohn.compiler.errors import CompileError
from krohn.compiler.sum_of_steps import form
from krohn.program import LatestMatch, Map, Operation, Program, Row, Token, table

NAME = "dyck"
MOST_PAIRS = 10_000
SUMMARY = "find each bracket's partner by its depth, and the first error"


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
    found = as_brackets(machine)
    if found is None:
        raise CompileError(
            f"{machine.name} is no stack of bounded depth: letters must open and close "
            "brackets, and illegal letters must lead to one absorbing error"
        )
    if length > LARGEST_SUM:
        raise CompileError(
            f"brackets would need a table of {length} sums; choose a shorter length"
        )
    if (length + 1) ** 2 <= MOST_PAIRS:
        program = _program(machine, found, length, direct=True)
        if _sees_differences(program):
            return program
    return _program(machine, found, length, direct=False)


def _sees_differences(program: Program) -> bool:
    """Whether all tables of two counts are steps along a sum; they are large if not."""
    matched = replace(program, one_hot=frozenset({"level", "above"}))
    counts = {"ups", "downs"}
    joint = [
        form(matched, name, operation)
        for name, operation in program.operations.items()
        if isinstance(operation, Map) and counts <= set(operation.reads)
    ]
    return all(found is not None and not found.steep for found in joint)


def _program(machine: Automaton, found: Brackets, length: int, direct: bool) -> Program:
    nesting = Nesting(found, found.stacks[machine.start], length, direct)
    views = None if machine.output is None else _views(found, machine.output.table)
    seen = views is not None and nesting.first == ()
    said = _view(nesting, views or []) if seen else _stack(nesting)
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations={"token": Token(), **nesting.operations(), **said.operations},
        outputs=said.outputs,
        decode=said.decode,
    )


@dataclass(frozen=True)
class _ReadOut:
    """The channels that say the state, or its outputs, and the meaning of their values."""

    operations: dict[str, Operation]
    outputs: tuple[str, ...]
    decode: dict[Row, int]


def _stack(nesting: Nesting) -> _ReadOut:
    """All brackets of the stack if no letter was illegal, else the code of the error."""
    found, operations = nesting.found, dict[str, Operation]()
    for i in nesting.levels:
        rows: dict[Row, int] = {
            (failed, z, kind): _code_at_level(nesting, i, failed, z, kind)
            for failed in (0, 1)
            for z in range(found.depth + 2)
            for kind in range(found.kinds + 1)
        }
        operations[f"at{i}"] = letter([i] * len(found.opens), i)
        operations[f"latest{i}"] = LatestMatch("kind", "level", f"at{i}")
        read = ("failed", "depth", f"latest{i}")
        operations[f"open{i}"] = Map(table(rows), read)
    outputs = tuple(f"open{i}" for i in nesting.levels)
    decode = {_code(found, stack): q for q, stack in enumerate(found.stacks)}
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
    found = nesting.found
    different = list(dict.fromkeys(views))
    label = [different.index(view) for view in views] + [0]
    operations: dict[str, Operation] = {
        "seen": nesting.of_depth(lambda z: label[z]),
        "top": LatestMatch("kind", "level", "depth"),
    }
    state = {
        (len(s), s[-1] if s else 0): q
        for q, s in enumerate(found.stacks)
        if s is not None
    }
    decode: dict[Row, int] = {}
    for top in range(found.kinds + 1):
        for i, view in enumerate(different):
            z = views.index(view)
            decode[0, i, top] = state[z, top if 1 < len(view) > top else 0]
            decode[1, i, top] = found.stacks.index(None)
    return _ReadOut(operations, ("failed", "seen", "top"), decode)
