"""KISS2: the controllers of the LGSynth benchmarks, as SIS and ABC write them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from krohn.algebra.automaton import (
    MOST_BITS,
    Automaton,
    Inputs,
    IntArray,
    Node,
    shorten,
)
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.assembly import (
    BoolArray,
    Draft,
    complete_draft,
    shown_after,
    with_remark,
)
from krohn.algebra.formats.files import (
    Complete,
    check_size,
    check_writable,
    problem,
    quote,
)

# From the product terms of a KISS2 file to tables, one row for each class of inputs.
#
# Two input vectors are of one class if in every state they lead to the same next state
# with the same output. The classes are found by a diagram that asks for one bit after the
# other and keeps the terms that still fit: vectors that fit the same terms act alike.


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
        left_open: ``(classes, states)``: whether such a bit is in the output.
    """

    inputs: Inputs
    transitions: IntArray
    outputs: IntArray
    names: tuple[str, ...]
    left_open: BoolArray


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
        np.array([["-" in (o or "") for _, o in row] for row in classes]),
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
        subsets: list[IntArray] = []
        below: _Below = []
        for fitting in sets:
            asked = cubes[fitting, bit]
            pair = []
            for other in b"10":
                rest = fitting[asked != other]
                at = numbers.setdefault(rest.tobytes(), len(numbers))
                if at == len(subsets):
                    subsets.append(rest)
                    work += EACH + len(rest)
                pair.append(at)
            below.append((pair[0], pair[1]))
            if work > MOST_WORK:
                raise _too_many(name, bit + 1, width, len(subsets))
        sets = subsets
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
    nodes_below = leaves
    for bit in reversed(range(width)):
        nodes_below = [
            nodes_below[zero]
            if nodes_below[zero] == nodes_below[one]
            else nodes.setdefault(
                (bit, nodes_below[zero], nodes_below[one]), len(nodes)
            )
            for zero, one in levels[bit]
        ]
    return Inputs(width, tuple(nodes))


# KISS2: the controllers of the LGSynth benchmarks, as SIS and ABC write them.
#
# ``.i`` and ``.o`` give the numbers of input and output bits, ``.p`` the number of
# product terms, ``.s`` the number of states and ``.r`` the start state. A product term
# is a line ``cube state next output``, where ``-`` in the cube stands for both bits.


MOST_COMBINATIONS = 8
"""Each combination of so many input bits is a letter, 256 at most. With more bits those
that act alike are one letter: nobody names 4,096 letters, and few of them differ."""

_IGNORED = (".ilb", ".ob", ".latch", ".latch_order", ".code", ".clock", ".phase")
_ENDS = (".e", ".end", ".end_kiss")
_NUMBERS = (".i", ".o", ".p", ".s")
_STATE = re.compile(r"(?!\.)(?!(?:\*|-)\Z)[^\s#]+")
_BITS = re.compile(r"[01]+")
_SIGN = re.compile(
    r"(?:\s++|#[^\n]*+)*+(?:\.(?!i[ \t]|start_kiss\b)[^\n]*+(?:\s++|#[^\n]*+)*+)*+"
    r"\.(?:i[ \t]++\d|start_kiss\b)"
)


@dataclass
class _File:
    name: str
    numbers: dict[str, int] = field(default_factory=dict)
    reset: str | None = None
    terms: list[Term] = field(default_factory=list)


def has_sign(text: str) -> bool:
    """Whether a text begins with lines of KISS2, or of a circuit with KISS2 in it."""
    return _SIGN.match(text) is not None


def read(text: str, name: str, complete: Complete = "reject") -> Automaton:
    """The Mealy machine of a KISS2 file.

    The letters are all the combinations of input bits, ``"00"`` to ``"11"`` for two
    bits; with more than ``MOST_COMBINATIONS`` bits, the classes of combinations that do
    the same in every state. Outputs are strings of bits. A bit ``-`` of an output is
    left open by the file; other product terms for the same transition decide it, else it
    is 0. Without ``.r`` the machine starts in the state of the first product term.

    Args:
        text: The file.
        name: What to call the file in messages.
        complete: The treatment of transitions that no product term gives; what these
            show is undefined.

    Raises:
        MachineError: If a line is malformed, a count does not fit, two product terms
            contradict each other, the input bits have too many classes, or transitions
            are missing, or left open by a next state ``*`` or ``-``, and ``complete``
            does not say what to do.
    """
    file = _parse(text, name)
    _check_counts(file)
    draft, left_open = _draft(file)
    machine = complete_draft(draft, complete)
    if not left_open:
        return machine
    return with_remark(
        machine,
        f"{name}: {left_open} of {draft.transitions.size} transitions leave output bits "
        "open ('-'), which are read as 0",
    )


def write(machine: Automaton) -> str:
    """The machine as KISS2, one product term for each transition.

    Where a letter is a class of input vectors, each of its cubes has a term. Outputs on
    states are written on the transitions that lead to them.

    Raises:
        MachineError: If the letters are not all the bit strings of one length, the
            outputs not bit strings of one length, or a state's name has a space.
    """
    outputs = shown_after(machine)
    _check_names(machine, {output for row in outputs for output in row})
    cubes = list(enumerate(machine.letters))
    if machine.inputs is not None:
        cubes = [(letter, cube) for cube, letter in machine.inputs.paths()]
    head = [
        f".i {len(cubes[0][1])}",
        f".o {len(outputs[0][0])}",
        f".p {len(cubes) * len(machine.states)}",
        f".s {len(machine.states)}",
        f".r {machine.states[machine.start]}",
    ]
    terms = [
        f"{cube} {state} {machine.states[machine.transitions[a, q]]} {outputs[a][q]}"
        for q, state in enumerate(machine.states)
        for a, cube in cubes
    ]
    return "\n".join([*head, *terms, ".e", ""])


