"""Words with the answers that somebody expects, and how many of them a network gives.

A label is an output of the machine, or a state; for acceptors also 1 or 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats.files import read_text
from krohn.algebra.semiautomaton import shorten

if TYPE_CHECKING:
    from krohn.running import Runner

HEADING = ("word", "label")
ACCEPTOR = ("accept", "reject")
BITS = {"1": "accept", "true": "accept", "0": "reject", "false": "reject"}
"""What else the labels of an acceptor may be called, in any case."""
AT_ONCE = 64
"""Words of one length that are run together."""


@dataclass(frozen=True)
class Labelled:
    """A word as it is written, with what is expected after it.

    Attributes:
        place: Where it is written, for messages.
        word: Its letters, as a person writes them.
        label: The expected answer after the last letter.
    """

    place: str
    word: str
    label: str


@dataclass(frozen=True)
class Wrong:
    """The answers that were not as expected.

    Attributes:
        words: How many words were run.
        wrong: After how many of them the answer was another.
        first: The first of these, in the order of the words: its letters, the answer
            and the label; None if there is none.
    """

    words: int
    wrong: int
    first: tuple[tuple[str, ...], str, str] | None


def of_file(path: Path) -> list[Labelled]:
    """The words of a file: one a line, then a tab or else the last comma, its label.

    A first line ``word,label`` is a heading.

    Raises:
        KrohnError: If it cannot be read, or a line has no label.
    """
    found = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        word, mark, label = line.rpartition("\t" if "\t" in line else ",")
        if (number == 1 and (word, label) == HEADING) or not line.strip():
            continue
        place = f"{path}:{number}"
        if not mark:
            raise KrohnError(f"{place}: no label; a line is a word, a comma, its label")
        found.append(Labelled(place, word, label.strip()))
    return found


def of_cell(text: str) -> list[Labelled]:
    """The words of one cell: ``a b=accept; b=reject``.

    Raises:
        KrohnError: If one has no label.
    """
    found = []
    for part in filter(str.strip, text.split(";")):
        word, mark, label = part.rpartition("=")
        if not mark:
            raise KrohnError(
                f"{part.strip()!r} has no label; words are written a b=accept; b=reject"
            )
        found.append(Labelled(f"{part.strip()!r}", word, label.strip()))
    return found


def held(runner: "Runner", words: Sequence[Labelled]) -> Wrong:
    """Run all words and hold the answer after each against its label.

    Raises:
        KrohnError: If a word is empty, too long or of other letters, or the machine gives
            no such answer.
    """
    by_state, expected = _expected(runner.machine, words)
    if by_state and runner.model.shows != "states":
        raise KrohnError("the network says outputs, so the labels must be outputs")
    letters = [_letters(w, runner) for w in words]
    answers = _answers(runner, letters, by_state)
    differ = [i for i, label in enumerate(expected) if answers[i] != label]
    first = None
    if differ:
        i = differ[0]
        first = (tuple(letters[i]), answers[i], expected[i])
    return Wrong(len(words), len(differ), first)


def _expected(machine: Automaton, words: Sequence[Labelled]) -> tuple[bool, list[str]]:
    """Whether the labels are states, and the labels by the machine's own names.

    Raises:
        KrohnError: If one of them is neither an output nor a state.
    """
    labels = [w.label for w in words]
    shown = machine.states if machine.output is None else machine.output.names
    if set(labels) <= set(shown):
        return machine.output is None, labels
    if set(shown) <= set(ACCEPTOR):
        named = [BITS.get(label.lower(), label) for label in labels]
        if set(named) <= set(ACCEPTOR):
            return False, named
    if set(labels) <= set(machine.states):
        return True, labels
    raise _unknown(machine, words)


def _unknown(machine: Automaton, words: Sequence[Labelled]) -> KrohnError:
    """Why labels are no answers: one is unknown, or outputs and states are mixed."""
    shown = () if machine.output is None else machine.output.names
    known = {*shown, *machine.states, *(BITS if set(shown) <= set(ACCEPTOR) else ())}
    odd = next((w for w in words if w.label not in known), None)
    if odd is None:
        return KrohnError(
            "the labels are partly outputs and partly states; use one kind"
        )
    answers = shorten([*shown, *machine.states])
    return KrohnError(f"{odd.place}: {odd.label!r} is no label; labels are {answers}")


def _letters(labelled: Labelled, runner: "Runner") -> list[str]:
    from krohn.running import letters_of

    try:
        letters = letters_of(labelled.word, runner.machine)
    except KrohnError as error:
        raise KrohnError(f"{labelled.place}: {error}") from None
    longest = runner.model.longest
    if not letters:
        raise KrohnError(
            f"{labelled.place}: a network says nothing before the first letter; leave "
            "the empty word out"
        )
    if longest is not None and len(letters) > longest:
        raise KrohnError(
            f"{labelled.place}: {len(letters)} letters, and the network is for {longest}; "
            "ask for a larger length"
        )
    return letters


def _answers(
    runner: "Runner", words: Sequence[list[str]], by_state: bool
) -> dict[int, str]:
    """The answer after each word, by its number."""
    found = {}
    for part in _alike(words):
        said = runner.run_alike([words[i] for i in part])
        for i, result in zip(part, said, strict=True):
            shown = result["states"] if by_state else result["outputs"]
            found[i] = shown[-1]
    return found


def _alike(words: Sequence[list[str]]) -> Iterator[tuple[int, ...]]:
    """The numbers of words of one length, some at a time."""
    order = sorted(range(len(words)), key=lambda i: len(words[i]))
    for _, group in groupby(order, key=lambda i: len(words[i])):
        alike = tuple(group)
        for begin in range(0, len(alike), AT_ONCE):
            yield alike[begin : begin + AT_ONCE]
