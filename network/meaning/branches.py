"""The engine of torch on the branches of a tree: many short continuations of many words.

The shapes are unusual, thousands of words with a few nodes each and a few dimensions, and
so is what is fast: products with few columns are transposed, keys and values of the past
stand where they are, and what nodes have in common is computed once. Each override is held
against the definition by a test.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache as kept_for_good, lru_cache
from typing import Any

import torch
from torch import Tensor

from krohn.network.cache import ONE, Cache, Tree
from krohn.network.meaning.attention import SCORES, WRITE, Points, View, attend
from krohn.network.meaning.forward import read_out, through
from krohn.network.meaning.net import Affine, Heads, Net
from krohn.network.meaning.tensors import FAST, Both, Tensors, known_finite, points
from krohn.program.attention import Linear, Rectified, Softmax, Sparse

NARROW = 8
"""The most columns of a product that is faster transposed, measured on a CPU."""


class Branches(Tensors):
    """One pass over the nodes of a tree below each word.

    Args:
        tree: How the nodes hang together.
        cache: What is remembered of the words.
        alike: Whether the stream is ``(1, nodes, d)``, for all words, and the same at nodes
            of one kind, until heads have read the past.
        given: ``(batch, d)``: what is added to the embeddings of a word's nodes.
        careful: As of `Tensors`.
    """

    def __init__(
        self,
        tree: Tree,
        cache: Cache,
        alike: bool,
        given: Tensor | None,
        careful: bool = False,
    ) -> None:
        super().__init__(careful)
        self.tree, self.cache, self.given = tree, cache, given
        self.alike = alike and given is None
        self.projections = iter(cache.plan.projections)
        self.past: Both | None = None

    def embed(self, net: Net[Tensor], points: Points) -> Tensor:
        """With what is given; narrow formats have no pieces of a softmax to add up.

        Tables are not added to in place.
        """
        x = net.token[points.tokens] + net.position[points.index]
        if self.given is not None:
            return x + self.given[:, None]
        if x.dtype.itemsize < 4 and self.cache.parts:
            self.alike = False
            return x.expand(len(self.cache.parts[0]), -1, -1)
        return x

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """In place: nobody else needs what is added to the stream."""
        return y.add_(x)

    def relu(self, x: Tensor) -> Tensor:
        """In place."""
        return torch.relu_(x)

    def affine(self, x: Tensor, layer: Affine[Tensor]) -> Tensor:
        """The affine map, rounded as the forward pass rounds it: a product is stored."""
        weight, bias = layer.weight, layer.bias
        rows, shape = x.flatten(0, -2), (*x.shape[:-1], weight.shape[1])
        if weight.shape[1] > NARROW:
            return (rows @ weight).add_(bias).reshape(shape)
        return (weight.T @ rows.T).add_(bias[:, None]).T.reshape(shape)

    def contract(self, axes: str, x: Tensor, y: Tensor) -> Tensor:
        """What heads took by one product."""
        if axes == WRITE:
            return x.transpose(1, 2).flatten(2) @ y.flatten(0, 1)
        return super().contract(axes, x, y)

    def project(self, heads: Heads[Tensor], x: Tensor) -> Sequence[Tensor]:
        """Queries, keys and values by one product: narrow ones are slow."""
        count, _, k = heads.query.shape
        widths = [count * k, count * k, count * heads.value.shape[2]]
        parts = torch.split(x @ next(self.projections), widths, dim=2)
        return [
            part.reshape(*x.shape[:2], count, width // count).transpose(1, 2)
            for part, width in zip(parts, widths, strict=True)
        ]

    def remember(
        self, heads: Heads[Tensor], before: Any, key: Tensor, value: Tensor
    ) -> tuple[Tensor, Tensor, Both]:
        """Keys and values of the nodes alone, and what each adds to the memory."""
        self.past = before
        if type(heads.kind) is not Linear:
            return key, value, (key, value)
        features = self.phi(key)
        products = (features[..., :, None] * value[..., None, :]).flatten(3)
        return key, value, (products, features)

    def attend(
        self,
        heads: Heads[Tensor],
        query: Tensor,
        key: Tensor,
        value: Tensor,
        view: View,
    ) -> Tensor:
        """The attention of nodes to the past, to the nodes above them and to themselves."""
        past, own, alike = self.past, (key, value), self.alike
        assert past is not None
        self.alike = False
        if type(heads.kind) is Linear:
            return self._sum_linear_heads(query, own, past, view)
        if type(heads.kind) is Rectified and heads.divisor == 1:
            return self._added_up(query, own, past, view)
        fused = type(heads.kind) in (Softmax, Sparse) and heads.divisor == 1
        if fused and not self.careful:
            if view.past and alike:
                return attend_alike(query, own, past, self.tree)
            if view.past and self.tree.generations == 1:
                return _alone(query, own, past)
            return _attend(query, own, past, view)
        keys, values = (self.append(a, b) for a, b in zip(past, own, strict=True))
        return attend(self, heads, query, keys, values, view)

    def _sum_linear_heads(
        self, query: Tensor, own: Both, past: Both, view: View
    ) -> Tensor:
        """Linear heads: the sums so far, and the nodes above."""
        key, value = own
        sums = past[0].reshape(*past[0].shape[:2], key.shape[3], value.shape[3])
        asked, seen = self.phi(query), view.visibility[:, -key.shape[2] :]
        near = self.keep_seen(self.contract(SCORES, asked, self.phi(key)), seen)
        total = asked @ past[1].transpose(-1, -2) + self.total(near)
        return (asked @ sums + self.combine(near, value, seen)) / total

    def _added_up(self, query: Tensor, own: Both, past: Both, view: View) -> Tensor:
        """ReLU heads: the past where it stands, and the nodes above."""
        near, far = (self.relu(self.contract(SCORES, query, k[0])) for k in (own, past))
        seen = view.visibility[..., -own[0].shape[2] :]
        return self.combine(self.keep_seen(near, seen), own[1], seen) + far @ past[1]


class Plan:
    """A network, with what a text needs of its parameters at every letter.

    Attributes:
        net: The network.
        engine: Makes the engine of a pass.
        projections: For each block with heads the matrix ``(d, …)`` that makes the
            queries, keys and values of all heads.
        running: For each part of a cache whether it is a sum of what points add.
    """

    def __init__(
        self, net: Net[Tensor], engine: Callable[..., Branches] = Branches
    ) -> None:
        self.net, self.engine = net, engine
        self.projections, self.running = list[Tensor](), list[bool]()
        for block in net.blocks:
            if (heads := block.heads) is not None:
                three = (heads.query, heads.key, heads.value)
                flat = [each.transpose(0, 1).flatten(1) for each in three]
                self.projections.append(torch.cat(flat, dim=1))
                self.running += [type(heads.kind) is Linear] * 2

    def memory(self, parts: Sequence[Tensor]) -> list[Both | None]:
        """The parts of a cache, block by block."""
        each = iter(parts)
        blocks = self.net.blocks
        return [None if b.heads is None else (next(each), next(each)) for b in blocks]


def start(net: Net[Tensor], batch: int) -> Cache:
    """The memory of BOS."""
    bos = torch.full((batch, 1), len(net.token) - 1, device=net.token.device)
    return Cache(1, flat(through(net, FAST, points(bos))[1]), plan=Plan(net))


def flat(kept: Sequence[Both | None]) -> tuple[Tensor, ...]:
    """What is remembered, block by block, as the parts of a cache."""
    return tuple([part for both in kept if both is not None for part in both])


def branch(
    tokens: Tensor, cache: Cache, tree: Tree, given: Tensor | None
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Logits ``(batch, nodes, classes)``, and what the nodes add to the parts of a cache.

    Arguments are those of `krohn.network.transformer.Transformer.branch`.
    """
    alike, plan = tokens.dim() == 1, cache.plan
    if alike:
        tokens = tokens[tree.last.to(tokens.device)][None]
    nodes, memory = _nodes(tokens, cache.seen, tree), plan.memory(cache.parts)

    def run(careful: bool) -> tuple[Tensor, tuple[Tensor, ...]]:
        o = plan.engine(tree, cache, alike, given, careful)
        x, kept = through(plan.net, o, nodes, memory)
        return read_out(plan.net, o, x), flat(kept)

    result = run(careful=False)
    # Where one node alone follows, nothing is hidden but what is not looked at.
    return result if nodes.single or known_finite(result[0]) else run(careful=True)


