"""Running a model on words given by name, and on words with expected answers."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray, shorten
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats.files import read_text
from krohn.algebra.wording import probability
from krohn.foreign import own_machine
from krohn.network import modelfile
from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile, alphabets, check_length
from krohn.network.reading import (
    NOT_FINITE,
    TIED,
    Array,
    Opened,
    name_chosen_classes,
    output_function,
)
from krohn.program.claim import Shows
from krohn.program.user_input import find_wrong_letter
from krohn.program.word_texts import letters_by_name, split_letters
from krohn.source_kinds.kind import Answers, in_batches, mark_unproved

# Running a model on words given by name.


@dataclass(frozen=True)
class Runner:
    """A model with the machine that it computes.

    Attributes:
        file: The model file.
        machine: Its machine, which knows what each state or transition shows.
        network: The open network, if it is open.
    """

    file: ModelFile
    machine: Automaton
    network: Opened = None

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Names of the answers that the network can give."""
        return alphabets(self.file)[2]

    @cached_property
    def logits(self) -> Callable[[IntArray], Array]:
        """The network: words ``(batch, time)`` to logits ``(batch, time, classes)``."""
        return output_function(self.file, self.network)

    @property
    def longest(self) -> int | None:
        """The longest word that the network has room for; None if there is no limit."""
        return modelfile.longest(self.file)

    def run(self, word: list[str]) -> dict[str, Any]:
        """The answers of the model after each letter.

        Returns:
            ``outputs``: what the machine shows (its outputs if it has any, its states if
            not); ``states``: the network's states, left out if it says outputs only;
            ``word``: the letters; ``unproved``: as `mark_unproved` says it.

        Raises:
            KrohnError: If a letter is unknown, the word is too long, or the network gives
                no answer.
        """
        return require_answers(self.run_alike([word])[0])

    def run_alike(self, words: Sequence[list[str]]) -> list[dict[str, Any]]:
        """The answers for several words of one length, which are run together.

        `NOT_FINITE` or `TIED` where the logits choose nothing.

        Raises:
            KrohnError: If a letter is unknown, or the words are too long.
        """
        tokens = np.stack([self.machine.encode(word) for word in words])
        check_length(tokens.shape[1], self.longest)
        return [
            self._result(word, list(name_chosen_classes(row, self.classes)))
            for word, row in zip(words, self.logits(tokens), strict=True)
        ]

    def run_each(self, inputs: Iterable[list[str]]) -> Iterator[dict[str, Any]]:
        """The answers to words as a person writes them."""
        return in_batches(inputs, self._letters, self.run_all, AT_ONCE)

    def _letters(self, words: list[str]) -> list[str]:
        letters = letters_given(words, self.machine)
        check_length(len(letters), self.longest)
        return letters

    def run_all(self, words: Sequence[list[str]]) -> list[dict[str, Any]]:
        """The answers for several words, in their order."""
        results = dict[int, dict[str, Any]]()
        for part in _alike(words):
            results |= zip(part, self.run_alike([words[i] for i in part]), strict=True)
        return [results[i] for i in range(len(words))]

    def _result(self, word: list[str], states: list[str]) -> dict[str, Any]:
        result: dict[str, Any] = {"outputs": states, "word": word}
        if self.file.claim.shows is Shows.STATES:
            outputs = shown_along(self.machine, self.machine.encode(word), states)
            result = {"outputs": outputs, "states": states, "word": word}
        chosen = [state in self.classes for state in states]
        return mark_unproved(
            self.file, Answers(result, range(1, len(word) + 1), chosen)
        )


def require_answers(result: dict[str, Any]) -> dict[str, Any]:
    """A result of a run, every answer of which is one.

    Raises:
        KrohnError: If the logits choose nothing somewhere.
    """
    for at, answer in enumerate(result.get("states", result.get("outputs", ())), 1):
        if answer in (NOT_FINITE, TIED):
            why = "not all are finite" if answer == NOT_FINITE else "two are largest"
            raise KrohnError(
                f"the network gives no answer after letter {at}: of its logits {why}; "
                "`krohn verify` finds the shortest such word"
            )
    return result


