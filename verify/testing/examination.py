"""Examining a network that nothing is proved of: all short words, and long hard ones."""

from collections.abc import Callable
from dataclasses import dataclass

from krohn.algebra.automaton import Automaton
from krohn.verify.testing.every_word import run_all
from krohn.verify.testing.exhaustive import words_below
from krohn.verify.testing.sampling import sample
from krohn.verify.testing.simulation_result import Progress, Simulation
from krohn.verify.testing.simulator import Simulator

PREFIXES = 20_000
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
    def failed(self) -> Simulation | None:
        """The run with a wrong word; None if there is none."""
        return next((run for run in self.runs if not run.passed), None)

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
        return self.failed is None and self.right == self.length

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


def affordable(letters: int, length: int, words: int = PREFIXES) -> int:
    """The greatest length up to a given one, at least 1, of which all words are few."""
    longest = 1
    while longest < length and words_below(letters, longest + 1) <= words:
        longest += 1
    return longest


def examine(
    model: Simulator,
    machine: Automaton,
    length: int,
    *,
    prefixes: int = PREFIXES,
    samples: int = SAMPLES,
    seed: int = 0,
    report: Callable[[str], Progress] | None = None,
) -> Examination:
    """Run all words as far as they are few, and then long ones, until one is wrong.

    Args:
        model: Any network.
        machine: The machine that it should compute.
        length: The longest word that is asked about.
        prefixes: How many words may be run to run all of some length and below.
        samples: How many words of full length to run.
        seed: Seed of these.
        report: Gives a callback for the progress of a named task.

    Raises:
        CheckError: If the letters differ, or the network cannot read the words.
    """
    told = report or (lambda what: lambda done, total: None)
    longest = affordable(len(machine.letters), length, prefixes)
    runs = [run_all(model, machine, longest, told("running all words"))]
    if runs[0].passed and longest < length and samples:
        progress = told("running samples")
        runs.append(sample(model, machine, samples, length, seed, progress))
    return Examination(tuple(runs), length)
