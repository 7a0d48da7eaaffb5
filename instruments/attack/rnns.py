"""Attacks on the proof of an RNN, which says that nothing is ever rounded."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.automaton import IntArray
from krohn.architectures.recurrent.meaning import hidden_axis
from krohn.instruments.attack.scores import judge_margin
from krohn.instruments.attack.worst_seen import (
    Batch,
    EvolutionarySearch,
    Record,
    Target,
)
from krohn.network.architecture import is_index, sparse_matrices
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FLOAT64, FloatArray, Precision
from krohn.network.recurrent import Rnn
from krohn.network.sparse import Sparse

AT_ONCE = 1024
MOST_NUMBERS = 2**26
"""In all hidden states of a batch; 961 units, 64 letters and 1,024 words are fewer."""
ORDERS = 3
BATCHES = (1, 7, 64)
LENGTH = 64
"""Of words; the proof holds for all lengths."""


@dataclass(frozen=True)
class Way:
    """A way to run an RNN: ``(batch, time)`` to hidden states and logits of each time.

    Attributes:
        name: What it is called in reports.
        net: The network, its hidden units in some order.
        back: ``(hidden,)``: where each unit of the file stands.
        most: How many words at once.
    """

    name: str
    net: Rnn
    back: Tensor
    most: int

    def __call__(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Run words, at most ``most`` at once."""
        parts = [self._run(part) for part in torch.split(words, self.most)]
        hidden, logits = zip(*parts, strict=True)
        return torch.cat(hidden)[..., self.back], torch.cat(logits)

    def _run(self, words: Tensor) -> tuple[Tensor, Tensor]:
        cache, hidden, logits = self.net.start(len(words)), [], []
        for letters in words.unbind(1):
            now, cache = self.net.step(letters, cache)
            hidden.append(cache.parts[0])
            logits.append(now)
        return torch.stack(hidden, dim=1), torch.stack(logits, dim=1)


def ways(target: Target) -> list[Way]:
    """Batches of several sizes, and hidden units in several orders."""
    file, precision, most = target.file, target.file.precision, _at_once(target.file)
    units = np.arange(len(file.tensors["hidden.start"]))
    plain = network(file, units, precision)
    still = torch.from_numpy(units)
    ways_to_run = [Way("eager", plain, still, most)]
    ways_to_run += [Way(f"batches of {n}", plain, still, min(n, most)) for n in BATCHES]
    for i in range(ORDERS):
        order = target.rng.permutation(len(units))
        net, back = network(file, order, precision), torch.from_numpy(order.argsort())
        ways_to_run.append(Way(f"order {i + 1}", net, back, most))
    return ways_to_run


def _at_once(file: ModelFile) -> int:
    """How many words at once: of each, all hidden states are kept."""
    each = LENGTH * len(file.tensors["hidden.start"])
    return max(1, min(AT_ONCE, MOST_NUMBERS // each))


def network(file: ModelFile, order: IntArray, precision: Precision) -> Rnn:
    """The runtime with its hidden units in some order, in some format."""
    new: dict[str, FloatArray] = dict(file.tensors)
    for name in ("hidden.start", "hidden.bias"):
        new[name] = new[name][order]
    matrices = sparse_matrices(file.architecture)
    if matrices:
        new |= _reorder(file, matrices, order)
    else:
        new["hidden.weight"] = new["hidden.weight"][np.ix_(order, order)]
        new["input.weight"] = new["input.weight"][:, order]
        new["unembed.weight"] = new["unembed.weight"][order]
    dtype = getattr(torch, precision.name)
    loaded = {
        name: torch.from_numpy(a.copy()).to(torch.int64 if is_index(name) else dtype)
        for name, a in new.items()
    }
    return Rnn(file.header["architecture"], loaded)


def _reorder(
    file: ModelFile, matrices: Mapping[str, int], order: IntArray
) -> dict[str, FloatArray]:
    """The tensors of sparse matrices, their hidden units in another order."""
    tensors: dict[str, FloatArray] = {}
    for name, columns in matrices.items():
        matrix = Sparse.from_tensors(file.tensors, name, columns)
        of_rows = hidden_axis(name) == 0
        moved = matrix.permute(rows=order) if of_rows else matrix.permute(columns=order)
        tensors |= moved.tensors(name)
    return tensors


def rounds(target: Target, record: Record) -> Iterator[None]:
    """Run batch after batch, without end, by every way in turn.

    Every number is held against the same network in float64 with its units the other way
    round: exact numbers do not depend on either.
    """
    back = np.arange(len(target.file.tensors["hidden.start"]))[::-1].copy()
    judged = network(target.file, back, FLOAT64)
    most = _at_once(target.file)
    true = Way("float64", judged, torch.from_numpy(back), most)
    breeding = EvolutionarySearch(target.machine, LENGTH, target.rng)
    ways_to_run = ways(target)
    while True:
        for way in ways_to_run:
            words = breeding.words(min(most, 16 * way.most))
            with torch.inference_mode():
                _judge(Batch(words, way.name, record), target, way(words), true(words))
            record.ways[way.name] += words.numel()
            yield


def _judge(
    batch: Batch,
    target: Target,
    seen: tuple[Tensor, Tensor],
    right: tuple[Tensor, Tensor],
) -> None:
    for name, actual, true in zip(("hidden", "logits"), seen, right, strict=True):
        off = (actual.double() - true).abs().amax(dim=2, keepdim=True)
        batch.judge([(f"RNN: {name}", "", -1)], off, off.new_zeros(1), first=1)
        batch.record.numbers[f"RNN: {name}"] += actual.numel()
    margin = float(target.proof.evidence[-1]["margin"])
    judge_margin(batch, seen[1].double(), target.classes(batch.words), margin)
