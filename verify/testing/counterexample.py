"""Words on which a network is wrong: noticing and replaying them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.automaton import Automaton, IntArray, shorten as listed
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import Shown, Shows, output_classes
from krohn.network.forward_pass import threads
from krohn.network.model import Model, name_answers
from krohn.network.precision import FloatArray
from krohn.verify.testing.simulation_result import Reading


class Simulator(Protocol):
    """Words in, logits out: compiled, foreign and trained networks alike.

    Calling it with letter indices ``(count, length)`` gives logits ``(count, length,
    classes)``; the last axis stands for `classes`, and the largest logit is the answer.
    """

    @property
    def letters(self) -> tuple[str, ...]:
        """The names of the letters; tokens are their indices."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes that the logits stand for."""

    @property
    def shows(self) -> Shows:
        """``"states"`` or ``"outputs"``: the kind of the classes."""

    @property
    def longest(self) -> int | None:
        """The longest word that it can read; None if there is no limit."""

    @property
    def device(self) -> torch.device:
        """Where tokens are to be."""

    def __call__(self, tokens: Tensor) -> Tensor:
        """Logits ``(count, length, classes)`` for letter indices ``(count, length)``."""


# Words on which a network is wrong: noticing and replaying them.


ALL_DIGITS = 17
"""With so many a number of float64 is itself again when it is read."""
NEAR = "near enough"
"""What stands for numbers that differ, and by no more than they may."""


class CheckError(KrohnError):
    """A network cannot be run against a machine as asked; no verdict about either."""


@dataclass(frozen=True)
class Counterexample:
    """A word on which a network differs from its machine.

    Attributes:
        word: The names of the letters.
        expected: The machine's state after each of them, or its output if the network
            says outputs.
        actual: The network's answer after each of them, as
            `krohn.network.model.name_answers` names it: where a logit is not finite,
            or two are the largest, it says so.
        reading: How the network was run when it was wrong. ``"among others"``: it was
            right when the word was run by itself, so this is no counterexample yet.
    """

    word: tuple[str, ...]
    expected: tuple[str, ...]
    actual: tuple[str, ...]
    reading: Reading = "at once"

    @property
    def at(self) -> int:
        """The first letter, counted from 1, after which the two differ."""
        both = zip(self.expected, self.actual, strict=True)
        return 1 + next(i for i, (right, answer) in enumerate(both) if right != answer)

    def to_object(self) -> dict[str, Any]:
        """Itself for JSON."""
        return {
            "word": list(self.word),
            "expected": list(self.expected),
            "actual": list(self.actual),
            "reading": self.reading,
        }


def told_apart(
    right: Sequence[float], said: Sequence[float], between: str, digits: int
) -> tuple[str, str]:
    """Two rows of numbers in words: of ``digits`` digits, or as many as they differ in."""
    one = other = ""
    for each in (digits, ALL_DIGITS):
        one, other = (
            between.join(f"{x:.{each}g}" for x in row) for row in (right, said)
        )
        if one != other:
            break
    return one, other


