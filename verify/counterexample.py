"""Words on which a network is wrong: noticing, replaying and shortening them."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from algebra.automaton import Automaton
from algebra.errors import KrohnError
from algebra.semiautomaton import IntArray
from algebra.semiautomaton import shorten as listed
from algebra.shown import Shown, shown
from network.model import said
from network.precision import FloatArray
from verify.simulator import Simulator

BUDGET = 50_000


class CheckError(KrohnError):
    """A network cannot be run against a machine as asked; no verdict about either."""


@dataclass(frozen=True)
class Counterexample:
    """A word on which a network differs from its machine.

    Attributes:
        word: The names of the letters.
        expected: The machine's state after each of them, or its output if that is what
            the network says.
        actual: The network's answer after each of them, as `network.model.said` names it:
            where a logit is not finite, or two are the largest, it says so.
    """

    word: tuple[str, ...]
    expected: tuple[str, ...]
    actual: tuple[str, ...]

    @property
    def at(self) -> int:
        """The first letter, counted from 1, after which the two differ."""
        both = zip(self.expected, self.actual, strict=True)
        return 1 + next(i for i, (right, said) in enumerate(both) if right != said)

    def to_object(self) -> dict[str, list[str]]:
        """Its three tuples as lists, for JSON."""
        return {
            "word": list(self.word),
            "expected": list(self.expected),
            "actual": list(self.actual),
        }


@dataclass(frozen=True)
class Pair:
    """A network and the machine that it is held against, matched by names.

    Attributes:
        model: The network.
        machine: The machine; letters and states are its indices in what follows.
        tokens: ``(letters,)``: the network's index of each letter.
        shown: What the network is to say of each state.
        answers: ``(states,)``: the network's index of that, −1 where it has none.
        table: ``(letters, states)``: the machine's transitions.
    """

    model: Simulator
    machine: Automaton
    tokens: Tensor
    shown: Shown
    answers: Tensor
    table: Tensor

    def wrong(self, logits: Tensor, states: Tensor) -> Tensor:
        """Where the network fails to say what it should: ``(…, outputs)``, ``(…)`` to bool.

        The right logit must be above every other one: a tie is wrong, whichever class
        comes first. So is an answer among logits that are not all finite.
        """
        return _wrong(logits, self.answers[states])

    def logits(self, words: IntArray) -> Tensor:
        """``(count, length, outputs)`` for ``(count, length)``, by one forward pass."""
        with torch.inference_mode():
            return self.model(self.tokens[self._tensor(words)])

    def margins(self, words: IntArray) -> FloatArray:
        """How far each right logit is above all others: ``(count, length)``.

        An answer is right if and only if its margin is positive; where a logit is not
        finite, or the network has no word for what is right, it is −∞.

        Args:
            words: ``(count, length)`` letter indices; one forward pass for all.
        """
        trace = self.machine.semiautomaton.trace(words, self.machine.start)
        logits = self.logits(words)
        with torch.inference_mode():
            found = self._margin(logits, self._tensor(trace))
            return found.double().cpu().numpy()

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
        trace = self.machine.semiautomaton.trace(words, self.machine.start)
        logits = self.logits(words)
        with torch.inference_mode():
            wrong = self.wrong(logits, self._tensor(trace)).cpu().numpy()
        end = np.ones((len(wrong), 1), dtype=bool)
        ended: IntArray = np.concatenate([wrong, end], axis=1).argmax(axis=1)
        return ended

    def replay(self, word: IntArray) -> Counterexample | None:
        """One word ``(length,)`` by itself, cut at its first wrong answer.

        A network that lets later letters change earlier answers may be right on what is
        cut; its word stays whole.

        Returns:
            None if every answer is right.
        """
        good = int(self.good(word[None])[0])
        if good == len(word):
            return None
        cut = word[: good + 1]
        if len(cut) < len(word) and int(self.good(cut[None])[0]) == len(cut):
            # It is wrong only because of letters that come later.
            cut = word
        return self.counterexample(cut, self.said(self.logits(cut[None])[0]))

    def said(self, logits: Tensor) -> tuple[str, ...]:
        """The names of the answers that logits ``(count, outputs)`` are."""
        return said(logits, self.model.classes)

    def counterexample(self, word: IntArray, said: tuple[str, ...]) -> Counterexample:
        """By names: a word ``(length,)``, what is right, and what the network said."""
        trace = self.machine.semiautomaton.trace(word, self.machine.start)
        letters = tuple(self.machine.letters[a] for a in word)
        right = tuple(self.shown.names[c] for c in self.shown.of[trace])
        return Counterexample(letters, right, said)

    def _tensor(self, indices: IntArray) -> Tensor:
        return torch.from_numpy(indices).to(self.tokens.device)


def _wrong(logits: Tensor, answers: Tensor) -> Tensor:
    right = logits.gather(-1, answers.clamp(min=0)[..., None])
    alone = (logits >= right).sum(dim=-1) == 1
    return ~(alone & (answers >= 0) & logits.isfinite().all(dim=-1))


def differs(logits: Tensor, answers: Tensor) -> Tensor | None:
    """Where `Pair.wrong` says so; None, which is quick, if all is right.

    A sum is finite only if all its terms are; and then a logit is at least itself, so
    all are above the others if no more pairs than nodes are in order.

    Args:
        logits: ``(…, outputs)``.
        answers: ``(…)``: what is right, −1 where the network has no word for it.
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
    _check_letters(model, machine)
    _check_length(model, length)
    device = model.device
    token = {letter: i for i, letter in enumerate(model.letters)}
    classes = shown(machine, model.shows)
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


