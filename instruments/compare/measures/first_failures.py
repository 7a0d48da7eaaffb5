"""Where a network breaks: its first failing word, and what a task asks of any word."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from krohn.algebra.automaton import Automaton, IntArray, Output, Semiautomaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import Shows, output_classes, reachable
from krohn.algebra.products import parallel
from krohn.algebra.zoo.machines import ERROR
from krohn.algebra.zoo.samplers import VALUES, acceptor
from krohn.instruments.compare.measures.accuracy import (
    Rate,
    clustered_rate,
    evaluating,
    right,
)
from krohn.instruments.compare.measures.curves import flips
from krohn.instruments.compare.tasks.letters import forbids
from krohn.instruments.compare.tasks.task import (
    BoolArray,
    Task,
)
from krohn.verify.testing.counterexample import Counterexample, Simulator
from krohn.verify.testing.examination import EXHAUSTIVE_WORDS, Examination, examine
from krohn.verify.testing.shortest_failing import minimise
from krohn.verify.testing.strategies import STRATEGIES

# The answers that a task asks of any word: illegal letters repaired, the rest forgiven.
#
# Checks of networks run all words, or words made to be hard. A network that was trained
# on nested brackets owes no answer after an illegal one, and a flip-flop only after
# reads. So words are read as legal ones, and answers that are not asked for count as
# right: a failure then is a legal word, at an answer that was asked for.


@dataclass(frozen=True, eq=False)
class TaskMachine:
    """A task as a machine that any word can be held against.

    Attributes:
        machine: Reads a letter as the legal one that it stands for; its outputs on
            states are the right answers.
        legal: ``(letters, states)``: the letter that is read for each letter in each
            state: the first legal one from it on, else the last legal one, else itself.
        asked: ``(letters, states)``: whether the answer counts after this letter, if it
            was read and led to this state.
    """

    machine: Automaton
    legal: IntArray
    asked: BoolArray

    def legal_words_and_states(self, words: IntArray) -> tuple[IntArray, IntArray]:
        """The legal words that words stand for, and the state after each letter.

        Args:
            words: ``(count, length)``; so are the results.
        """
        machine = self.machine
        after = machine.semiautomaton.trace(words, machine.start)
        start = np.full((len(words), 1), machine.start)
        before = np.concatenate([start, after[:, :-1]], axis=1)
        return self.legal[words, before], after

    @property
    def answers(self) -> IntArray:
        """``(states,)``: the index of the right class in each state."""
        assert self.machine.output is not None
        return self.machine.output.table

    @property
    def plain(self) -> bool:
        """Whether every letter is legal, and every answer counts."""
        letters = np.arange(len(self.legal))[:, None]
        return bool(self.asked.all() and (self.legal == letters).all())


def task_machine(task: Task) -> TaskMachine:
    """A task as a machine that any word can be held against.

    Raises:
        KrohnError: If nothing is asked, or no next letter that is asked for is decided
            by the word so far.
    """
    full, allowed = _language(task)
    legal = _repair(allowed)
    answers, decided = _answers(task, full, allowed)
    states = np.arange(len(full.states))
    table = full.transitions[legal, states]
    whole = replace(
        full,
        semiautomaton=Semiautomaton(table, full.letters, full.states),
        output=Output("states", answers, task.classes),
        action=None,
    )
    kept = reachable(whole)
    number = {name: i for i, name in enumerate(whole.states)}
    rows = [number[name] for name in kept.states]
    asked = np.isin(task.letters, task.asked or task.letters)[:, None] & decided[rows]
    if not asked.any():
        raise KrohnError(
            f"{task.name} asks for no answer that words decide; a failing word needs one"
        )
    return TaskMachine(kept, legal[:, rows], asked)


def _language(task: Task) -> tuple[Automaton, BoolArray]:
    """The machine with a memory of legality; ``(letters, states)``: the legal steps."""
    machine, full = task.machine, task.machine
    if flips(machine) and not forbids(machine):
        words = acceptor(len(machine.letters) - VALUES)
        full = parallel(machine, words)
        fault = np.tile(np.array(words.states) == ERROR, len(machine.states))
    else:
        fault = (np.array(machine.states) == ERROR) & forbids(machine)
    return full, ~fault[full.transitions]


def _repair(allowed: BoolArray) -> IntArray:
    """The letter to read for each letter in each state, ``(letters, states)``.

    The order of letters is kept. So the image of the first failing word, of the shortest
    ones, is the first failing legal word: docs/measures.md, section 6.
    """
    letters = len(allowed)
    index = np.arange(letters)[:, None]
    upwards = np.where(allowed, index, letters)
    following = np.minimum.accumulate(upwards[::-1], axis=0)[::-1]
    last = np.where(allowed, index, -1).max(axis=0)
    nearest = np.where(following < letters, following, last)
    return np.where(nearest < 0, index, nearest)


def _answers(
    task: Task, full: Automaton, allowed: BoolArray
) -> tuple[IntArray, BoolArray]:
    """``(states,)``: the right answer in each state, and whether the word decides it."""
    if task.predicts == "class":
        classes = output_classes(task.machine, task.shows).of
        copies = len(full.states) // len(classes)
        return np.repeat(classes, copies), np.ones(len(full.states), dtype=bool)
    wanted = np.isin(task.letters, task.before or task.letters)[:, None] & allowed
    return wanted.argmax(axis=0), wanted.sum(axis=0) == 1


@dataclass(frozen=True, eq=False)
class OnLegalWords:
    """A network that reads the words of a `TaskMachine`, right where nothing is asked.

    Attributes:
        inner: The network.
        task: The task that it is asked.
        task_machine: The task as a machine.
    """

    inner: Simulator
    task: Task
    task_machine: TaskMachine

    @property
    def letters(self) -> tuple[str, ...]:
        """The names of the letters."""
        return self.task.letters

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the network, and classes of the task that it lacks."""
        known = self.inner.classes
        return (*known, *(c for c in self.task.classes if c not in known))

    @property
    def shows(self) -> Shows:
        """The outputs of `TaskMachine.machine`."""
        return "outputs"

    @property
    def longest(self) -> int | None:
        """The longest word that the network can read."""
        return self.inner.longest

    @property
    def device(self) -> torch.device:
        """Where tokens are to be."""
        return self.inner.device

    def __call__(self, tokens: Tensor) -> Tensor:
        """Logits ``(count, length, classes)`` for letter indices ``(count, length)``."""
        read, after = self.task_machine.legal_words_and_states(tokens.cpu().numpy())
        theirs = np.array([self.inner.letters.index(name) for name in self.letters])
        logits = self._pad(self.inner(_on(tokens.device, theirs[read])))
        answers = np.array([self.classes.index(name) for name in self.task.classes])
        right = _on(tokens.device, answers[self.task_machine.answers[after]])
        given = nn.functional.one_hot(right, logits.shape[-1]).to(logits.dtype)
        asked = _on(tokens.device, self.task_machine.asked[read, after])
        return torch.where(asked[..., None], logits, given)

    def _pad(self, logits: Tensor) -> Tensor:
        """Logits with a column for each class that the network lacks, below all others."""
        least = logits.amin(dim=-1, keepdim=True) - 1
        missing = len(self.classes) - logits.shape[-1]
        more = least.expand(*least.shape[:-1], missing)
        return torch.cat([logits, more], dim=-1)


