"""Where a network breaks: its first failing word, and which kinds of words break it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.compare.measures.answers import evaluating, right
from krohn.compare.measures.legal_words import OnLegalWords, TaskMachine, task_machine
from krohn.compare.measures.rates import Rate, clustered_rate
from krohn.compare.tasks.task import Task
from krohn.verify.testing.counterexample import Counterexample
from krohn.verify.testing.examination import PREFIXES, Examination, examine
from krohn.verify.testing.shortest_failing import minimise
from krohn.verify.testing.simulator import Simulator
from krohn.verify.testing.strategies import STRATEGIES

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
    prefixes: int = PREFIXES,
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
        prefixes: How many words may be run to run all up to some length.
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
            known, machine, length, prefixes=prefixes, samples=samples, seed=seed
        )
        if run.failed is None or run.failed.counterexample is None:
            return FailingWord(length, run.words, run.right, None, False, run.method)
        small = minimise(known, machine, run.failed.counterexample, budget)
    found = _as_read(wanted, small.found)
    known_right = max(run.right, small.right)
    return FailingWord(length, run.words, known_right, found, small.least, _how(run))


def _against(
    model: Simulator, task: Task, wanted: TaskMachine
) -> tuple[Simulator, Automaton]:
    """The network and its machine, themselves where nothing is illegal or forgiven."""
    same = task.predicts == "class" and model.shows == task.shows
    if wanted.plain and same:
        return model, task.machine
    return OnLegalWords(model, task, wanted), wanted.machine


def _how(run: Examination) -> str:
    assert run.failed is not None
    return "all words" if run.failed.every else run.failed.about.strip(" ()")


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
            budgets["prefixes"] = 0
        found = find_failing_word(model, task, length, **budgets)
        known = max(known, found.right)
        done.append(replace(found, right=known))
        if found.found is not None:
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
    wanted, found = task_machine(task), []
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
        found.append(StrategyAccuracy(name, clustered_rate(good, counted), whole))
    return tuple(found)