def _nodes(tokens: Tensor, seen: int, tree: Tree) -> Points:
    """The nodes of a tree after so many positions, as points."""
    if tree is not ONE:
        inference = torch.is_inference_mode_enabled()
        at = _points(tree, seen, tokens.device, inference)
        return Points(tokens, at.index, at.places, True, False, at.path, at.masks)

    def places() -> tuple[Tensor, Tensor]:
        t = torch.arange(seen + 1, device=tokens.device)
        return t[-1:, None], t

    return Points(tokens, seen, places, True, True)


@lru_cache(64)
def _points(tree: Tree, seen: int, device: torch.device, inference: bool) -> Points:
    """The nodes of a tree, without their tokens.

    Tensors that are made in inference mode are not for gradients.
    """
    del inference
    depth = tree.depth.to(device)

    def places() -> tuple[Tensor, Tensor]:
        t = seen + depth
        return t[:, None], torch.cat([torch.arange(seen, device=device), t])

    def path() -> Tensor:
        above = ~tree.strangers.to(device)
        return torch.cat([above.new_ones(tree.nodes, seen), above], dim=1)

    index = seen if tree.generations == 1 else seen + depth
    return Points(None, index, places, True, False, path)


# Attention for many short continuations of many words.


def _attend(query: Tensor, own: Both, past: Both, view: View) -> Tensor:
    """The attention of nodes to what they see: what is hidden has a score of −∞.

    Of the past only what some node sees is looked at.

    Args:
        query: ``(batch, heads, nodes, k)``.
        own: Keys and values of the nodes, in the same shape.
        past: Keys ``(batch, heads, seen, k)`` and values of the earlier positions.
        view: What nodes see.
    """
    batch, m, seen = len(past[0]), past[0].shape[2], view.visibility
    if not view.past:
        looked = seen[:, :m].any(dim=0).nonzero()[:, 0]
        past = past[0][:, :, looked], past[1][:, :, looked]
        seen = torch.cat([seen[:, looked], seen[:, m:]], dim=1)
    keys, values = (
        torch.cat([a, b.expand(batch, -1, -1, -1)], dim=2)
        for a, b in zip(past, own, strict=True)
    )
    heads = query.shape[1]
    scores = torch.baddbmm(
        _additive_mask(view, seen, query.dtype).expand(batch * heads, -1, -1),
        query.expand(batch, -1, -1, -1).flatten(0, 1),
        keys.flatten(0, 1).transpose(1, 2),
    )
    weights = torch.softmax(scores, dim=-1).reshape(batch, heads, *scores.shape[1:])
    # Few values and many nodes: transposed, the product is up to five times as fast.
    return (values.transpose(2, 3) @ weights.transpose(2, 3)).transpose(2, 3)


