"""The answers that a task asks of any word: illegal letters repaired, the rest forgiven.

Checks of networks run all words, or words made to be hard. A network that was trained on
nested brackets owes no answer after an illegal one, and a flip-flop only after reads. So
words are read as legal ones, and answers that are not asked for count as right: a
failure then is a legal word, at an answer that was asked for.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from krohn.algebra.automaton import Automaton, Output
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import reachable
from krohn.algebra.products import parallel
from krohn.algebra.semiautomaton import IntArray, Semiautomaton
from krohn.algebra.shown import Shows, output_classes
from krohn.algebra.zoo.flipflop import VALUES, acceptor
from krohn.algebra.zoo.languages import ERROR
from krohn.compare.measures.curves import flips
from krohn.compare.tasks.letters import forbids
from krohn.compare.tasks.task import BoolArray, Task
from krohn.verify.testing.simulator import Simulator


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
    found = np.where(following < letters, following, last)
    return np.where(found < 0, index, found)


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
        said = self._pad(self.inner(_on(tokens.device, theirs[read])))
        answers = np.array([self.classes.index(name) for name in self.task.classes])
        right = _on(tokens.device, answers[self.task_machine.answers[after]])
        given = nn.functional.one_hot(right, said.shape[-1]).to(said.dtype)
        asked = _on(tokens.device, self.task_machine.asked[read, after])
        return torch.where(asked[..., None], said, given)

    def _pad(self, logits: Tensor) -> Tensor:
        """Logits with a column for each class that the network lacks, below all others."""
        least = logits.amin(dim=-1, keepdim=True) - 1
        missing = len(self.classes) - logits.shape[-1]
        more = least.expand(*least.shape[:-1], missing)
        return torch.cat([logits, more], dim=-1)


def _on(device: torch.device, found: IntArray | BoolArray) -> Tensor:
    return torch.from_numpy(found).to(device)