@dataclass(frozen=True)
class Pair:
    """A network and the machine that it is held against, matched by names.

    Attributes:
        model: The network.
        machine: The machine; letters and states are its indices in what follows.
        tokens: ``(letters,)``: the network's index of each letter.
        shown: The class of each state, which the network is to say.
        answers: ``(states,)``: the network's index of that class, −1 where it has none.
        table: ``(letters, states)``: the machine's transitions.
    """

    model: Simulator
    machine: Automaton
    tokens: Tensor
    shown: Shown
    answers: Tensor
    table: Tensor

    def wrong(self, logits: Tensor, states: Tensor) -> Tensor:
        """Whether the network is wrong in each place: ``(…, outputs)``, ``(…)`` to bool.

        The right logit must be above every other one: a tie is wrong, whichever class
        comes first. So is an answer among logits that are not all finite.
        """
        return _wrong(logits, self.answers[states])

    def logits(self, words: IntArray) -> Tensor:
        """``(count, length, outputs)`` for ``(count, length)``, by one forward pass."""
        with torch.inference_mode():
            return self.model(self.tokens[self._tensor(words)])

    @property
    def steps(self) -> bool:
        """Whether the network can read letter by letter."""
        return isinstance(self.model, Model)

    def logits_by_steps(self, word: IntArray) -> Tensor:
        """``(1, length, outputs)`` for a word ``(length,)``, read letter by letter."""
        assert isinstance(self.model, Model)
        network, logits = self.model.network, []
        with torch.inference_mode(), threads(1):
            cache = network.start()
            for letter in self.tokens[self._tensor(word)]:
                answer, cache = network.step(letter[None], cache)
                logits.append(answer)
            return torch.stack(logits, dim=1)

    def margins(self, words: IntArray) -> FloatArray:
        """How far each right logit is above all others: ``(count, length)``.

        An answer is right if and only if its margin is positive; where a logit is not
        finite, or the network lacks the right class, it is −∞.

        Args:
            words: ``(count, length)`` letter indices; one forward pass for all.
        """
        trace = self.machine.semiautomaton.trace(words, self.machine.start)
        logits = self.logits(words)
        with torch.inference_mode():
            margins = self._margin(logits, self._tensor(trace))
            return margins.double().cpu().numpy()

    def _margin(self, logits: Tensor, states: Tensor) -> Tensor:
        answers = self.answers[states]
        at = answers.clamp(min=0)[..., None]
        right = logits.gather(-1, at)[..., 0]
        others = logits.scatter(-1, at, -torch.inf).amax(dim=-1)
        sound = (answers >= 0) & logits.isfinite().all(dim=-1)
        return torch.where(sound, right - others, -torch.inf)

    def good(self, words: IntArray) -> IntArray:
        """How many answers ``(count,)`` are right before the first wrong one.

        Args:
            words: ``(count, length)`` letter indices; one forward pass for all.
        """
        return self._good(words, self.logits(words))

    def _good(self, words: IntArray, logits: Tensor) -> IntArray:
        trace = self.machine.semiautomaton.trace(words, self.machine.start)
        with torch.inference_mode():
            wrong = self.wrong(logits, self._tensor(trace)).cpu().numpy()
        end = np.ones((len(wrong), 1), dtype=bool)
        ended: IntArray = np.concatenate([wrong, end], axis=1).argmax(axis=1)
        return ended

    def replay(self, word: IntArray) -> Counterexample | None:
        """One word ``(length,)`` by itself, cut at its first wrong answer.

        It is read at once and, if every answer is right, letter by letter. It is not cut
        if the shorter word is answered rightly, by a network that looks ahead.

        Returns:
            None if every answer is right in both ways.
        """
        for reading, run in self._readings().items():
            logits = run(word)
            good = int(self._good(word[None], logits)[0])
            if good == len(word):
                continue
            short, again = word[: good + 1], run(word[: good + 1])
            if int(self._good(short[None], again)[0]) == good:
                word, logits = short, again
            return self.counterexample(word, self.answer_names(logits[0]), reading)
        return None

    def _readings(self) -> dict[Reading, Callable[[IntArray], Tensor]]:
        whole: Reading = "at once"
        ways = {whole: lambda word: self.logits(word[None])}
        return (
            {**ways, "letter by letter": self.logits_by_steps} if self.steps else ways
        )

    def answers_by_reading(
        self, word: IntArray
    ) -> Iterator[tuple[Reading, tuple[str, ...]]]:
        """The names of the answers to a word ``(length,)``, for each way to run it."""
        for reading, run in self._readings().items():
            yield reading, self.answer_names(run(word)[0])

    def answer_names(self, logits: Tensor) -> tuple[str, ...]:
        """The names of the answers that logits ``(count, outputs)`` mean."""
        return name_answers(logits, self.model.classes)

    def counterexample(
        self, word: IntArray, said: tuple[str, ...], reading: Reading
    ) -> Counterexample:
        """The counterexample by names: its word ``(length,)``, and both answers."""
        letters = tuple(self.machine.letters[a] for a in word)
        return Counterexample(letters, self.expected_answers(word), said, reading)

    def expected_answers(self, word: IntArray) -> tuple[str, ...]:
        """The names of the right answers to a word ``(length,)``."""
        trace = self.machine.semiautomaton.trace(word, self.machine.start)
        return tuple(self.shown.names[c] for c in self.shown.of[trace])

    def _tensor(self, indices: IntArray) -> Tensor:
        return torch.from_numpy(indices).to(self.tokens.device)


def _wrong(logits: Tensor, answers: Tensor) -> Tensor:
    right = logits.gather(-1, answers.clamp(min=0)[..., None])
    alone = (logits >= right).sum(dim=-1) == 1
    return ~(alone & (answers >= 0) & logits.isfinite().all(dim=-1))


def differs(logits: Tensor, answers: Tensor) -> Tensor | None:
    """Where the network is wrong (`Pair.wrong`); None, which is quick, if all is right.

    A sum is finite only if all its terms are; and then a logit is at least itself, so
    all are above the others if no more pairs than nodes are in order.

    Args:
        logits: ``(…, outputs)``.
        answers: ``(…)``: the right class, −1 where the network lacks it.
    """
    total = logits.sum(dtype=torch.promote_types(logits.dtype, torch.float32))
    if bool(total.isfinite() & (answers.amin() >= 0)):
        right = logits.gather(-1, answers[..., None])
        if int((logits >= right).sum()) == answers.numel():
            return None
    wrong = _wrong(logits, answers)
    return wrong if bool(wrong.any()) else None


def at_once(length: int) -> int:
    """How many words of a length go into one forward pass.

    The scores of attention grow with the square of the length; a head's are kept to
    64 MiB in float32.
    """
    return min(256, max(1, 2**24 // length**2))


def pair(model: Simulator, machine: Automaton, length: int) -> Pair:
    """Match a network with a machine, for words of up to ``length`` letters.

    Raises:
        CheckError: If their letters differ, or the network has no room for the words.
        MachineError: If the network says outputs and the machine has none.
    """
    if set(model.letters) != set(machine.letters):
        raise CheckError(
            f"the model reads the letters {listed(model.letters)}, "
            f"but {machine.name} has {listed(machine.letters)}"
        )
    _check_length(model, length)
    device = model.device
    token = {letter: i for i, letter in enumerate(model.letters)}
    classes = output_classes(machine, model.shows)
    answer = {name: i for i, name in enumerate(model.classes)}
    answers = [answer.get(classes.names[c], -1) for c in classes.of]
    return Pair(
        model,
        machine,
        torch.tensor([token[a] for a in machine.letters], device=device),
        classes,
        torch.tensor(answers, device=device),
        torch.tensor(machine.transitions, device=device),
    )


def _check_length(model: Simulator, length: int) -> None:
    if length < 1:
        raise CheckError(
            f"words of length {length} cannot be checked; choose 1 or more"
        )
    longest = model.longest
    if longest is not None and length > longest:
        raise CheckError(
            f"this model is for words of up to {longest} letters, not {length}; "
            "check a shorter length, or compile it for a longer one"
        )