@dataclass(frozen=True)
class GeneratorRunner:
    """A generator with the machine whose words it continues.

    Attributes:
        file: The model file.
        machine: Its machine.
        network: The open network, if it is open.
    """

    file: ModelFile
    machine: Automaton
    network: Opened = None

    def run(self, word: list[str]) -> dict[str, Any]:
        """The law of the next letter, before the word and after each of its letters.

        Returns:
            ``word``; ``letters``: all letters; ``laws``: a row of probabilities for each
            position, the start included.

        Raises:
            KrohnError: If the word is no prefix of nested brackets, or too long.
        """
        from krohn.algebra.brackets import distribution
        from krohn.network.running_file import plain_network, run_on

        letters = self.machine.encode(word)
        opening = probability(self.file.claim.opening)
        distribution(self.machine, opening).stacks(letters.tolist())
        network = self.network or plain_network(self.file)
        laws = run_on(network, np.asarray(letters, np.int64)[None])[0]
        if not np.isfinite(laws).all():
            raise KrohnError("the network says no law here: some output is no number")
        names = list(self.machine.letters)
        result = {"word": word, "letters": names, "laws": laws.tolist()}
        return mark_unproved(self.file, Answers(result, range(len(laws))))

    def run_each(self, inputs: Iterable[list[str]]) -> Iterator[dict[str, Any]]:
        """The laws along words as a person writes them."""
        return (self.run(letters_given(words, self.machine)) for words in inputs)


def shown_along(
    machine: Automaton, letters: IntArray, states: Sequence[str]
) -> list[str]:
    """The outputs of a machine along a word, where a network says in which states it is.

    Args:
        machine: The machine.
        letters: Their indices.
        states: By name; where one is none, as `NOT_FINITE`, that is what is shown, and
            so where the output of a transition depends on it.
    """
    if not len(letters):
        return []
    place = {name: i for i, name in enumerate(machine.states)}
    trace = np.array([place.get(q, 0) for q in states], dtype=np.int64)
    outputs, output = machine.show(letters, trace), machine.output
    moved = output is not None and output.on != "states"
    for i, q in enumerate(states):
        if q not in place:
            outputs[i] = q
        elif moved and i and states[i - 1] not in place:
            outputs[i] = states[i - 1]
    return outputs


def runner_of(file: ModelFile, network: Opened = None) -> Runner | GeneratorRunner:
    """The runner of a model file, or of the open network that was opened from it.

    Raises:
        KrohnError: If it is about another source than a machine.
    """
    machine = own_machine(file)
    if kind_of(file.architecture).answers == "laws":
        return GeneratorRunner(file, machine, network)
    alphabets(file)  # damaged files are refused before a word is read
    return Runner(file, machine, network)


def letters_given(arguments: Sequence[str], machine: Automaton) -> list[str]:
    """The letters of a word as the arguments of a command.

    Arguments that all are letters are taken as they are, whatever is in their names.

    Raises:
        KrohnError: If something in it is no letter.
    """
    named = letters_by_name(arguments, lambda name: machine.letter(name) is not None)
    if named is not None:
        return named
    if machine.letter(line := " ".join(arguments)):
        return letters_of(line, machine)
    each = (_split_line(argument, machine) for argument in arguments)
    return _checked([letter for letters in each for letter in letters], machine)


def letters_of(line: str, machine: Automaton) -> list[str]:
    """The letters of a word as a person writes it.

    `krohn.program.word_texts` has the rule.

    Raises:
        KrohnError: If something in it is no letter.
    """
    return _checked(_split_line(line, machine), machine)