def _additive_mask(view: View, seen: Tensor, dtype: torch.dtype) -> Tensor:
    """``(nodes, …)``: −∞ where something is hidden, and 0 elsewhere."""
    masks, key = view.points.masks, (view.heads.kind, dtype)
    if key not in masks:
        masks[key] = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
        masks[key] = masks[key].masked_fill(~seen, -torch.inf)
    return masks[key]


def _alone(query: Tensor, own: Both, past: Both) -> Tensor:
    """The attention of one generation: there are no strangers in the sums."""
    key, value = own
    score = (query * key).sum(dim=-1, keepdim=True)
    weights = torch.softmax(torch.cat([_scores(query, past[0]), score], -1), dim=-1)
    return weights[..., :-1] @ past[1] + weights[..., -1:] * value


def _scores(query: Tensor, keys: Tensor) -> Tensor:
    """``(batch, heads, nodes, seen)``; products of single numbers are slow as matrices."""
    across = keys.transpose(2, 3)
    return query * across if query.shape[3] == 1 else query @ across


def attend_alike(query: Tensor, own: Both, past: Both, tree: Tree) -> Tensor:
    """The attention where no head has read yet: nodes of one letter and depth are alike.

    Each of their queries looks at the past once, whatever the nodes above, and what is
    near does not depend on the word. The two sums are put together as they are where a
    softmax is computed piece by piece.

    Args:
        query: ``(1, heads, nodes, k)``, in a format of at least 32 bits.
        own: Keys and values of the nodes, in the same shape.
        past: Keys ``(batch, heads, seen, k)`` and values of the earlier positions.
        tree: How the nodes hang together.
    """
    key, value = (part[:, :, tree.above.to(part.device)] for part in own)
    near = (query.unsqueeze(3) * key).sum(dim=-1) + tree.repeat_mask.to(query)
    most, weight, mixed = _piece(near, lambda w: (w.unsqueeze(4) * value).sum(dim=3))
    far = _piece(_scores(query[:, :, tree.kinds], past[0]), lambda w: w @ past[1])
    kind = tree.kind.to(query.device)
    most_far, weight_far, mixed_far = (part.index_select(2, kind) for part in far)
    top = torch.maximum(most, most_far)
    near_is, far_is = _exp(most - top), _exp(most_far - top)
    total = near_is * weight + far_is * weight_far
    return (near_is * mixed + far_is * mixed_far) / total


def _piece(scores: Tensor, mix: Callable[[Tensor], Tensor]) -> tuple[Tensor, ...]:
    """Of a part of a softmax: the largest score, the sum of weights, the mixture.

    If all scores are −∞, the part has no weight.
    """
    most = scores.amax(dim=-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).min)
    weights = _exp(scores - most)
    return most, weights.sum(dim=-1, keepdim=True), mix(weights)


def _exp(x: Tensor) -> Tensor:
    """The exponentials of numbers of which the largest in each sum is 0.

    Those that are not normal numbers take ten times as long, and are raised to the least
    exponential that is (A6 of docs/soundness.md).
    """
    return torch.exp(x.clamp(min=_least_exponent(x.dtype)))


@kept_for_good
def _least_exponent(dtype: torch.dtype) -> float:
    """The least number of a format whose exponential is a normal number."""
    tiny = torch.finfo(dtype).tiny
    exponent = torch.tensor(math.log(tiny), dtype=dtype)
    if math.exp(exponent.item()) < tiny:
        exponent = torch.nextafter(exponent, torch.zeros_like(exponent))
    return exponent.item()
