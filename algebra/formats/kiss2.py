"""KISS2: the controllers of the LGSynth benchmarks, as SIS and ABC write them.

``.i`` and ``.o`` give the numbers of input and output bits, ``.p`` the number of
product terms, ``.s`` the number of states and ``.r`` the start state. A product term
is a line ``cube state next output``, where ``-`` in the cube stands for both bits.
"""

import re
from dataclasses import dataclass, field

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.assembly import Draft
from krohn.algebra.formats.completion import Complete, complete_draft
from krohn.algebra.formats.file_errors import check_size, check_writable, problem, quote
from krohn.algebra.formats.kiss2_terms import OPEN, Term, tabulate
from krohn.algebra.formats.outputs import shown_after
from krohn.algebra.input_decision_diagram import MOST_BITS
from krohn.algebra.semiautomaton import shorten

MOST_COMBINATIONS = 8
"""Each combination of so many input bits is a letter, 256 at most. With more bits those
that act alike are one letter: nobody names 4,096 letters, and few of them differ."""

_IGNORED = (".ilb", ".ob", ".latch", ".latch_order", ".code", ".clock", ".phase")
_ENDS = (".e", ".end", ".end_kiss")
_NUMBERS = (".i", ".o", ".p", ".s")
_STATE = re.compile(r"(?!\.)(?!(?:\*|-)\Z)[^\s#]+")
_BITS = re.compile(r"[01]+")


@dataclass
class _File:
    name: str
    numbers: dict[str, int] = field(default_factory=dict)
    reset: str | None = None
    terms: list[Term] = field(default_factory=list)


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
        complete: The treatment of transitions that no product term gives; a sink and
            a transition that stays show zeros.

    Raises:
        MachineError: If a line is malformed, a count does not fit, two product terms
            contradict each other, the input bits have too many classes, or transitions
            are missing, or left open by a next state ``*`` or ``-``, and ``complete``
            does not say what to do.
    """
    file = _parse(text, name)
    _check_counts(file)
    return complete_draft(_draft(file), complete)


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


def _draft(file: _File) -> Draft:
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
    return Draft(
        name=file.name,
        letters=letters,
        states=tuple(states),
        start=states.index(start),
        transitions=tables.transitions[of],
        on="transitions",
        outputs=tables.outputs[of],
        names=tables.names,
        undefined="0" * file.numbers[".o"],
        inputs=inputs if width > MOST_COMBINATIONS else None,
    )