def _check_letters(model: Simulator, machine: Automaton) -> None:
    if set(model.letters) != set(machine.letters):
        raise CheckError(
            f"the model reads the letters {listed(model.letters)}, "
            f"but {machine.name} has {listed(machine.letters)}"
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


def shorten(
    model: Simulator, machine: Automaton, found: Counterexample, budget: int = BUDGET
) -> Counterexample:
    """A word that fails, made of ``found`` by deleting letters.

    Runs of letters are deleted while a wrong answer remains, half of the word first and
    single letters last (delta debugging); behind its first wrong answer every word is
    cut. Every word that is kept was replayed by itself.

    Args:
        model: The network.
        machine: The machine that it should compute.
        found: A word on which it does not.
        budget: How many words may be tried; when it is spent, the best so far is it.

    Returns:
        ``found`` itself if it does not fail when it is replayed.

    Raises:
        CheckError: If the letters differ, or the word is empty or too long.
        MachineError: If ``found`` holds a letter that the machine does not have.
    """
    judge = pair(model, machine, len(found.word))
    first = judge.replay(machine.semiautomaton.encode(found.word))
    if first is None:
        return found
    reduction = _Reduction(judge, first, budget)
    size = len(first.word) // 2
    while size > 0 and reduction.left > 0:
        before = len(reduction.word)
        reduction.sweep(size)
        if len(reduction.word) == before:
            size //= 2
    return reduction.found


class _Reduction:
    """A word that fails, and how many candidates may still be tried to shorten it."""

    def __init__(self, judge: Pair, found: Counterexample, budget: int) -> None:
        self.judge, self.found, self.left = judge, found, budget
        self.word = judge.machine.semiautomaton.encode(found.word)

    def sweep(self, size: int) -> None:
        """Try, from left to right, to delete every run of ``size`` letters."""
        first = 0
        while self.left > 0 and size < len(self.word) >= first + size:
            starts = np.arange(first, len(self.word) - size + 1, size)
            starts = starts[: min(at_once(len(self.word)), self.left)]
            deleted = self._try(starts, size)
            first = int(starts[-1]) + size if deleted is None else deleted

    def _try(self, starts: IntArray, size: int) -> int | None:
        """Delete at the start that leaves least, and return it; None if none fails."""
        candidates = _without(self.word, starts, size)
        self.left -= len(candidates)
        good = self.judge.good(candidates)
        best = int(good.argmin())
        again = self.judge.replay(candidates[best, : good[best] + 1])
        if again is None:
            return None
        self.found = again
        self.word = self.judge.machine.semiautomaton.encode(again.word)
        return int(starts[best])


def _without(word: IntArray, starts: IntArray, size: int) -> IntArray:
    """The word without the ``size`` letters at each start: ``(count, length − size)``."""
    kept = np.arange(len(word) - size)
    return word[kept + size * (kept >= starts[:, None])]
