"""What Programs of machines have in common: tables of the letter, and what they say."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.minimisation import minimise
from krohn.compiler import CompileError
from krohn.compiler.passes.simplify import InferDomains
from krohn.network.precision import FloatArray, Precision
from krohn.program import (
    Domain,
    Map,
    Operation,
    Program,
    Row,
    Token,
    Vectors,
    table,
)

# The Program of a machine, and its tables of the letter.


def machine_program(
    machine: Automaton,
    length: int,
    operations: Mapping[str, Operation],
    outputs: tuple[str, ...],
    decode: Mapping[Row, int],
) -> Program:
    """A Program for the states of a machine.

    Args:
        machine: The machine.
        length: T.
        operations: Its channels; the token is added.
        outputs: The channels that say the state.
        decode: The state that each tuple of their values means.
    """
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations={"token": Token(), **operations},
        outputs=outputs,
        decode=decode,
    )


def of_letter(values: Iterable[int], at_bos: int) -> Map:
    """A table of the letter: the value of each letter, and that at BOS."""
    rows: dict[Row, int] = {(a,): int(v) for a, v in enumerate([*values, at_bos])}
    return Map(table(rows), ("token",))


def letter_itself(letters: int) -> Map:
    """The letter as a number; BOS is the last one."""
    return of_letter(range(letters), letters)


LARGEST_SUM = 300_000
"""Rows of a table of a sum."""


def of_sum(total: str, most: int, value: Callable[[int], int]) -> Map:
    """A table of a sum.

    Args:
        total: The channel of the sum.
        most: The largest sum.
        value: The value for each sum.

    Raises:
        CompileError: If there are too many sums.
    """
    if most > LARGEST_SUM:
        raise CompileError(
            f"a table of {most} sums would be needed; choose a shorter length or another "
            "construction"
        )
    return Map(table({(s,): value(s) for s in range(most + 1)}), (total,))


# Programs that say the output of a state instead of the state.


def forms(machine: Automaton) -> list[Automaton]:
    """The machine itself and, if it is smaller, the least that shows the same."""
    if machine.output is None:
        return [machine]
    smaller = least(machine)
    alike = len(smaller.states) == len(machine.states)
    return [machine] if alike else [machine, smaller]


def least(machine: Automaton) -> Automaton:
    """The smallest machine that shows the same, acting on its states if they are few."""
    smallest = minimise(machine)
    few = smallest.action is not None and len(smallest.action[0]) >= len(
        smallest.states
    )
    return replace(smallest, action=None) if few else smallest


def decode_outputs(program: Program, machine: Automaton) -> Program:
    """A Program for the states of a machine, made to decode to its outputs.

    Outputs of the Program that the machine's output does not depend on are left out.
    If several tuples of the others mean one output, tables put them together, one
    channel after the other: of the channels so far they keep what later ones can
    still tell apart.

    Args:
        program: A Program that decodes to states; any state with the right output will do.
        machine: With outputs on states.
    """
    assert machine.output is not None
    shows = machine.output.table
    wanted = {row: int(shows[q]) for row, q in program.decode.items()}
    kept = _deciding_columns(wanted, len(program.outputs))
    classes = {_columns(row, kept): c for row, c in wanted.items()}
    read = replace(
        program,
        states=len(machine.output.names),
        outputs=tuple(program.outputs[i] for i in kept),
        decode=classes,
    )
    return one_tuple_each(read, "shown")


def say_vectors(program: Program, vectors: Vectors) -> Program:
    """A Program for the states of a machine, made to say a real vector in each.

    Args:
        program: A Program that decodes to states.
        vectors: The vector of each state.
    """
    joined = _with_one_output(program, "situation")
    vector_of = {joined.outputs[0]: vectors}
    return replace(joined, states=len(vectors[0]), vectors=vector_of)


def vectors_of(numbers: FloatArray, precision: Precision) -> Vectors:
    """Real vectors as the format holds them, row by row; numbers too small for it are 0."""
    rounded = precision.round(
        np.where(np.abs(numbers) < precision.smallest, 0, numbers)
    )
    return tuple(map(tuple, rounded.tolist()))


def one_tuple_each(program: Program, name: str) -> Program:
    """The Program with one tuple of outputs for each state.

    Args:
        program: Several tuples may mean one state.
        name: What the channels that put the outputs together, if need be, begin with.
    """
    alone = len(set(program.decode.values())) == len(program.decode)
    return program if alone else _with_one_output(program, name)


def _columns(row: Row, kept: list[int]) -> Row:
    return tuple(row[i] for i in kept)


def _deciding_columns(wanted: Mapping[Row, int], width: int) -> list[int]:
    """Columns that determine the class, none of which can be left out; one at least."""
    kept = list(range(width))
    for column in reversed(range(width)):
        fewer = [i for i in kept if i != column]
        shown: dict[Row, int] = {}
        if fewer and all(
            shown.setdefault(_columns(row, fewer), c) == c for row, c in wanted.items()
        ):
            kept = fewer
    return kept


@dataclass(frozen=True)
class _Prefixes:
    """Labels of the prefixes of output tuples.

    Attributes:
        of: For each prefix of a tuple, its label; 0 is for prefixes that do not occur.
        labels: How many labels there are.
    """

    of: Mapping[Row, int]
    labels: int


def _with_one_output(program: Program, prefix: str) -> Program:
    """The Program with one output channel, whose value is the class."""
    domains = InferDomains().apply(program).domains
    operations = dict(program.operations)
    last, before = "", _Prefixes({(): 0}, 1)
    for width, name in enumerate(program.outputs, start=1):
        now = _prefixes(program.decode, width)
        rows = _rows(before, now, domains[name])
        # The first table reads one channel only; there is nothing before it.
        rows = rows if last else {row[1:]: v for row, v in rows.items()}
        inputs = (last, name) if last else (name,)
        last = f"{prefix}{width}"
        operations[last] = Map(table(rows), inputs)
        before = now
    decode: dict[Row, int] = {(c,): c for c in set(program.decode.values())}
    joined: dict[str, Operation] = operations
    return replace(program, operations=joined, outputs=(last,), decode=decode)


def _prefixes(decode: Mapping[Row, int], width: int) -> _Prefixes:
    """Labels for prefixes; prefixes that nothing later tells apart have one label."""
    if width == len(next(iter(decode))):
        return _Prefixes(decode, 1 + max(decode.values()))
    futures: dict[Row, set[tuple[Row, int]]] = {}
    for row, shown in decode.items():
        futures.setdefault(row[:width], set()).add((row[width:], shown))
    labels: dict[frozenset[tuple[Row, int]], int] = {}
    of = {
        prefix: labels.setdefault(frozenset(future), len(labels))
        for prefix, future in futures.items()
    }
    return _Prefixes(of, len(labels))


def _rows(before: _Prefixes, now: _Prefixes, domain: Domain) -> dict[Row, int]:
    """The label after one more channel; rows that do not occur have any label."""
    rows: dict[Row, int] = {
        (label, value): 0 for label in range(before.labels) for value in domain
    }
    for prefix, label in now.of.items():
        rows[before.of[prefix[:-1]], prefix[-1]] = label
    return rows
