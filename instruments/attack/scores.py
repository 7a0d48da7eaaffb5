"""Scores of heads, leaks and logits beside their bounds, and answers beside the machine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from krohn.instruments.attack.residual_stream import (
    Stored,
    Values,
    sources,
)
from krohn.instruments.attack.worst_seen import Batch
from krohn.network.meaning.attention import View
from krohn.network.meaning.net import Heads, Net
from krohn.network.meaning.tensors import FAST, points
from krohn.network.precision import FloatArray
from krohn.program import LookBack, Operation, Table, table
from krohn.verify.checker.established import Established
from krohn.verify.checker.heads import Look

# Scores of heads, and the weight on wrong positions, beside their bounds.


@dataclass(frozen=True)
class Head:
    """A head, with the proved bounds of where it looks.

    Attributes:
        channel: One of the channels that it writes.
        operation: The operation of that channel.
        look: The proved bounds.
        snapshot: The snapshot that it reads.
        alone: Its tensors, in the format of the network, and what it sees.
    """

    channel: str
    operation: Operation
    look: Look
    snapshot: int
    alone: Heads[Tensor]

    @property
    def query(self) -> Tensor:
        """``(d, k)``."""
        return self.alone.query[0]

    @property
    def key(self) -> Tensor:
        """``(d, k)``."""
        return self.alone.key[0]

    def visibility(self, x: Tensor) -> Tensor:
        """``([1,] time, time)``: which positions of a stream it sees from which."""
        return torch.as_tensor(View(FAST, self.alone, points(x)).visibility)


def heads(net: Net[Tensor], bounds: Established) -> Iterator[Head]:
    """Every head once for each way of looking."""
    seen = set()
    for name, look in bounds.looks.items():
        channel = bounds.program.channels[name]
        operation, place = channel.operation, channel.stored
        assert place is not None
        alike = (place.born, place.head, operation.wire, operation.reads[1:])
        if alike in seen:
            continue
        seen.add(alike)
        block = net.blocks[(place.born - 1) // 2]
        assert block.heads is not None
        assert place.head is not None
        alone = block.heads.alone(place.head)
        yield Head(name, operation, look, place.born - 1, alone)


def judge(
    batch: Batch,
    found: Sequence[Head],
    seen: Sequence[Tensor],
    true: Values,
    stored: Stored,
    right: Tensor,
) -> None:
    """Hold scores and leaks against their bounds.

    Scores are taken before they are stored and after. The true ones come from true
    values, evaluated with more digits than the network has.

    Args:
        batch: The words.
        found: The heads.
        seen: The stream ``(batch, positions, d)`` at each snapshot.
        true: The true values.
        stored: Where true values lie.
        right: ``(batch, positions, width)``: the codes of true values.
    """
    for head in found:
        x = seen[head.snapshot]
        exact = _true_scores(head, ideal(stored, head.snapshot, right, x.shape[2]))
        query, key = x @ head.query, (x @ head.key).transpose(1, 2)
        wide = torch.promote_types(x.dtype, torch.float32)
        for scores in (query @ key, query.to(wide) @ key.to(wide)):
            _judge_scores(batch, head, scores, exact)
            if isinstance(head.operation, LookBack):
                _judge_leak(batch, head, scores, sources(head.operation, true))


def ideal(stored: Stored, snapshot: int, right: Tensor, width: int) -> Tensor:
    """``(batch, positions, d)``: the stream without any noise."""
    known = stored.snapshots[snapshot]
    x = torch.zeros((*right.shape[:2], width), dtype=torch.float64)
    x[..., known.dims] = right[..., known.columns].double()
    x[..., known.features] = stored.positions[: x.shape[1], known.features].double()
    return x


def _true_scores(head: Head, x: Tensor) -> FloatArray:
    """``(batch, positions, positions)``, with 64 digits if the machine has them."""
    wide = x.numpy().astype(np.longdouble)
    both = (head.query, head.key)
    query, key = (m.double().numpy().astype(np.longdouble) for m in both)
    q, k = wide @ query, wide @ key
    return np.asarray(q @ k.transpose(0, 2, 1))


def _judge_scores(batch: Batch, head: Head, scores: Tensor, true: FloatArray) -> None:
    far = np.abs(scores.double().numpy().astype(np.longdouble) - true)
    off = torch.from_numpy(far.astype(np.float64))
    seen = head.visibility(off)
    off = off.where(seen, 0.0)
    name = f"{head.operation.wire}: score"
    worst = off.amax(dim=2, keepdim=True)
    bound = off.new_full((1,), head.look.widest)
    batch.judge([(name, head.channel, head.snapshot)], worst, bound)
    batch.record.numbers[name] += int(seen.sum()) * len(off)


def _judge_leak(batch: Batch, head: Head, scores: Tensor, source: Tensor) -> None:
    """The weights of wrong positions, in units of the right one."""
    wide = scores.double()
    at = source[..., None]
    hidden = ~head.visibility(wide)
    ahead = (wide - wide.gather(2, at)).masked_fill(hidden, -torch.inf)
    leak = ahead.scatter(2, at, -torch.inf).exp().sum(dim=2, keepdim=True)
    name = f"{head.operation.wire}: leak"
    bound = leak.new_full((1,), head.look.leak)
    batch.judge([(name, head.channel, head.snapshot)], leak, bound)
    batch.record.numbers[name] += leak.numel()


# Logits beside their bounds, and answers beside the machine.


@dataclass(frozen=True)
class Answers:
    """The bounds of a proof on the logits.

    Attributes:
        outputs: The channels that decide the class.
        readings: The class that each tuple of their values means.
        logits: ``(readings, classes)``: the logits of each tuple.
        noise: How far each of them may be off.
        margin: How far the right one is ahead, at least.
    """

    outputs: tuple[str, ...]
    readings: Table
    logits: Tensor
    noise: Tensor
    margin: float

    @staticmethod
    def of(bounds: Established) -> "Answers":
        """Lay out the bounds of the logits."""
        assert bounds.logits is not None
        readings, rows = table(bounds.readings), list(bounds.readings)
        order = torch.tensor(sorted(range(len(rows)), key=rows.__getitem__))
        return Answers(
            bounds.program.outputs,
            readings,
            torch.from_numpy(bounds.logits.value)[order],
            torch.from_numpy(bounds.logits.total)[order],
            bounds.margin,
        )

    def judge(
        self, batch: Batch, logits: Tensor, true: Values, classes: Tensor
    ) -> Tensor:
        """Hold every logit against its bound, and every answer against the machine.

        Args:
            batch: The words.
            logits: ``(batch, time, classes)``.
            true: The true values.
            classes: ``(batch, time)``: the machine's answers.

        Returns:
            ``(batch, classes)``: the greatest share of its bound that each word reaches.
        """
        actual = logits.double()
        read = [true[n][:, 1:].numpy() for n in self.outputs]
        rows = torch.from_numpy(self.readings.place(read))
        # A tuple that was not expected has no row, and every number is off.
        known = (rows >= 0)[..., None]
        off = torch.where(known, (actual - self.logits[rows]).abs(), torch.inf)
        width = actual.shape[2]
        keys = [("logits", str(i), -1) for i in range(width)]
        share = batch.judge(keys, off, self.noise[rows], first=1)
        batch.record.numbers["logits"] += actual.numel()
        judge_margin(batch, actual, classes, self.margin)
        return share


def judge_margin(batch: Batch, found: Tensor, classes: Tensor, margin: float) -> None:
    """Hold the lead of the right logits against the proved margin.

    Args:
        batch: The words.
        found: ``(batch, time, classes)`` logits.
        classes: ``(batch, time)``: the right answers.
        margin: How far it must be ahead.
    """
    right = found.gather(2, classes[..., None])
    others = found.scatter(2, classes[..., None], -torch.inf).amax(dim=2)
    ahead = (right[..., 0] - others).nan_to_num(nan=-torch.inf, posinf=torch.inf)
    word, time = divmod(int(ahead.argmin()), ahead.shape[1])
    batch.note(("margin", "", -1), float(ahead.min()), margin, (word, time + 1))
    batch.record.numbers["margin"] += ahead.numel()
