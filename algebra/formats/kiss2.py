"""KISS2: the controllers of the LGSynth benchmarks, as SIS and ABC write them.

``.i`` and ``.o`` give the numbers of input and output bits, ``.p`` the number of
product terms, ``.s`` the number of states and ``.r`` the start state. A product term
is a line ``cube state next output``, where ``-`` in the cube stands for both bits.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from algebra.automaton import Automaton
from algebra.errors import MachineError
from algebra.formats.assembly import (
    Complete,
    Draft,
    check_size,
    check_writable,
    complete_draft,
    problem,
    quote,
    shown_after,
)
from algebra.semiautomaton import IntArray, shorten

MAX_INPUTS = 16
"""The most input bits: each combination of bits is a letter, so 65 536 letters."""

_IGNORED = (".ilb", ".ob", ".latch", ".latch_order", ".code", ".clock", ".phase")
_ENDS = (".e", ".end", ".end_kiss")
_NUMBERS = (".i", ".o", ".p", ".s")
_STATE = re.compile(r"(?!\.)(?!(?:\*|-)\Z)[^\s#]+")
_BITS = re.compile(r"[01]+")


class _Term(NamedTuple):
    cube: str
    source: str
    target: str
    output: str
    line: int


@dataclass
class _File:
    name: str
    numbers: dict[str, int] = field(default_factory=dict)
    reset: str | None = None
    terms: list[_Term] = field(default_factory=list)


def read(text: str, name: str, complete: Complete = "reject") -> Automaton:
    """The Mealy machine of a KISS2 file.

    The letters are all the combinations of input bits, ``"00"`` to ``"11"`` for two
    bits, and the outputs are strings of bits. A bit ``-`` of an output is left open by
    the file; other product terms for the same transition decide it, else it is 0.
    Without ``.r`` the machine starts in the state of the first product term.

    Args:
        text: The file.
        name: What to call the file in messages.
        complete: What becomes of transitions that no product term gives; a sink and
            a transition that stays show zeros.

    Raises:
        MachineError: If a line is malformed, a count does not fit, two product terms
            contradict each other, a next state is left open, there are more than
            ``MAX_INPUTS`` input bits, or transitions are missing and ``complete``
            does not say what to do.
    """
    file = _parse(text, name)
    _check_counts(file)
    return complete_draft(_draft(file), complete)


def write(machine: Automaton) -> str:
    """The machine as KISS2, one product term for each transition.

    Outputs on states are written on the transitions that lead to them.

    Raises:
        MachineError: If the letters are not all the bit strings of one length, the
            outputs not bit strings of one length, or a state's name has a space.
    """
    outputs = shown_after(machine)
    _check_names(machine, {output for row in outputs for output in row})
    head = [
        f".i {len(machine.letters[0])}",
        f".o {len(outputs[0][0])}",
        f".p {machine.transitions.size}",
        f".s {len(machine.states)}",
        f".r {machine.states[machine.start]}",
    ]
    terms = [
        f"{letter} {state} {machine.states[machine.transitions[a, q]]} {outputs[a][q]}"
        for q, state in enumerate(machine.states)
        for a, letter in enumerate(machine.letters)
    ]
    return "\n".join([*head, *terms, ".e", ""])


def _check_names(machine: Automaton, outputs: set[str]) -> None:
    letters = machine.letters
    check_writable(letters, _BITS, "letter", "KISS2 letters are bit strings")
    check_writable(outputs, _BITS, "output", "KISS2 outputs are bit strings")
    check_writable(machine.states, _STATE, "state", "KISS2 states are single words")
    width = len(letters[0])
    if {len(a) for a in letters} != {width} or len(letters) < 2**width:
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
            break
        parse = _directive if words[0].startswith(".") else _product_term
        parse(file, words, number)
    return file


def _directive(file: _File, words: list[str], line: int) -> None:
    key = words[0]
    if key in _IGNORED:
        return
    if key not in (*_NUMBERS, ".r"):
        raise problem(file.name, line, f"{quote(key)} is no line of KISS2; remove it")
    if len(words) != 2:
        raise problem(file.name, line, f"{key} takes one value, not {len(words) - 1}")
    value = words[1]
    if key == ".r":
        file.reset = value
        return
    if not re.fullmatch(r"[0-9]{1,9}", value):
        raise problem(file.name, line, f"{key} takes a number, not {quote(value)}")
    file.numbers[key] = int(value)
    if key == ".i" and int(value) > MAX_INPUTS:
        raise problem(
            file.name,
            line,
            f"{value} input bits make 2^{value} letters, one for each combination; at "
            f"most {MAX_INPUTS} bits are read",
        )


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
    if target in ("*", "-"):
        raise problem(
            file.name,
            line,
            f"the next state {target!r} leaves open where to go; name a state",
        )
    file.terms.append(_Term(cube, source, target, output, line))


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
    return [q for q in dict.fromkeys(names) if q != "*"]


def _draft(file: _File) -> Draft:
    states = _states(file)
    width = file.numbers[".i"]
    check_size(2**width, len(states), file.name)
    start = states[0] if file.reset is None else file.reset
    if start not in states:
        raise problem(file.name, 0, f".r names {quote(start)}, which no term mentions")
    grid = _Grid(file, states)
    for number in range(len(file.terms)):
        grid.put(number)
    outputs, names = grid.decided()
    return Draft(
        name=file.name,
        letters=tuple(f"{letter:0{width}b}" for letter in range(2**width)),
        states=tuple(states),
        start=states.index(start),
        transitions=grid.table,
        on="transitions",
        outputs=outputs,
        names=names,
        undefined="0" * file.numbers[".o"],
    )


class _Grid:
    """The tables that product terms fill, and which term filled each cell."""

    def __init__(self, file: _File, states: list[str]) -> None:
        shape = (2 ** file.numbers[".i"], len(states))
        self.file = file
        self.index = {state: q for q, state in enumerate(states)}
        self.table = np.full(shape, -1, dtype=np.int64)
        self.outputs = np.full(shape, -1, dtype=np.int64)
        self.owner = np.full(shape, -1, dtype=np.int64)
        self.patterns: list[str] = []
        self.numbers: dict[str, int] = {}

    def put(self, number: int) -> None:
        """Fills the cells of one product term."""
        term = self.file.terms[number]
        letters, target = _minterms(term.cube), self.index[term.target]
        everywhere = term.source == "*"
        for q in range(len(self.index)) if everywhere else [self.index[term.source]]:
            before = self.table[letters, q]
            wrong = (before >= 0) & (before != target)
            if wrong.any():
                raise self._clash(number, int(letters[wrong.argmax()]), q)
            self._put_output(number, letters, q)
            self.table[letters, q] = target
            self.owner[letters, q] = number

    def _put_output(self, number: int, letters: IntArray, q: int) -> None:
        output = self.file.terms[number].output
        before = self.outputs[letters, q]
        for old in set(before.tolist()):
            cells = letters[before == old]
            merged = output if old < 0 else _merge(self.patterns[old], output)
            if merged is None:
                raise self._clash(number, int(cells[0]), q)
            self.outputs[cells, q] = self._pattern(merged)

    def _pattern(self, output: str) -> int:
        number = self.numbers.setdefault(output, len(self.patterns))
        if number == len(self.patterns):
            self.patterns.append(output)
        return number

    def _clash(self, number: int, letter: int, q: int) -> MachineError:
        first = self.file.terms[self.owner[letter, q]]
        term = self.file.terms[number]
        width = self.file.numbers[".i"]
        return problem(
            self.file.name,
            term.line,
            f"in state {quote(list(self.index)[q])} the input {letter:0{width}b} leads "
            f"to {quote(first.target)} with output {first.output} (line {first.line}) "
            f"and to {quote(term.target)} with output {term.output}; keep one of them",
        )

    def decided(self) -> tuple[IntArray, tuple[str, ...]]:
        """The outputs and their names, every open bit set to 0."""
        closed = [pattern.replace("-", "0") for pattern in self.patterns]
        names = {name: i for i, name in enumerate(dict.fromkeys(closed))}
        renumber = np.array([*(names[name] for name in closed), -1], dtype=np.int64)
        return renumber[self.outputs], tuple(names)


def _minterms(cube: str) -> IntArray:
    letters = np.zeros(1, dtype=np.int64)
    for bit in cube:
        choices = np.array([0, 1] if bit == "-" else [int(bit)], dtype=np.int64)
        letters = (2 * letters[:, None] + choices).reshape(-1)
    return letters


def _merge(first: str, second: str) -> str | None:
    bits = []
    for a, b in zip(first, second, strict=True):
        if a != b and "-" not in (a, b):
            return None
        bits.append(b if a == "-" else a)
    return "".join(bits)
