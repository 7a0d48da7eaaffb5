"""The attention of heads on queries, keys and values, by the kind of their block."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from krohn.network.cache import Both, Tree, attend, attend_alike
from krohn.program.attention import (
    Attention,
    Linear,
    Rectified,
    Sight,
    Softmax,
    Sparse,
    sees_ahead,
)
from krohn.program.errors import unknown

RUNTIME = "Krohn's runtime"


class Mixing(ABC):
    """The heads of a block from their queries, keys and values on.

    Attributes:
        running: Whether what is remembered of the positions so far is their sum.
    """

    running: ClassVar[bool] = False

    @abstractmethod
    def whole(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """The attention at all positions of words: ``(batch, heads, time, v)``."""

    @abstractmethod
    def branch(
        self, query: Tensor, own: Both, past: Both, tree: Tree, alike: bool
    ) -> Tensor:
        """The attention at nodes that continue words.

        Args:
            query: ``(batch, heads, nodes, k)``.
            own: Keys and values of the nodes, in the same shape.
            past: What is remembered of the positions before.
            tree: How the nodes hang together.
            alike: Whether queries, keys and values are ``(1, heads, nodes, k)``, for all
                words, and the same at nodes of one kind.
        """

    @abstractmethod
    def weights(self, query: Tensor, key: Tensor) -> Tensor:
        """``(batch, heads, time, time)``: how much each position takes of each."""

    def added(self, key: Tensor, value: Tensor) -> Both:
        """The part of the memory that each position adds, ``(batch, heads, time, …)``."""
        return key, value

    def remembered(self, key: Tensor, value: Tensor) -> Both:
        """The memory of all positions of words."""
        return key, value


class SoftmaxMixing(Mixing):
    """A softmax of all scores that a head sees.

    Args:
        sights: The positions that each head sees.
    """

    def __init__(self, sights: Sequence[Sight]) -> None:
        self.ahead = [sees_ahead(sight, RUNTIME) for sight in sights]

    def whole(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """By a fused kernel, but of float32 on a GPU.

        There it would multiply parts of 11 digits and drop the least product: of 2049²
        the last digit (A1 of docs/soundness.md).
        """
        if query.is_cuda and query.dtype == torch.float32:
            return self.weights(query, key) @ value
        masked = None
        if any(self.ahead):
            masked = self.seen(query.shape[2], query.device)
        return F.scaled_dot_product_attention(
            query, key, value, attn_mask=masked, is_causal=masked is None, scale=1.0
        )

    def seen(self, count: int, device: torch.device) -> Tensor:
        """``(heads, time, time)``: which positions each one sees."""
        t = torch.arange(count, device=device)
        past = t[None, :] <= t[:, None]
        everywhere = torch.tensor(self.ahead, device=device)
        return past | (everywhere[:, None, None] & (t > 0)[:, None])

    def weights(self, query: Tensor, key: Tensor) -> Tensor:
        """The softmax."""
        scores = query @ key.transpose(-1, -2)
        hidden = ~self.seen(query.shape[2], query.device)
        return scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)

    def branch(
        self, query: Tensor, own: Both, past: Both, tree: Tree, alike: bool
    ) -> Tensor:
        """With what nodes have in common computed once."""
        return (attend_alike if alike else attend)(query, own, past, tree)


class ReluMixing(SoftmaxMixing):
    """Weights max(score, 0) of all positions that a head sees, divided by nothing."""

    def weights(self, query: Tensor, key: Tensor) -> Tensor:
        """The scores above 0, and 0 elsewhere."""
        hidden = ~self.seen(query.shape[2], query.device)
        return (query @ key.transpose(-1, -2)).relu().masked_fill(hidden, 0.0)

    def whole(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """A sum."""
        return self.weights(query, key) @ value

    def branch(
        self, query: Tensor, own: Both, past: Both, tree: Tree, alike: bool
    ) -> Tensor:
        """The past, and the nodes above."""
        near = (query @ own[0].transpose(-1, -2)).relu()
        near = near.masked_fill(tree.strangers.to(near.device), 0.0)
        far = (query @ past[0].transpose(-1, -2)).relu()
        return near @ own[1] + far @ past[1]


class SparseMixing(SoftmaxMixing):
    """A softmax of the scores of the last positions and of some of the earlier ones."""

    def __init__(self, kind: Sparse) -> None:
        super().__init__((Sight.CAUSAL,))
        self.kind = kind

    def sees(self, i: Tensor, j: Tensor) -> Tensor:
        """Whether positions see positions, numbered from BOS at 0."""
        seen: Tensor = self.kind.sees(i, j)
        return seen

    def seen(self, count: int, device: torch.device) -> Tensor:
        """``(time, time)``: which positions each one sees, in every head."""
        t = torch.arange(count, device=device)
        return self.sees(t[:, None], t)

    def whole(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Block by block: a block of rows beside its window and the ends of all blocks.

        The scores are as many as the sparse mask leaves, up to a factor of (k + 1)/k.
        """
        count, size, window = query.shape[2], self.kind.block, self.kind.window
        over = -count % size
        t = torch.arange(count + over, device=query.device).reshape(-1, size, 1)
        ends = torch.arange(count, device=query.device)
        ends = ends[self.sees(ends[-1] + window, ends)]
        near = t[:, :1] - window + torch.arange(window + size, device=query.device)
        scores: list[Tensor] = []
        values: list[Tensor] = []
        rows = F.pad(query, (0, 0, 0, over)).reshape(*query.shape[:2], len(t), size, -1)
        for part, known in ((key, scores), (value, values)):
            wide = F.pad(part, (0, 0, window, over)).unfold(2, window + size, size)
            far = part[:, :, ends][:, :, None].transpose(-1, -2)
            known += [wide, far.expand(*wide.shape[:3], -1, -1)]
        found = rows @ torch.cat(scores, dim=-1)
        seen = [(near >= 0) & (near <= t) & (t - near < window), t - ends >= window]
        hidden = ~torch.cat([each.expand(-1, size, -1) for each in seen], dim=-1)
        weights = found.masked_fill(hidden, -torch.inf).softmax(dim=-1)
        mixed = weights @ torch.cat(values, dim=-1).transpose(-1, -2)
        return mixed.flatten(2, 3)[:, :, :count]

    def branch(
        self, query: Tensor, own: Both, past: Both, tree: Tree, alike: bool
    ) -> Tensor:
        """Of the past only what some node sees is looked at."""
        seen, batch = past[0].shape[2], len(past[0])
        i = (seen + tree.depth)[:, None]
        before, among = self.sees(i, torch.arange(seen)), self.sees(i, i.T)
        shown = before.any(dim=0)
        hidden = torch.zeros((tree.nodes, int(shown.sum()) + tree.nodes))
        hidden[~torch.cat([before[:, shown], among], dim=1)] = -torch.inf
        columns = shown.nonzero()[:, 0].to(query.device)
        left = past[0][:, :, columns], past[1][:, :, columns]
        nodes = own[0].expand(batch, -1, -1, -1), own[1].expand(batch, -1, -1, -1)
        return attend(query.expand(batch, -1, -1, -1), nodes, left, tree, hidden)


