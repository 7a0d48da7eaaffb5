"""Running a model on words given by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.bracket_distribution import distribution
from krohn.algebra.errors import KrohnError
from krohn.algebra.rational import probability
from krohn.algebra.semiautomaton import IntArray
from krohn.claimed_answers import Answers, marked
from krohn.foreign import own_machine
from krohn.network import modelfile
from krohn.network.architecture import kind_of
from krohn.network.model import NOT_FINITE, Model, said
from krohn.network.modelfile import ModelFile
from krohn.sources.written_letters import written


@dataclass(frozen=True)
class Runner:
    """A model with the machine that it computes.

    Attributes:
        file: The model file.
        model: The network.
        machine: Its machine, which knows what each state or transition shows.
    """

    file: ModelFile
    model: Model
    machine: Automaton

    def run(self, word: list[str]) -> dict[str, Any]:
        """What the model says after each letter.

        Returns:
            ``outputs``: what the machine shows (its outputs if it has any, its states if
            not); ``states``: the network's states, left out if it says outputs only;
            ``word``: the letters; ``unproved``: as `marked` says it.

        Raises:
            KrohnError: If a letter is unknown, the word is too long, or the network gives
                no answer.
        """
        return self._shown(word, self.model.run(word))

    def run_alike(self, words: Sequence[list[str]]) -> list[dict[str, Any]]:
        """The same of several words of one length, which are run together.

        Raises:
            KrohnError: If a letter is unknown, the words are too long, or the network
                gives no answer.
        """
        import torch

        logits = self.model(torch.cat([self.model.encode(w) for w in words]))
        return [
            self._shown(word, list(said(row, self.model.classes)))
            for word, row in zip(words, logits, strict=True)
        ]

    def _shown(self, word: list[str], states: list[str]) -> dict[str, Any]:
        self._check_answers(states)
        read = range(1, len(word) + 1)
        if self.model.header["claim"].get("shows") == "outputs":
            return marked(self.file, Answers({"outputs": states, "word": word}, read))
        outputs = shown_along(self.machine, self.machine.encode(word), states)
        result = {"outputs": outputs, "states": states, "word": word}
        return marked(self.file, Answers(result, read))

    def _check_answers(self, answers: list[str]) -> None:
        for at, answer in enumerate(answers, start=1):
            if answer not in self.model.classes:
                why = (
                    "not all are finite" if answer == NOT_FINITE else "two are largest"
                )
                raise KrohnError(
                    f"the network gives no answer after letter {at}: of its logits {why}; "
                    "`krohn verify` finds the shortest such word"
                )


@dataclass(frozen=True)
class GeneratorRunner:
    """A generator with the machine whose words it continues.

    Attributes:
        file: The model file.
        machine: Its machine.
    """

    file: ModelFile
    machine: Automaton

    def run(self, word: list[str]) -> dict[str, Any]:
        """The law of the next letter, before the word and after each of its letters.

        Returns:
            ``word``; ``letters``: all letters; ``laws``: a row of probabilities for each
            position, the start included.

        Raises:
            KrohnError: If the word is no prefix of nested brackets, or too long.
        """
        import torch

        from krohn.network.generator import Generator

        letters = self.machine.encode(word)
        opening = probability(str(self.file.header["claim"].get("opening")))
        distribution(self.machine, opening).stacks(letters.tolist())
        tokens = torch.tensor(np.asarray(letters)[None], dtype=torch.int64)
        laws = Generator(self.file)(tokens)[0].double()
        if not laws.isfinite().all():
            raise KrohnError("the network says no law here: some output is no number")
        names = list(self.machine.letters)
        result = {"word": word, "letters": names, "laws": laws.tolist()}
        return marked(self.file, Answers(result, range(len(laws))))


def shown_along(
    machine: Automaton, letters: IntArray, states: Sequence[str]
) -> list[str]:
    """What a machine shows along a word, where a network says in which states it is.

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
    found, output = machine.show(letters, trace), machine.output
    moved = output is not None and output.on != "states"
    for i, q in enumerate(states):
        if q not in place:
            found[i] = q
        elif moved and i and states[i - 1] not in place:
            found[i] = states[i - 1]
    return found


def open_runner(path: str) -> Runner | GeneratorRunner:
    """Open a model file for running.

    Raises:
        ModelFileError: If it cannot be read.
    """
    return runner_of(modelfile.read(path))


def runner_of(file: ModelFile) -> Runner | GeneratorRunner:
    """What runs a model file.

    Raises:
        KrohnError: If it is about another source than a machine.
    """
    machine = own_machine(file)
    if kind_of(file.header["architecture"]).answers == "laws":
        return GeneratorRunner(file, machine)
    return Runner(file, Model(file), machine)


def letters_given(arguments: Sequence[str], machine: Automaton) -> list[str]:
    """The letters of a word as the arguments of a command.

    Arguments that all are letters are taken as they are, whatever is in their names.

    Raises:
        KrohnError: If something in it is no letter.
    """
    if all(map(machine.letter, arguments)):
        return list(arguments)
    if machine.letter(line := " ".join(arguments)):
        return [line]
    return [letter for a in arguments for letter in letters_of(a, machine)]


def letters_of(line: str, machine: Automaton) -> list[str]:
    """The letters of a word as a person writes it.

    Letters are separated by blanks or commas; if every letter of the alphabet is a
    single character, nothing is needed between them.

    Raises:
        KrohnError: If something in it is no letter.
    """
    inputs = machine.inputs
    letters = machine.letters if inputs is None else ("0" * inputs.bits,)
    words = written([line], lambda name: machine.letter(name) is not None, letters)
    unknown = [w for w in words if not machine.letter(w)]
    if unknown:
        raise KrohnError(
            f"{unknown[0]!r} is not a letter; put blanks between letters: "
            f"{_alphabet(machine)}"
        )
    return words


def _alphabet(machine: Automaton) -> str:
    if machine.inputs is not None:
        return f"a letter is {machine.inputs.bits} input bits, 0 or 1"
    letters = machine.letters
    return " ".join(letters[:12]) + (" …" if len(letters) > 12 else "")
