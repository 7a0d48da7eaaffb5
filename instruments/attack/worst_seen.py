"""The worst that was seen of every bound, and words that are bred to come near it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.minimisation import output_classes
from krohn.network.modelfile import ModelFile
from krohn.verify.proof import Proof
from krohn.verify.testing.strategies import STRATEGIES, uniform

# The worst that was seen of every bound.


Key = tuple[str, str, int]
MOST_KEPT = 20


@dataclass(frozen=True)
class Worst:
    """A bound, and the number that came closest to it.

    Attributes:
        operation: The kind of bound: an operation for its stored values, with
            ``: leak`` or ``: score`` for its head; ``features``, ``free``, ``logits`` and
            ``margin``; ``hidden`` of an RNN; ``law`` of a generator.
        channel: Which one; for logits the class.
        snapshot: Where in the residual stream.
        observed: How far the number was off; for a margin how wide it was.
        bound: The error that the proof allows; for a margin the width that it demands.
        word: The letters, indices.
        position: After how many of them.
        way: How the network was run.
        again: For a violation, whether it is there when the word is run by itself.
    """

    operation: str
    channel: str
    snapshot: int
    observed: float
    bound: float
    word: tuple[int, ...] = ()
    position: int = 0
    way: str = ""
    again: bool | None = None

    @property
    def key(self) -> Key:
        """Which bound it is."""
        return self.operation, self.channel, self.snapshot

    @property
    def share(self) -> float:
        """Observed / bound: more than 1 is a violation; 0 if nothing was off."""
        low, high = self.observed, self.bound
        if self.operation == "margin":
            low, high = high, low
        if low != low or high != high:
            return float("inf")
        if low == 0:
            return 0.0
        return low / high if high > 0 else float("inf")

    @property
    def is_violated(self) -> bool:
        """Whether the bound does not hold."""
        return not self.share <= 1

    def to_object(self) -> dict[str, Any]:
        """For JSON, which has no infinity."""
        share = self.share if isfinite(self.share) else None
        return {**asdict(self), "word": list(self.word), "share": share}


@dataclass
class Record:
    """The record of an attack so far.

    Attributes:
        worst: For each bound the number that came closest.
        numbers: For each operation how many numbers were held against a bound.
        ways: How many positions of words were run by each way; all numbers there are
            held against their bounds.
        left_out: Ways that cannot be gone here, and why.
        violations: The first numbers beyond their bounds.
    """

    worst: dict[Key, Worst] = field(default_factory=dict)
    numbers: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    left_out: dict[str, str] = field(default_factory=dict)
    violations: list[Worst] = field(default_factory=list)

    @property
    def positions(self) -> int:
        """How many positions of words were run."""
        return self.ways.total()

    def note(self, found: Worst) -> None:
        """Keep a number if it is closer to its bound than any before."""
        if self.nears(found.key, found.share):
            self.worst[found.key] = found
        if found.is_violated and len(self.violations) < MOST_KEPT:
            self.violations.append(found)

    def nears(self, key: Key, share: float) -> bool:
        """Whether a share is above the worst so far, so that its word is wanted."""
        before = self.worst.get(key)
        return before is None or not share <= before.share


@dataclass(frozen=True)
class Batch:
    """Words that are run together.

    Attributes:
        words: ``(batch, time)`` letter indices.
        way: How the network was run.
        record: Where the worst is kept.
    """

    words: Tensor
    way: str
    record: Record

    def judge(
        self, keys: list[Key], off: Tensor, bound: Tensor, first: int = 0
    ) -> Tensor:
        """Hold numbers against their bounds.

        Args:
            keys: Which bound each column is about.
            off: ``(batch, positions, columns)``: how far each number is off.
            bound: What the proof allows, of a shape that broadcasts to it.
            first: The first position; BOS is 0.

        Returns:
            ``(batch, columns)``: the greatest share of its bound that each word reaches.
        """
        share = torch.where(off == 0, 0.0, off / bound).nan_to_num(nan=torch.inf)
        best = share.amax(dim=1)
        for column, top in enumerate(best.amax(dim=0).tolist()):
            if self.record.nears(keys[column], top):
                at = int(share[..., column].argmax())
                word, time = divmod(at, share.shape[1])
                observed = float(off[word, time, column])
                allowed = float(bound.expand_as(off)[word, time, column])
                self.note(keys[column], observed, allowed, (word, time + first))
        return best

    def note(
        self, key: Key, observed: float, bound: float, place: tuple[int, int]
    ) -> None:
        """Keep a number that was seen at a word and a position of it."""
        word, position = place
        letters = tuple(self.words[word, :position].tolist())
        self.record.note(Worst(*key, observed, bound, letters, position, self.way))


@dataclass(frozen=True)
class Target:
    """A network that was proved, and how it is attacked.

    Attributes:
        file: The network.
        machine: What it computes; its letters are in the order of the tokens.
        proof: Its proof.
        rng: Of words, orders and the worst arithmetic.
        compiled: Whether to run it through ``torch.compile`` as well.
    """

    file: ModelFile
    machine: Automaton
    proof: Proof
    rng: np.random.Generator
    compiled: bool

    @property
    def length(self) -> int:
        """T."""
        assert self.proof.length is not None
        return self.proof.length

    def classes(self, words: Tensor) -> Tensor:
        """The logit that must be the largest after each letter: ``(batch, time)``."""
        machine = self.machine
        trace = machine.semiautomaton.trace(words.numpy(), machine.start)
        return torch.from_numpy(self._shows[trace])

    @cached_property
    def _shows(self) -> IntArray:
        return output_classes(self.machine, self.file.claim.shows.value).of


def by_operation(record: Record) -> Mapping[str, Worst]:
    """For each operation the bound that was approached most."""
    # What is exact, and was never off, has been held against its codes only.
    tightest = {name: Worst(name, "", -1, 0.0, 0.0) for name in record.numbers}
    for worst in record.worst.values():
        before = tightest.get(worst.operation)
        if before is None or worst.share > before.share:
            tightest[worst.operation] = worst
    return tightest


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
