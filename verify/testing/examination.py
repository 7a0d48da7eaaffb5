"""Examining networks that nothing is proved of, known from outside only."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from krohn.algebra.automaton import Automaton
from krohn.algebra.minimisation import Shows, output_classes
from krohn.verify.testing.counterexample import CheckError, Simulator
from krohn.verify.testing.sampling import sample
from krohn.verify.testing.shortest_failing import run_all
from krohn.verify.testing.simulation_result import Progress, Simulation
from krohn.verify.testing.word_counts import affordable

# Any function from words to answers, looked at from outside only.


@dataclass(frozen=True)
class BlackBox:
    """Any function from words to answers, as a `Simulator`.

    Attributes:
        reads: A torch module, which is given a tensor of letter indices ``(count,
            length)``, or any callable, which is given an int64 array of this shape. It
            gives logits ``(count, length, classes)``, or whole numbers ``(count,
            length)``: the indices of the classes. An object with an attribute
            ``logits``, as Hugging Face models return, will do.
        letters: The names of the letters.
        classes: The names of its answers.
        shows: Whether these are the states or the outputs of a machine.
        longest: The longest word that it can read; None if there is no limit.
    """

    reads: Callable[[Any], Any]
    letters: tuple[str, ...]
    classes: tuple[str, ...]
    shows: Shows = "states"
    longest: int | None = None

    @property
    def device(self) -> torch.device:
        """Where the parameters of a torch module are; else the CPU."""
        if isinstance(self.reads, nn.Module):
            for parameter in self.reads.parameters():
                return parameter.device
        return torch.device("cpu")

    def __call__(self, tokens: Tensor) -> Tensor:
        """Logits ``(count, length, classes)`` for letter indices ``(count, length)``.

        A class by its index becomes a logit of 1 among zeros.

        Raises:
            CheckError: If the network returns nothing of that kind.
        """
        module = isinstance(self.reads, nn.Module)
        answer = self.reads(tokens if module else tokens.cpu().numpy())
        logits = _tensor(getattr(answer, "logits", answer)).to(tokens.device)
        if (
            tuple(logits.shape) == tuple(tokens.shape)
            and not logits.is_floating_point()
        ):
            return self._one_hot(logits.long())
        if tuple(logits.shape) != (*tokens.shape, len(self.classes)):
            raise CheckError(
                f"the network answers words of shape {tuple(tokens.shape)} by an array "
                f"of shape {tuple(logits.shape)}; logits have the shape "
                f"{(*tokens.shape, len(self.classes))}, class indices "
                f"{tuple(tokens.shape)}"
            )
        return logits if logits.is_floating_point() else logits.double()

    def _one_hot(self, chosen: Tensor) -> Tensor:
        if bool(((chosen < 0) | (chosen >= len(self.classes))).any()):
            raise CheckError(
                f"the network answers with class {int(chosen.max())} or "
                f"{int(chosen.min())}; they are numbered 0..{len(self.classes) - 1}"
            )
        return nn.functional.one_hot(chosen, len(self.classes)).double()


def black_box(
    reads: Callable[[Any], Any],
    machine: Automaton,
    shows: Shows = "states",
    longest: int | None = None,
) -> BlackBox:
    """A function that knows letters and classes by the numbers that a machine gives them.

    Raises:
        MachineError: If it is to say outputs and the machine has none on its states.
    """
    names = output_classes(machine, shows).names
    return BlackBox(reads, machine.letters, names, shows, longest)


def _tensor(answer: object) -> Tensor:
    if isinstance(answer, Tensor):
        return answer.detach()
    if isinstance(answer, np.ndarray):
        return torch.from_numpy(np.ascontiguousarray(answer))
    raise CheckError(
        f"the network answers with {type(answer).__name__!r}, not with an array of logits; "
        "wrap it in a function that returns the logits alone"
    )


# Examining a network that nothing is proved of: all short words, and long hard ones.


EXHAUSTIVE_WORDS = 20_000
SAMPLES = 512


@dataclass(frozen=True)
class Examination:
    """The result of an examination.

    Attributes:
        runs: All words up to a length, and then samples, if all of these were right.
        length: The longest word that was asked about.
    """

    runs: tuple[Simulation, ...]
    length: int

    @property
    def failing_run(self) -> Simulation | None:
        """The run with a wrong word; None if there is none."""
        return next((run for run in self.runs if not run.has_passed), None)

    @property
    def words(self) -> int:
        """How many words were run."""
        return sum(run.words for run in self.runs)

    @property
    def method(self) -> str:
        """The kinds of runs, joined by ``+``."""
        return "+".join("exhaustive" if r.every else "sample" for r in self.runs)

    @property
    def right(self) -> int:
        """All words of up to so many letters were run, and every answer was right."""
        ends = [
            run.length
            if run.counterexample is None
            else len(run.counterexample.word) - 1
            for run in self.runs
            if run.every
        ]
        return max(ends, default=0)

    @property
    def complete(self) -> bool:
        """Whether every word that was asked about was run, and is right."""
        return self.failing_run is None and self.right == self.length

    @property
    def summary(self) -> str:
        """The result for people, if no word failed."""
        every = [f"all words of up to {self.right} letters are right"] * bool(
            self.right
        )
        rest = [
            f"{run.words:,} words of up to {run.length} letters{run.about} are right"
            for run in self.runs
            if not run.every
        ]
        return ", and ".join([*every, *rest])


def examine(
    model: Simulator,
    machine: Automaton,
    length: int,
    *,
    exhaustive_words: int = EXHAUSTIVE_WORDS,
    samples: int = SAMPLES,
    seed: int = 0,
    report: Callable[[str], Progress] | None = None,
) -> Examination:
    """Run all words as far as they are few, and then long ones, until one is wrong.

    Args:
        model: Any network.
        machine: The machine that it should compute.
        length: The longest word that is asked about.
        exhaustive_words: How many words may be run to run all of some length and below.
        samples: How many words of full length to run.
        seed: Seed of these.
        report: Gives a callback for the progress of a named task.

    Raises:
        CheckError: If the letters differ, or the network cannot read the words.
    """
    start_report = report or (lambda what: lambda done, total: None)
    longest = affordable(len(machine.letters), length, exhaustive_words)
    runs = [run_all(model, machine, longest, start_report("running all words"))]
    if runs[0].has_passed and longest < length and samples:
        progress = start_report("running samples")
        runs.append(sample(model, machine, samples, length, seed, progress))
    return Examination(tuple(runs), length)
