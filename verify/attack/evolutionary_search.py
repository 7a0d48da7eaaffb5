"""Words that are bred to bring numbers close to their bounds."""

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.automaton import Automaton
from krohn.verify.testing.strategies import STRATEGIES, uniform

KEPT = 4
FRESH = 0.25
"""The share of words that are drawn anew; all others descend from kept ones."""


@dataclass
class EvolutionarySearch:
    """The words that came closest, and new words bred from them.

    Attributes:
        machine: Whose words they are.
        length: Of every word.
        rng: Where chance comes from.
        elite: ``(targets, KEPT, length)``: the worst words for each number.
        share: ``(targets, KEPT)``: how close they came.
        drawn: How many batches there were.
    """

    machine: Automaton
    length: int
    rng: np.random.Generator
    elite: Tensor = field(default_factory=lambda: torch.zeros(0))
    share: Tensor = field(default_factory=lambda: torch.zeros(0))
    drawn: int = 0

    def words(self, count: int) -> Tensor:
        """``(count, length)``: fresh words, and descendants of the kept ones."""
        fresh = count if not len(self.elite) else max(1, round(FRESH * count))
        strategy = list(STRATEGIES.values())[self.drawn % len(STRATEGIES)]
        self.drawn += 1
        drawn = strategy(self.rng, self.machine, fresh, self.length)
        # Some machines do not have what a strategy is about.
        more = uniform(self.rng, self.machine, fresh - len(drawn), self.length)
        drawn = np.concatenate([drawn, more])
        new = torch.from_numpy(np.ascontiguousarray(drawn))
        if fresh == count:
            return new
        return torch.cat([new, self._descendants(count - fresh)])

    def learn(self, words: Tensor, share: Tensor) -> None:
        """Keep the words ``(batch, length)`` that reach most of some bound.

        Args:
            words: The words that were run.
            share: ``(batch, targets)``: the share of each bound that each word reaches.
        """
        if not len(self.elite):
            targets = share.shape[1]
            self.elite = torch.zeros((targets, KEPT, self.length), dtype=torch.int64)
            self.share = share.new_zeros((targets, KEPT))
        both = torch.cat([self.share, share.T], dim=1)
        self.share, chosen = both.topk(KEPT, dim=1)
        new = words[(chosen - KEPT).clamp(min=0)]
        old = self.elite.gather(
            1, chosen.clamp(max=KEPT - 1)[..., None].expand(-1, -1, self.length)
        )
        self.elite = torch.where((chosen < KEPT)[..., None], old, new)

    def _descendants(self, count: int) -> Tensor:
        """Kept words, spliced, turned and with letters changed."""
        parents, others = self._draw_kept(count), self._draw_kept(count)
        time = np.arange(self.length)
        cut = self.rng.integers(self.length + 1, size=(count, 1))
        cut = np.where(self.rng.random((count, 1)) < 0.5, self.length, cut)
        words = np.where(time < cut, parents, others)
        turn = self.rng.integers(self.length, size=(count, 1))
        turn = np.where(self.rng.random((count, 1)) < 0.25, turn, 0)
        words = np.take_along_axis(words, (time + turn) % self.length, axis=1)
        rate = 2.0 ** self.rng.integers(-1, 4, size=(count, 1)) / self.length
        changed = self.rng.random(words.shape) < rate
        letters = self.rng.integers(len(self.machine.letters), size=words.shape)
        return torch.from_numpy(np.where(changed, letters, words))

    def _draw_kept(self, count: int) -> np.ndarray:
        """Kept words; the words of numbers that were never off are left out."""
        able = np.flatnonzero((self.share[:, 0] > 0).numpy())
        if not len(able):
            able = np.arange(len(self.share))
        target = self.rng.choice(able, size=count)
        rank = self.rng.integers(KEPT, size=count)
        return self.elite[torch.from_numpy(target), torch.from_numpy(rank)].numpy()