def _split_line(line: str, machine: Automaton) -> list[str]:
    inputs = machine.inputs
    letters = machine.letters if inputs is None else ("0" * inputs.bits,)
    return split_letters([line], lambda name: machine.letter(name) is not None, letters)


def _checked(names: list[str], machine: Automaton) -> list[str]:
    """Names, all of which are letters.

    Raises:
        KrohnError: If one is none.
    """
    bits = 0 if machine.inputs is None else machine.inputs.bits
    if wrong := find_wrong_letter(names, machine.letter, machine.letters, bits=bits):
        raise KrohnError(wrong)
    return names


# Words with the answers that somebody expects, and how many of them a network gives.
#
# A label is an output of the machine, or a state; for acceptors also 1 or 0.


HEADING = ("word", "label")
ACCEPTOR = ("accept", "reject")
BITS = {"1": "accept", "true": "accept", "0": "reject", "false": "reject"}
"""The other labels that an acceptor's answers may have, in any case."""
_CELL_PARTS = re.compile(r'(?:"(?:[^"\\]|\\.)*+"|\\.|[^;])++')
"""What stands between semicolons that are in no quotes."""
AT_ONCE = 64
"""Words of one length that are run together."""
PAIRS = 2**22
"""Pairs of positions of them that are compared at once."""


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
    words = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        word, mark, label = line.rpartition("\t" if "\t" in line else ",")
        if (number == 1 and (word, label) == HEADING) or not line.strip():
            continue
        place = f"{path}:{number}"
        if not mark:
            raise KrohnError(f"{place}: no label; a line is a word, a comma, its label")
        words.append(Labelled(place, word, label.strip()))
    return words


def of_cell(text: str) -> list[Labelled]:
    """The words of one cell: ``a b=accept; b=reject``.

    Raises:
        KrohnError: If one has no label.
    """
    words = []
    for part in filter(str.strip, _CELL_PARTS.findall(text)):
        word, mark, label = part.rpartition("=")
        if not mark:
            raise KrohnError(
                f"{part.strip()!r} has no label; words are written a b=accept; b=reject"
            )
        words.append(Labelled(f"{part.strip()!r}", word, label.strip()))
    return words


def check_labels(runner: "Runner", words: Sequence[Labelled]) -> Wrong:
    """Run all words and hold the answer after each against its label.

    Raises:
        KrohnError: If a word is empty, too long or of other letters, or the machine gives
            no such answer.
    """
    by_state, expected = _resolve_labels(runner.machine, words)
    if by_state and runner.file.claim.shows is Shows.OUTPUTS:
        raise KrohnError("the network says outputs, so the labels must be outputs")
    letters = [_letters(w, runner) for w in words]
    results, shown = runner.run_all(letters), "states" if by_state else "outputs"
    answers = [require_answers(result)[shown][-1] for result in results]
    differ = [i for i, label in enumerate(expected) if answers[i] != label]
    first = None
    if differ:
        i = differ[0]
        first = (tuple(letters[i]), answers[i], expected[i])
    return Wrong(len(words), len(differ), first)


def _resolve_labels(
    machine: Automaton, words: Sequence[Labelled]
) -> tuple[bool, list[str]]:
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
    raise _label_error(machine, words)


def _label_error(machine: Automaton, words: Sequence[Labelled]) -> KrohnError:
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

    try:
        letters = letters_of(labelled.word, runner.machine)
    except KrohnError as error:
        raise KrohnError(f"{labelled.place}: {error}") from None
    longest = runner.longest
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


def _alike(words: Sequence[list[str]]) -> Iterator[tuple[int, ...]]:
    """The numbers of words of one length, some at a time."""
    order = sorted(range(len(words)), key=lambda i: len(words[i]))
    for _, group in groupby(order, key=lambda i: len(words[i])):
        alike = tuple(group)
        each = min(AT_ONCE, max(1, PAIRS // (1 + len(words[alike[0]])) ** 2))
        for begin in range(0, len(alike), each):
            yield alike[begin : begin + each]
