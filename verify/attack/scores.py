"""Scores of heads, and the weight on wrong positions, beside their bounds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from krohn.network.architectures.transformer import causal
from krohn.network.attention_kind import attention_kind
from krohn.network.mixing import SoftmaxMixing, mixing
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program import LookBack, Operation
from krohn.verify.attack.residual_stream import Stored
from krohn.verify.attack.true_values import Values, sources
from krohn.verify.attack.worst_seen import Batch
from krohn.verify.checker.heads import Look
from krohn.verify.checker.transformer import Established


@dataclass(frozen=True)
class Head:
    """A head, with the proved bounds of where it looks.

    Attributes:
        channel: One of the channels that it writes.
        operation: The operation of that channel.
        look: The proved bounds.
        snapshot: The snapshot that it reads.
        query: ``(d, k)`` in the format of the network.
        key: ``(d, k)``.
        mixing: The way from its scores to its weights.
    """

    channel: str
    operation: Operation
    look: Look
    snapshot: int
    query: Tensor
    key: Tensor
    mixing: SoftmaxMixing


def heads(file: ModelFile, bounds: Established) -> Iterator[Head]:
    """Every head once for each way of looking."""
    dtype = getattr(torch, file.precision.name)
    seen = set()
    for name, look in bounds.looks.items():
        channel = bounds.program.channels[name]
        operation, place = channel.operation, channel.stored
        assert place is not None
        alike = (place.born, place.head, operation.wire, operation.reads[1:])
        if alike in seen:
            continue
        seen.add(alike)
        at = f"blocks.{(place.born - 1) // 2}.attention"
        query, key = (
            torch.from_numpy(file.tensors[f"{at}.{n}"][place.head]).to(dtype)
            for n in ("query", "key")
        )
        shape = file.header["architecture"]["blocks"][(place.born - 1) // 2]
        assert place.head is not None
        kind = mixing(attention_kind(shape), [causal(shape)[place.head]])
        assert isinstance(kind, SoftmaxMixing)
        yield Head(name, operation, look, place.born - 1, query, key, kind)


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
    off = torch.from_numpy(far.astype(np.float64)).tril()
    name = f"{head.operation.wire}: score"
    worst = off.amax(dim=2, keepdim=True)
    bound = off.new_full((1,), head.look.widest)
    batch.judge([(name, head.channel, head.snapshot)], worst, bound)
    batch.record.numbers[name] += off.numel() // 2


def _judge_leak(batch: Batch, head: Head, scores: Tensor, source: Tensor) -> None:
    """The weights of wrong positions, in units of the right one."""
    wide = scores.double()
    at = source[..., None]
    hidden = ~head.mixing.seen(wide.shape[1], wide.device)
    ahead = (wide - wide.gather(2, at)).masked_fill(hidden, -torch.inf)
    leak = ahead.scatter(2, at, -torch.inf).exp().sum(dim=2, keepdim=True)
    name = f"{head.operation.wire}: leak"
    bound = leak.new_full((1,), head.look.leak)
    batch.judge([(name, head.channel, head.snapshot)], leak, bound)
    batch.record.numbers[name] += leak.numel()
