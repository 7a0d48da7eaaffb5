"""LearnLib's second format for acceptors (``.dfa``), as AutomataLib writes it.

Whole numbers, separated by white space: the numbers of states and of letters, for each
state 1 if it accepts and 0 if not, then for each state its successors under the
letters. The start state is 0.
"""

import re

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray, Output, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.assembly import ACCEPTANCE, acceptance, title
from krohn.algebra.formats.files import check_size, problem, quote

_SIGN = re.compile(r"\s*+(\d{1,9})[ \t]++[1-9]\d*+[ \t]*+\r?\n([01 \t]++)\r?(?:\n|\Z)")
_NUMBER = re.compile(r"[0-9]{1,9}")


def has_sign(text: str) -> bool:
    """Whether a text begins with two numbers, and a line that says who accepts."""
    head = _SIGN.match(text)
    return head is not None and len(head[2].split()) == int(head[1])


def read(text: str, name: str) -> Automaton:
    """The acceptor of a file; its letters and states are named ``"0"``, ``"1"``, ….

    Args:
        text: The file.
        name: What to call the file in messages.

    Raises:
        MachineError: If something is no whole number, there are too few or too many
            of them, or a successor is no state.
    """
    numbers = _numbers(text, name)
    if len(numbers) < 2 or 0 in numbers[:2]:
        raise problem(name, 1, "the numbers of states and of letters must come first")
    states, letters = (int(n) for n in numbers[:2])
    check_size(letters, states, name)
    wanted = 2 + states + states * letters
    if len(numbers) != wanted:
        raise problem(
            name,
            0,
            f"{states} states and {letters} letters need {wanted} numbers, but there "
            f"are {len(numbers)}",
        )
    accept, successors = numbers[2 : 2 + states], numbers[2 + states :]
    _check_below(accept, 2, "whether a state accepts", name)
    _check_below(successors, states, "a successor", name)
    table = successors.reshape(states, letters).T
    semiautomaton = Semiautomaton(table, _names(letters), _names(states))
    output = Output("states", accept, ACCEPTANCE)
    return Automaton(semiautomaton, output=output, name=title(name))


def write(machine: Automaton) -> str:
    """An acceptor as numbers; the start state becomes state 0, and names are lost.

    Raises:
        MachineError: If the machine is no acceptor.
    """
    accepting = acceptance(machine)
    if accepting is None:
        raise MachineError(
            f"{machine.name} is no acceptor, and LearnLib's .dfa carries nothing else; "
            "write .json, .dot or .att"
        )
    order = [machine.start, *(q for q in range(len(accepting)) if q != machine.start)]
    number = np.argsort(order)
    rows = number[machine.transitions.T[order]].tolist()
    head = [
        [len(machine.states), len(machine.letters)],
        [int(accepting[q]) for q in order],
    ]
    return "".join(" ".join(map(str, row)) + "\n" for row in [*head, *rows])


def _numbers(text: str, name: str) -> IntArray:
    values: list[int] = []
    for line, row in enumerate(text.split("\n"), 1):
        for word in row.split():
            if not _NUMBER.fullmatch(word):
                raise problem(name, line, f"{quote(word)} is no whole number")
            values.append(int(word))
    return np.array(values, dtype=np.int64)


def _check_below(values: IntArray, bound: int, what: str, name: str) -> None:
    wrong = values[values >= bound]
    if wrong.size:
        raise problem(name, 0, f"{what} is {wrong[0]}, not one of 0..{bound - 1}")


def _names(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))
