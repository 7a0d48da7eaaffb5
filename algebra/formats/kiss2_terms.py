"""From the product terms of a KISS2 file to tables, one row for each class of inputs.

Two input vectors are of one class if in every state they lead to the same next state
with the same output. The classes are found by a diagram that asks for one bit after the
other and keeps the terms that still fit: vectors that fit the same terms act alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from krohn.algebra.errors import MachineError
from krohn.algebra.formats.file_errors import problem, quote
from krohn.algebra.input_decision_diagram import Inputs, Node
from krohn.algebra.semiautomaton import IntArray

OPEN = ("*", "-")
"""Next states that leave open where to go; ``*`` as a state stands for all of them."""

MOST_WORK = 2**26
"""The most terms in all sets that are told apart, each set counting as EACH more."""
EACH = 2**8


class Term(NamedTuple):
    """A product term.

    Attributes:
        cube: The input bits; ``-`` stands for both.
        source: A state, or ``*`` for all.
        target: The next state, or one of `OPEN`.
        output: The output bits; ``-`` leaves one open.
        line: Where the file says so.
    """

    cube: str
    source: str
    target: str
    output: str
    line: int


@dataclass(frozen=True)
class Tables:
    """The tables of all terms of a file together.

    Attributes:
        inputs: The class of each vector of input bits.
        transitions: ``(classes, states)``; -1 where no next state is given.
        outputs: ``(classes, states)`` indices into ``names``; -1 where no term fits.
        names: The outputs; bits that all terms leave open are 0.
    """

    inputs: Inputs
    transitions: IntArray
    outputs: IntArray
    names: tuple[str, ...]


def tabulate(
    name: str, width: int, terms: Sequence[Term], states: Sequence[str]
) -> Tables:
    """The classes of input vectors, with their transitions and outputs.

    Args:
        name: What to call the file in messages.
        width: How many input bits there are.
        terms: At least one.
        states: All states that the terms name.

    Raises:
        MachineError: If two terms contradict each other, or too many classes must be
            told apart.
    """
    leaves, below = _divide(name, width, terms)
    cells = _Cells(terms, states)
    classes: dict[_Row, int] = {}
    ends = []
    for leaf, fitting in enumerate(leaves):
        try:
            row = cells.row(fitting.tolist())
        except _Clash as clash:
            raise clash.error(name, states, _example(below, leaf)) from None
        ends.append(-1 - classes.setdefault(row, len(classes)))
    outputs = [
        [None if o is None else o.replace("-", "0") for _, o in r] for r in classes
    ]
    names = tuple(dict.fromkeys(o for row in outputs for o in row if o is not None))
    number = {None: -1} | {name: i for i, name in enumerate(names)}
    return Tables(
        _diagram(width, below, ends),
        np.array([[target for target, _ in row] for row in classes]),
        np.array([[number[o] for o in row] for row in outputs]),
        names,
    )


_Cell = tuple[int, str | None]
_Row = tuple[_Cell, ...]
_Below = list[tuple[int, int]]
"""For each piece of a level the pieces of the next if the bit is 0, and if it is 1."""


def _divide(
    name: str, width: int, terms: Sequence[Term]
) -> tuple[list[IntArray], list[_Below]]:
    """The sets of terms that fit some input vector, and how bits lead to them."""
    cubes = np.frombuffer("".join(t.cube for t in terms).encode(), dtype=np.uint8)
    cubes = cubes.reshape(len(terms), width)
    sets, levels, work = [np.arange(len(terms))], [], 0
    for bit in range(width):
        numbers: dict[bytes, int] = {}
        found: list[IntArray] = []
        below: _Below = []
        for fitting in sets:
            asked = cubes[fitting, bit]
            pair = []
            for other in b"10":
                rest = fitting[asked != other]
                at = numbers.setdefault(rest.tobytes(), len(numbers))
                if at == len(found):
                    found.append(rest)
                    work += EACH + len(rest)
                pair.append(at)
            below.append((pair[0], pair[1]))
            if work > MOST_WORK:
                raise _too_many(name, bit + 1, width, len(found))
        sets = found
        levels.append(below)
    return sets, levels


def _too_many(name: str, bits: int, width: int, pieces: int) -> MachineError:
    return problem(
        name,
        0,
        f"the first {bits} of {width} input bits alone distinguish more than {pieces} "
        "sets of product terms, which makes too many letters; give a circuit whose cubes "
        "overlap less, or put the bits first that decide most",
    )


class _Clash(Exception):
    """Two terms that fit one input contradict each other in a state."""

    def __init__(self, state: int, first: Term, second: Term) -> None:
        super().__init__()
        self.state, self.first, self.second = state, first, second

    def error(self, name: str, states: Sequence[str], vector: str) -> MachineError:
        """The error about two terms, with an input vector that both fit."""
        first, second = self.first, self.second
        return problem(
            name,
            second.line,
            f"in state {quote(states[self.state])} the input {vector} leads to "
            f"{quote(first.target)} with output {first.output} (line {first.line}) "
            f"and to {quote(second.target)} with output {second.output}; keep one of them",
        )


class _Cells:
    """The next states and outputs under sets of terms that fit together."""

    def __init__(self, terms: Sequence[Term], states: Sequence[str]) -> None:
        self._terms = terms
        self._index = {q: i for i, q in enumerate(states)}
        self._known: dict[tuple[int, tuple[int, ...]], _Cell] = {}

    def row(self, fitting: list[int]) -> _Row:
        """The next state and the output of every state under these terms."""
        always = [i for i in fitting if self._terms[i].source == "*"]
        own: dict[int, list[int]] = {}
        for i in fitting:
            if self._terms[i].source != "*":
                own.setdefault(self._index[self._terms[i].source], []).append(i)
        return tuple(
            self._cell(q, tuple(sorted(always + own.get(q, []))))
            for q in range(len(self._index))
        )

    def _cell(self, q: int, fitting: tuple[int, ...]) -> _Cell:
        if not fitting:
            return -1, None
        if (q, fitting) not in self._known:
            chosen = [self._terms[i] for i in fitting]
            named = next((t for t in chosen if t.target not in OPEN), None)
            output = chosen[0].output
            for term in chosen:
                if term.target not in OPEN and named and term.target != named.target:
                    raise _Clash(q, named, term)
                if not _agree(output, term.output):
                    first = next(t for t in chosen if not _agree(t.output, term.output))
                    raise _Clash(q, first, term)
                output = _merge_bits(output, term.output)
            target = -1 if named is None else self._index[named.target]
            self._known[q, fitting] = (target, output)
        return self._known[q, fitting]


def _agree(first: str, second: str) -> bool:
    return all(a == b or "-" in (a, b) for a, b in zip(first, second, strict=True))


def _merge_bits(first: str, second: str) -> str:
    return "".join(b if a == "-" else a for a, b in zip(first, second, strict=True))


def _example(levels: list[_Below], leaf: int) -> str:
    """An input vector that fits the terms of a leaf."""
    vector, at = "", leaf
    for below in reversed(levels):
        at, bit = next(
            (i, pair.index(at)) for i, pair in enumerate(below) if at in pair
        )
        vector = f"{bit}{vector}"
    return vector


def _diagram(width: int, levels: list[_Below], leaves: list[int]) -> Inputs:
    """The diagram without questions that do not matter, and equal nodes once."""
    nodes: dict[Node, int] = {}
    found = leaves
    for bit in reversed(range(width)):
        found = [
            found[zero]
            if found[zero] == found[one]
            else nodes.setdefault((bit, found[zero], found[one]), len(nodes))
            for zero, one in levels[bit]
        ]
    return Inputs(width, tuple(nodes))