def _check_names(machine: Automaton, outputs: set[str]) -> None:
    if machine.inputs is None:
        form = "KISS2 letters are bit strings"
        check_writable(machine.letters, _BITS, "letter", form)
    check_writable(outputs, _BITS, "output", "KISS2 outputs are bit strings")
    check_writable(machine.states, _STATE, "state", "KISS2 states are single words")
    letters, width = machine.letters, len(machine.letters[0])
    whole = {len(a) for a in letters} == {width} and len(letters) == 2**width
    if machine.inputs is None and not whole:
        raise MachineError(
            "KISS2 letters must be all the bit strings of one length; these are "
            f"{shorten(letters)}"
        )
    if len({len(output) for output in outputs}) > 1:
        raise MachineError("KISS2 outputs must be bit strings of one length")


def _parse(text: str, name: str) -> _File:
    file = _File(name)
    lines = [line.partition("#")[0].split() for line in text.split("\n")]
    begin = lines.index([".start_kiss"]) + 1 if [".start_kiss"] in lines else 0
    for number, words in enumerate(lines[begin:], begin + 1):
        if not words:
            continue
        if words[0] in _ENDS:
            _check_rest(file, lines[number:], number + 1)
            break
        parse = _directive if words[0].startswith(".") else _product_term
        parse(file, words, number)
    return file


def _check_rest(file: _File, lines: list[list[str]], first: int) -> None:
    """Refuse a second machine behind the end of the first one."""
    for number, words in enumerate(lines, first):
        if words and words[0] in (".i", ".start_kiss"):
            raise problem(file.name, number, "a second machine; give a file with one")


def _directive(file: _File, words: list[str], line: int) -> None:
    key = words[0]
    if key in _IGNORED:
        return
    if key not in (*_NUMBERS, ".r"):
        raise problem(file.name, line, f"{quote(key)} is no line of KISS2; remove it")
    if len(words) != 2:
        raise problem(file.name, line, f"{key} takes one value, not {len(words) - 1}")
    value = words[1]
    if key in file.numbers or (key == ".r" and file.reset is not None):
        raise problem(file.name, line, f"{key} is there twice; keep one of the lines")
    if key == ".r":
        file.reset = value
        return
    if not re.fullmatch(r"[0-9]{1,9}", value):
        raise problem(file.name, line, f"{key} takes a number, not {quote(value)}")
    file.numbers[key] = int(value)
    if key == ".i" and not 1 <= int(value) <= MOST_BITS:
        raise problem(file.name, line, f"1 to {MOST_BITS} input bits, not {value}")


def _product_term(file: _File, words: list[str], line: int) -> None:
    if len(words) != 4:
        raise problem(
            file.name,
            line,
            "a product term has four parts, cube, state, next state and output, "
            f"not {len(words)}",
        )
    cube, source, target, output = words
    _check_bits(file, cube, ".i", line)
    _check_bits(file, output, ".o", line)
    if source == "-":
        raise problem(file.name, line, "'-' is no state; '*' stands for all states")
    file.terms.append(Term(cube, source, target, output, line))


def _check_bits(file: _File, bits: str, key: str, line: int) -> None:
    what = "input" if key == ".i" else "output"
    if key not in file.numbers:
        raise problem(
            file.name,
            line,
            f"a product term before {key}, which gives the number of {what} bits",
        )
    width = file.numbers[key]
    if len(bits) != width or set(bits) - set("01-"):
        raise problem(
            file.name,
            line,
            f"the {what} {quote(bits)} is not {width} characters of 0, 1 and -",
        )


def _check_counts(file: _File) -> None:
    if not file.terms:
        raise problem(file.name, 0, "no product terms; is this a KISS2 file?")
    for key, what, count in (
        (".p", "product terms", len(file.terms)),
        (".s", "states", len(_states(file))),
    ):
        stated = file.numbers.get(key, count)
        if stated != count:
            raise problem(
                file.name,
                0,
                f"{key} says {stated} {what}, but there are {count}; correct or remove "
                f"the line {key}",
            )


def _states(file: _File) -> list[str]:
    names = [t.source for t in file.terms] + [t.target for t in file.terms]
    return [q for q in dict.fromkeys(names) if q not in OPEN]


def _draft(file: _File) -> tuple[Draft, int]:
    """The machine with holes, and how many of its outputs have bits that are open."""
    states = _states(file)
    width = file.numbers[".i"]
    start = states[0] if file.reset is None else file.reset
    if start not in states:
        raise problem(file.name, 0, f".r names {quote(start)}, which no term mentions")
    tables = tabulate(file.name, width, file.terms, states)
    inputs = tables.inputs
    if width > MOST_COMBINATIONS:
        letters, of = inputs.cubes(), np.arange(inputs.letters)
    else:
        letters = tuple(f"{number:0{width}b}" for number in range(2**width))
        of = inputs.encode(letters)
    check_size(len(letters), len(states), file.name)
    draft = Draft(
        name=file.name,
        letters=letters,
        states=tuple(states),
        start=states.index(start),
        transitions=tables.transitions[of],
        on="transitions",
        outputs=tables.outputs[of],
        names=tables.names,
        inputs=inputs if width > MOST_COMBINATIONS else None,
    )
    return draft, int(tables.left_open[of].sum())
