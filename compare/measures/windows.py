"""The best guess of a belief from the last letters: its mean after each context."""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.semiautomaton import IntArray
from krohn.compare.measures.beliefs import distances
from krohn.compare.measures.ngram import HELD_OUT, TOKENS, Codes, contexts, orders_until
from krohn.compare.tasks.beliefs import BeliefTask
from krohn.network.precision import FloatArray


@dataclass(frozen=True, eq=False)
class Window:
    """The mean label after the longest context that was seen (back-off).

    Attributes:
        keys: Random numbers of letters and places, by which contexts are told apart
            (`krohn.compare.measures.ngram`).
        orders: How many letters contexts have, ascending.
        codes: ``(contexts,)`` of each order, ascending.
        means: ``(contexts, classes)`` of each order.
    """

    keys: Codes
    orders: tuple[int, ...]
    codes: tuple[Codes, ...]
    means: tuple[FloatArray, ...]

    def __call__(self, letters: IntArray) -> FloatArray:
        """The belief after each letter of words: ``(count, length, classes)``."""
        return self.by_order(letters)[-1]

    def by_order(self, letters: IntArray) -> list[FloatArray]:
        """The beliefs by each order, ascending, with all shorter ones to back off to."""
        said = np.zeros((*letters.shape, self.means[0].shape[1]))
        found = []
        each = contexts(letters, self.keys, list(self.orders))
        for codes, known, means in zip(each, self.codes, self.means, strict=True):
            at = np.minimum(np.searchsorted(known, codes), len(known) - 1)
            said = np.where((known[at] == codes)[..., None], means[at], said)
            found.append(said)
        return found

    def until(self, order: int) -> "Window":
        """The windows with contexts of up to so many letters."""
        many = sum(o <= order for o in self.orders)
        parts = (self.orders[:many], self.codes[:many], self.means[:many])
        return Window(self.keys, *parts)


def best_window(
    task: BeliefTask, seed: int, length: int, tokens: int = TOKENS
) -> Window:
    """The n-gram of beliefs whose n is best on words of its own, the least of several.

    Args:
        task: The words, and the question about them.
        seed: Seed of the words and the keys.
        length: Letters in each word.
        tokens: How many letters to count in.
    """
    rng = np.random.default_rng(seed)
    keys = rng.integers(2**64, size=(length, len(task.letters) + 1), dtype=np.uint64)
    batch = task.batch(rng, max(1, tokens // length), length)
    labels = batch.labels.reshape(-1, len(task.classes))
    orders, codes, means = orders_until(length), [], []
    for each in contexts(batch.letters, keys, orders):
        known, context = np.unique(each, return_inverse=True)
        sums = np.zeros((len(known), labels.shape[1]))
        np.add.at(sums, context.ravel(), labels)
        codes.append(known)
        means.append(sums / np.bincount(context.ravel())[:, None])
    whole = Window(keys, tuple(orders), tuple(codes), tuple(means))
    fresh = task.batch(rng, max(1, tokens // HELD_OUT // length), length)
    off = [
        float(distances(said, fresh.truth, task.probabilities)[fresh.asked].mean())
        for said in whole.by_order(fresh.letters)
    ]
    return whole.until(orders[int(np.argmin(off))])