def _on(device: torch.device, found: IntArray | BoolArray) -> Tensor:
    return torch.from_numpy(found).to(device)


# The first failing word of a network, and the kinds of words that break it.


SAMPLES = 2048
"""Long words that are run to find one that fails; a quarter is made from the worst."""

BUDGET = 50_000
"""Words that may be run to make a failing one smaller."""

EACH = 64
"""Words of each strategy."""


@dataclass(frozen=True)
class FailingWord:
    """A word that a network gets wrong, or how far none was found.

    Attributes:
        length: The longest word that was asked about.
        words: How many words were run to find one.
        right: All words of up to so many letters are right.
        found: The word, which ends with the wrong answer; None if none was found. Where
            nothing is asked it shows the right answers.
        least: Whether no shorter word fails, and none of its length before it.
        how: What found it.
    """

    length: int
    words: int
    right: int
    found: Counterexample | None
    least: bool
    how: str


def find_failing_word(
    model: Simulator,
    task: Task,
    length: int,
    *,
    exhaustive_words: int = EXHAUSTIVE_WORDS,
    samples: int = SAMPLES,
    budget: int = BUDGET,
    seed: int = 0,
) -> FailingWord:
    """Look for a word of a task that a network gets wrong, and make it smaller.

    All short words are run, then long ones that are made to break networks, as
    `krohn.examine` does it with networks of other makers (docs/independent.md).

    Args:
        model: The network.
        task: What it is asked; the distribution of its words does not matter, only
            which words are legal and which answers count.
        length: The longest word.
        exhaustive_words: How many words may be run to run all up to some length.
        samples: How many words of full length to run.
        budget: How many words may be run to make a failing one smaller.
        seed: Of the long words.

    Raises:
        KrohnError: If the network reads other letters or shorter words, or nothing that
            words decide is asked.
    """
    wanted = task_machine(task)
    known, machine = _against(model, task, wanted)
    with evaluating(model):
        run = examine(
            known,
            machine,
            length,
            exhaustive_words=exhaustive_words,
            samples=samples,
            seed=seed,
        )
        if run.failing_run is None or run.failing_run.counterexample is None:
            return FailingWord(length, run.words, run.right, None, False, run.method)
        small = minimise(known, machine, run.failing_run.counterexample, budget)
    counterexample = _as_read(wanted, small.found)
    known_right = max(run.right, small.right)
    return FailingWord(
        length, run.words, known_right, counterexample, small.least, _how(run)
    )


