"""Which answers of a network are right, word by word and position by position."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from krohn.algebra.semiautomaton import IntArray
from krohn.compare.tasks.task import Batch, BoolArray, Task
from krohn.network.evaluation_mode import evaluation_mode
from krohn.verify.testing.black_box import BlackBox
from krohn.verify.testing.counterexample import CheckError, at_once, differs
from krohn.verify.testing.simulator import Simulator


def simulator(
    reads: Callable[[Any], Any], task: Task, longest: int | None = None
) -> BlackBox:
    """A function that knows letters and classes by the numbers that a task gives them.

    Args:
        reads: A torch module, or any callable, as `BlackBox` takes them.
        task: What it was made for.
        longest: The longest word that it can read; None if there is no limit.
    """
    shows = task.shows if task.predicts == "class" else "outputs"
    return BlackBox(reads, task.letters, task.classes, shows, longest)


def right(model: Simulator, task: Task, batch: Batch) -> BoolArray:
    """Where the answers to a batch are right, ``(count, length)``, asked for or not.

    The right logit must be above every other one and all must be finite: neither a tie
    nor a NaN is an answer (`krohn.verify.testing.counterexample`). Letters and classes are
    matched by name. A torch module is put in evaluation mode meanwhile.

    Raises:
        CheckError: If the network reads other letters, or shorter words only.
    """
    _check(model, task, batch.letters.shape[1])
    tokens = _order(task.letters, model.letters)[batch.letters]
    labels = _order(task.classes, model.classes)[batch.labels]
    size = at_once(batch.letters.shape[1])
    found = np.ones(batch.letters.shape, dtype=bool)
    with torch.inference_mode(), evaluating(model):
        for first in range(0, len(tokens), size):
            part = slice(first, first + size)
            read = torch.from_numpy(tokens[part]).to(model.device)
            wanted = torch.from_numpy(labels[part]).to(model.device)
            wrong = differs(model(read), wanted)
            if wrong is not None:
                found[part] = ~wrong.cpu().numpy()
    return found


def _check(model: Simulator, task: Task, length: int) -> None:
    if set(model.letters) != set(task.letters):
        raise CheckError(f"the network does not read the letters of {task.name}")
    if model.longest is not None and length > model.longest:
        raise CheckError(
            f"the network reads words of up to {model.longest} letters, not {length}"
        )


def evaluating(model: Simulator) -> AbstractContextManager[None]:
    """A network in evaluation mode, also inside a `BlackBox`."""
    return evaluation_mode(model.reads if isinstance(model, BlackBox) else model)


def _order(names: tuple[str, ...], theirs: tuple[str, ...]) -> IntArray:
    """The index among theirs of each name; −1 where there is none."""
    index = {name: i for i, name in enumerate(theirs)}
    return np.array([index.get(name, -1) for name in names], dtype=np.int64)


@dataclass(frozen=True)
class Tally:
    """How many answers were asked for, and how many of them were right.

    Attributes:
        asked: ``(length,)``: at each position.
        right: ``(length,)``: the right ones of these.
        word_asked: ``(words,)``: in each word.
        word_right: ``(words,)``: the right ones of these.
    """

    asked: IntArray
    right: IntArray
    word_asked: IntArray
    word_right: IntArray


def tally(
    model: Simulator, task: Task, rng: np.random.Generator, words: int, length: int
) -> Tally:
    """The answers to words that are drawn, a few at a time.

    Raises:
        CheckError: If the network reads other letters, or shorter words only.
    """
    asked, good = np.zeros((2, length), dtype=np.int64)
    by_word: list[tuple[IntArray, IntArray]] = []
    size = 4 * at_once(length)
    for first in range(0, words, size):
        batch = task.batch(rng, min(size, words - first), length)
        answered = right(model, task, batch) & batch.asked
        asked += batch.asked.sum(axis=0)
        good += answered.sum(axis=0)
        by_word.append((batch.asked.sum(axis=1), answered.sum(axis=1)))
    joined = [np.concatenate(part) for part in zip(*by_word, strict=True)]
    return Tally(asked, good, joined[0], joined[1])