class LinearMixing(Mixing):
    """Weights φ(k_j)·φ(q_i) over their sum: two sums are remembered of all positions.

    These are Σ φ(k_j) v_jᵀ, row by row, and Σ φ(k_j): ``(batch, heads, 1, k·v)`` and
    ``(batch, heads, 1, k)``. Where all weights are 0, the result is not a number.
    """

    running = True

    def products(self, query: Tensor, key: Tensor) -> Tensor:
        """``(batch, heads, time, time)``: φ(k_j)·φ(q_i), of all positions."""
        return phi(query) @ phi(key).transpose(-1, -2)

    def weights(self, query: Tensor, key: Tensor) -> Tensor:
        """The parallel form."""
        found = self.products(query, key).tril()
        return found / found.sum(dim=-1, keepdim=True)

    def whole(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """The parallel form, divided last."""
        found = self.products(query, key).tril()
        return (found @ value) / found.sum(dim=-1, keepdim=True)

    def added(self, key: Tensor, value: Tensor) -> Both:
        """One term of each sum."""
        features = phi(key)
        return (features[..., :, None] * value[..., None, :]).flatten(3), features

    def remembered(self, key: Tensor, value: Tensor) -> Both:
        """The sums."""
        features = phi(key)
        mixed = (features.transpose(-1, -2) @ value).flatten(2)[:, :, None]
        return mixed, features.sum(dim=2, keepdim=True)

    def branch(
        self, query: Tensor, own: Both, past: Both, tree: Tree, alike: bool
    ) -> Tensor:
        """The recurrent form: the sums so far, and the nodes above."""
        key, value = own
        sums = past[0].reshape(*past[0].shape[:2], key.shape[3], -1)
        near = self.products(query, key)
        near = near.masked_fill(tree.strangers.to(near.device), 0.0)
        asked = phi(query)
        total = asked @ past[1].transpose(-1, -2) + near.sum(dim=-1, keepdim=True)
        return (asked @ sums + near @ value) / total


def phi(x: Tensor) -> Tensor:
    """elu(x) + 1: x + 1 above 0, e^x below."""
    return F.elu(x) + 1


def mixing(kind: Attention, sights: Sequence[Sight]) -> Mixing:
    """The attention of heads of a kind.

    Raises:
        Refused: If it is of a kind that is not run.
    """
    match kind:
        case Softmax():
            return SoftmaxMixing(sights)
        case Rectified():
            return ReluMixing(sights)
        case Linear():
            return LinearMixing()
        case Sparse():
            return SparseMixing(kind)
        case other:
            return unknown(other, RUNTIME)