def _against(
    model: Simulator, task: Task, wanted: TaskMachine
) -> tuple[Simulator, Automaton]:
    """The network and its machine, themselves where nothing is illegal or forgiven."""
    same = task.predicts == "class" and model.shows == task.shows
    if wanted.plain and same:
        return model, task.machine
    return OnLegalWords(model, task, wanted), wanted.machine


def _how(run: Examination) -> str:
    assert run.failing_run is not None
    return "all words" if run.failing_run.every else run.failing_run.about.strip(" ()")


def _as_read(wanted: TaskMachine, found: Counterexample) -> Counterexample:
    """The word with the legal letters that it stands for."""
    word = wanted.machine.semiautomaton.encode(found.word)
    read, _ = wanted.legal_words_and_states(word[None])
    letters = tuple(wanted.machine.letters[a] for a in read[0])
    return replace(found, word=letters)


def first_failing_words(
    model: Simulator, task: Task, lengths: Sequence[int], **budgets: int
) -> tuple[FailingWord, ...]:
    """Look for failing words at ascending lengths, up to the first that has one.

    Args:
        model: The network.
        task: The task that it is asked.
        lengths: Ascending; lengths that the network cannot read are left out.
        budgets: As for `find_failing_word`.

    Raises:
        KrohnError: As `find_failing_word` does.
    """
    done: list[FailingWord] = []
    known = 0
    for length in lengths:
        if model.longest is not None and length > model.longest:
            break
        if done and known < done[-1].length:
            # All words that can be afforded have been run.
            budgets["exhaustive_words"] = 0
        outcome = find_failing_word(model, task, length, **budgets)
        known = max(known, outcome.right)
        done.append(replace(outcome, right=known))
        if outcome.found is not None:
            break
    return tuple(done)


@dataclass(frozen=True)
class StrategyAccuracy:
    """How a network does on words of one strategy.

    Attributes:
        strategy: Its name in `krohn.verify.testing.strategies`.
        tokens: Answers that are right.
        words: Words in which all are.
    """

    strategy: str
    tokens: Rate
    words: Rate


def by_strategy(
    model: Simulator,
    task: Task,
    rng: np.random.Generator,
    length: int,
    words: int = EACH,
) -> tuple[StrategyAccuracy, ...]:
    """Accuracy on the words of each strategy: which kind of word breaks the network.

    Strategies that find nothing in the machine, or ask for nothing, are left out.

    Args:
        model: The network.
        task: What it is asked.
        rng: The source of the words.
        length: Letters in each word.
        words: How many of each strategy.

    Raises:
        KrohnError: As `find_failing_word` does.
    """
    wanted, accuracies = task_machine(task), []
    for name, strategy in STRATEGIES.items():
        read, _ = wanted.legal_words_and_states(
            strategy(rng, wanted.machine, words, length)
        )
        batch = task.label(read)
        counted = batch.asked.sum(axis=1)
        if not counted.any():
            continue
        good = (right(model, task, batch) & batch.asked).sum(axis=1)
        some = counted > 0
        each = (good == counted)[some].astype(np.int64)
        whole = clustered_rate(each, np.ones_like(each))
        accuracies.append(StrategyAccuracy(name, clustered_rate(good, counted), whole))
    return tuple(accuracies)
