"""Ways to run a Transformer that differ in nothing but rounding, and the worst of them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import reduce
from math import e, log2
from operator import add
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.automaton import IntArray
from krohn.network import forward_pass
from krohn.network.meaning.attention import PROJECT, SCORES, View, scores
from krohn.network.meaning.branches import Branches, Plan
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.forward import read_out, through
from krohn.network.meaning.net import Affine, Block, Heads, Net
from krohn.network.meaning.rewrites import on_stream, widen_heads
from krohn.network.meaning.tensors import (
    Tensors,
    mix_with_care,
    not_finite,
    points,
    with_bos,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray, Precision
from krohn.network.running_file import plain_network
from krohn.network.transformer import Transformer
from krohn.program.attention import Sight, Softmax, Sparse
from krohn.program.block_kinds import BlockKinds
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    AT_ZERO,
    COARSE,
    FORMATS,
    NEAR_ZERO,
    SINE,
    gelu_units,
)
from krohn.verify.checker.softmax_weights import at_zero

# Ways to run a Transformer that differ in nothing but rounding.


Seen = tuple[list[Tensor], Tensor]
"""The stream ``(batch, positions, d)`` at each snapshot, and the logits."""

Push = Callable[[int, Tensor], Tensor]
"""From a snapshot and its stream to another stream that is within the same bounds."""

Run = Callable[[Tensor, Push], Seen]


FEW, IN_TURN = 65, 16
"""Batches of fewer words than that are run so many in turn."""


@dataclass(frozen=True)
class Way:
    """A way to run a network.

    Attributes:
        name: Its name in reports.
        run: From words ``(batch, time)`` to the stream and the logits.
        most: How many words at once; the rest of a batch follows.
        share: How much of the words goes this way, relative to the others.
        pushes: Whether every sublayer is given the worst input that the bounds of the
            sublayer before allow, instead of its output.
        fixed: Whether it takes whole batches of words of full length only.
    """

    name: str
    run: Run
    most: int
    share: float
    pushes: bool = False
    fixed: bool = False

    def size(self, most: int) -> int:
        """How many words of a turn, if there may be ``most``."""
        if self.fixed:
            return self.most
        return min(most, self.most * IN_TURN if self.most < FEW else self.most)

    def __call__(self, words: Tensor, push: Push) -> Seen:
        """Run words, at most ``most`` at once."""
        parts = [self.run(part, push) for part in torch.split(words, self.most)]
        if len(parts) == 1:
            return parts[0]
        seen = [torch.cat(s) for s in zip(*(p[0] for p in parts), strict=True)]
        return seen, torch.cat([logits for _, logits in parts])


def still(snapshot: int, x: Tensor) -> Tensor:
    """Leave the stream as it is."""
    del snapshot
    return x


def tensors(net: Net[FloatArray], precision: Precision) -> Net[Tensor]:
    """A network as tensors of a format."""
    dtype = getattr(torch, precision.name)
    return net.each(lambda array: torch.from_numpy(array.copy()).to(dtype))


def network(file: ModelFile) -> Transformer:
    """The runtime, in the format of a file."""
    transformer = plain_network(file)
    assert isinstance(transformer, Transformer)
    return transformer


class Snapshots(Engine):
    """An engine that keeps the stream at every snapshot, and has it pushed then.

    Args:
        push: What becomes of the stream after each sublayer.
        rest: The arguments of the engine that it is.
    """

    def __init__(self, push: Push, *rest: Any) -> None:
        super().__init__(*rest)
        self.push, self.streams = push, list[Tensor]()

    def at(self, place: str, value: Tensor) -> Tensor:
        """The stream, pushed; the embedding is as it is."""
        value = super().at(place, value)
        if not place.startswith("stream."):
            return value
        self.streams.append(value)
        last = len(self.streams) - 1
        return self.push(last, value) if last else value

    def run(self, net: Net[Tensor], words: Tensor) -> Seen:
        """The stream at every snapshot, and the logits."""
        x, _ = through(net, self, points(with_bos(net, words)))
        return self.streams, read_out(net, self, x[:, 1:])


class Words(Snapshots, Tensors):
    """The runtime's engine of whole words."""


class Letters(Snapshots, Branches):
    """The runtime's engine of single letters."""


@forward_pass.in_full
def whole(net: Net[Tensor], words: Tensor, push: Push = still) -> Seen:
    """By the forward pass on whole words; graphs are traced of the careful engine."""
    return Words(push, torch.compiler.is_compiling()).run(net, words)


def one_by_one(network: Transformer, words: Tensor, push: Push = still) -> Seen:
    """Letter by letter, with a cache of keys and values."""
    passes = list[Letters]()

    def listen(*given: Any) -> Letters:
        passes.append(Letters(push, *given))
        return passes[-1]

    seen, logits = [whole(network.net, words[:, :0])[0]], []
    cache = replace(network.start(len(words)), plan=Plan(network.net, listen))
    for letters in words.unbind(1):
        now, cache = network.step(letters, cache)
        seen.append(passes[-1].streams)
        logits.append(now)
    streams = [torch.cat(parts, dim=1) for parts in zip(*seen, strict=True)]
    return streams, torch.stack(logits, dim=1)


def within(
    context: Callable[[], AbstractContextManager[Any]],
    net: Net[Tensor],
    words: Tensor,
    push: Push = still,
) -> Seen:
    """In a context that chooses a kernel, or threads.

    Raises:
        RuntimeError: If the kernel does not serve the network here.
    """
    with context():
        return whole(net, words, push)


def with_equal_widths(net: Net[FloatArray]) -> Net[FloatArray]:
    """With keys and values of one width, as flash kernels want them."""

    def equalise_widths(block: Block[FloatArray]) -> Block[FloatArray]:
        if (heads := block.heads) is None:
            return block
        (count, d, narrow), wide = heads.key.shape, heads.value.shape[2]
        return replace(block, heads=widen_heads(heads, count, max(narrow, wide), d))

    return net.with_blocks(equalise_widths)


def make_permuted_run(
    net: Net[FloatArray], precision: Precision, rng: np.random.Generator
) -> Run:
    """By the network with dimensions, units and heads in another order.

    Streams are put back into the order of the network.
    """
    order = rng.permutation(net.token.shape[1])
    back = torch.from_numpy(order.argsort())
    permuted_net = tensors(permute(net, order, rng), precision)

    def run(words: Tensor, push: Push = still) -> Seen:
        seen, logits = whole(permuted_net, words, push)
        return [x[..., back] for x in seen], logits

    return run


def permute(
    net: Net[FloatArray], order: IntArray, rng: np.random.Generator
) -> Net[FloatArray]:
    """The network with dimensions in an order ``(d,)``, and units and heads in others.

    Matrix products then add up the same terms in another order.
    """

    def permute_columns(array: FloatArray) -> FloatArray:
        return array[..., order]

    def inside(block: Block[FloatArray]) -> Block[FloatArray]:
        heads = None if block.heads is None else _permute_heads(block.heads, rng)
        return Block(heads, block.mask, _permute_units(block.layers, rng))

    other = on_stream(
        net, permute_columns, lambda columns: columns[order], permute_columns
    )
    return other.with_blocks(inside)


def _permute_heads(
    heads: Heads[FloatArray], rng: np.random.Generator
) -> Heads[FloatArray]:
    count, _, narrow = heads.query.shape
    chosen, keys = rng.permutation(count), rng.permutation(narrow)
    values = rng.permutation(heads.value.shape[2])
    moved = heads.each(lambda x: x[chosen])
    return replace(
        moved,
        sights=tuple(heads.sights[head] for head in chosen),
        query=moved.query[..., keys],
        key=moved.key[..., keys],
        value=moved.value[..., values],
        out=moved.out[:, values],
    )


def _permute_units(
    layers: Sequence[Affine[FloatArray]], rng: np.random.Generator
) -> tuple[Affine[FloatArray], ...]:
    """Hidden units in another order, each among those that have its function."""
    new = list(layers)
    for j, layer in enumerate(layers[:-1]):
        names = np.array([name for name, size in layer.runs for _ in range(size)])
        units = np.arange(len(names))
        for name in np.unique(names):
            units[names == name] = rng.permutation(units[names == name])
        weight, bias = new[j].weight[:, units], layer.bias[units]
        new[j] = Affine(weight, bias, layer.runs)
        new[j + 1] = replace(layers[j + 1], weight=layers[j + 1].weight[units])
    return tuple(new)


# The forward pass by the worst arithmetic that a proof allows for.
#
# Real kernels are much better than assumptions A1 to A9, A11 and A12 of
# docs/soundness.md. Here sums are taken in random orders and bracketings, exponentials,
# sines and GeLUs are as wrong as they may be, exponentials in the direction that hurts,
# scores are stored or not, weights are normalised early or late and rounded or not, and
# a bias is added before or after a store, all by chance. Products below the normal
# range are 0.


BRACKETS = (1, 2, 3, 8)
BLOCKS = BlockKinds(
    "the attack",
    (Softmax, Sparse),
    (Sight.CAUSAL, Sight.WHOLE),
    ("relu", "sine", "gelu"),
)
"""Those of which a worst arithmetic is known."""


class Arithmetic(Snapshots, Tensors):
    """A bad arithmetic, drawn anew at every turn.

    It is about what `BLOCKS` lists.

    Args:
        precision: The format of the network.
        rng: Where chance comes from.
        push: What becomes of the stream after each sublayer.
    """

    who = BLOCKS.who
    units: ClassVar[Sequence[str]] = BLOCKS.units

    def __init__(
        self, precision: Precision, rng: np.random.Generator, push: Push = still
    ) -> None:
        super().__init__(push)
        self.precision, self.rng = precision, rng

    @property
    def wide(self) -> torch.dtype:
        """The accumulator."""
        narrow = self.precision.digits <= 24
        return torch.float32 if narrow else torch.float64

    @property
    def narrow(self) -> torch.dtype:
        """The format."""
        dtype: torch.dtype = getattr(torch, self.precision.name)
        return dtype

    def store(self, x: Tensor) -> Tensor:
        """``x`` rounded to the format, in the accumulator's."""
        return x.to(self.narrow).to(self.wide)

    def coin(self) -> bool:
        """The toss of a coin."""
        return bool(self.rng.random() < 0.5)

    def add_up(
        self, count: int, term: Callable[[int], Tensor], rank: Tensor | None = None
    ) -> Tensor:
        """The sum of ``count`` terms in a random bracketing.

        Args:
            count: How many.
            term: Each of them.
            rank: ``(count,)``: if given, sometimes the least come first: partial sums
                are large where terms of one sign do. Otherwise the order is random.
        """
        order = self.rng.permutation(count)
        if rank is not None and self.coin():
            order = rank[:count].argsort().numpy()
        brackets = np.array_split(order, self.rng.choice(BRACKETS))
        sums = [
            reduce(add, map(term, bracket.tolist()))
            for bracket in brackets
            if len(bracket)
        ]
        return reduce(add, sums)

    def product(self, x: Tensor, matrix: Tensor, bias: Tensor | None = None) -> Tensor:
        """``x @ matrix + bias``, stored; the bias before or after a store."""
        used = (matrix != 0).any(dim=1)
        x, matrix = x[..., used], matrix[used]
        inner = matrix.new_zeros(matrix.shape[1]) if bias is None else bias
        inner = inner.expand(*x.shape[:-1], -1)
        count = len(matrix)

        def term(k: int) -> Tensor:
            return (
                self.flush_subnormals(x[..., k : k + 1] * matrix[k])
                if k < count
                else inner
            )

        if not count or self.coin():
            return self.store(self.add_up(count + 1, term))
        # Terms of one sign, in some column, may come first.
        rank = matrix[:, int(self.rng.integers(matrix.shape[1]))]
        return self.store(self.store(self.add_up(count, term, rank)) + inner)

    def flush_subnormals(self, products: Tensor) -> Tensor:
        """Products without those below the normal range of the accumulator."""
        return products.where(products.abs() >= torch.finfo(self.wide).tiny, 0.0)

    def off(self, x: Tensor, units: float, signs: Tensor) -> Tensor:
        """``x`` (in float64) off by so many units of the accumulator, by signs."""
        far = units * self.precision.accumulator_unit
        return (x * (1 + far * signs)).to(self.wide)

    def exponentials(self, scores: Tensor, values: Tensor) -> Tensor:
        """Exponentials of scores ``(batch, t, j)``, wrong where that moves the average.

        Args:
            scores: The scores; −∞ where they are hidden.
            values: ``(batch, j)``: the values that the weights average.
        """
        top = scores.amax(dim=-1, keepdim=True)
        plain = self.coin()
        if plain:
            exponent = (scores - top).double()
            raised = exponent.exp()
        else:
            scale = torch.tensor(log2(e), dtype=self.wide)
            raised = (scores * scale - top * scale).double().exp2()
        middle = values.mean(dim=1, keepdim=True)
        signs = torch.sign(values - middle)[:, None, :].double()
        if self.coin():
            signs = torch.where(
                torch.from_numpy(self.rng.random(signs.shape)) < 0.5, 1.0, -1.0
            )
        form = FORMATS[self.precision.name]
        worse = form.exponential / form.sum_unit - 2
        if form.unit > form.sum_unit:
            signs = torch.where(
                raised > 1 - NEAR_ZERO, signs * (AT_ZERO / COARSE), signs
            )
        worse = worse if self.coin() else -worse
        results = self.off(raised, worse, signs)
        if not plain:  # what is not the largest stands before it, and is rescaled
            again = signs * (raised < 1) * (at_zero(0.0, form) / form.exponential)
            results = self.off(results.double(), worse, again)
        return self.flush_subnormals(results)

    def head_output(self, scores: Tensor, values: Tensor) -> Tensor:
        """The output of one head over ``values`` ``(batch, j, v)``."""
        one = values[..., int(self.rng.integers(values.shape[2]))]
        weights = self.exponentials(scores, one)
        count = weights.shape[-1]
        whole = self.add_up(count, lambda j: weights[..., j : j + 1])
        early = self.coin()
        if early:
            weights = weights / whole
        if self.coin():
            weights = self.store(weights)
        total = self.add_up(
            count, lambda j: weights[..., j : j + 1] * values[:, None, j]
        )
        return self.store(total if early else total / whole)

    # The operations of a forward pass.

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """A sum, stored."""
        return self.store(x + y)

    def affine(self, x: Tensor, layer: Affine[Tensor]) -> Tensor:
        """The affine map, stored."""
        return self.product(x, layer.weight, layer.bias)

    def contract(self, axes: str, x: Tensor, y: Tensor) -> Tensor:
        """Sums of products, head by head; scores are stored or not."""
        if axes == PROJECT:
            return torch.stack([self.product(x, matrix) for matrix in y], dim=1)
        if axes == SCORES:
            both = zip(x.unbind(1), y.unbind(1), strict=True)
            return torch.stack([self.scores(q, k) for q, k in both], dim=1)
        return self.product(x.transpose(1, 2).flatten(2), y.flatten(0, 1))

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """``(batch, t, j)``, stored or not."""

        def term(k: int) -> Tensor:
            return query[..., k : k + 1] * key[:, None, :, k]

        sums = self.add_up(query.shape[2], term)
        return self.store(sums) if self.coin() else sums

    def attend(
        self,
        heads: Heads[Tensor],
        query: Tensor,
        key: Tensor,
        value: Tensor,
        view: View,
    ) -> Tensor:
        """A softmax, head by head.

        Raises:
            Refused: If it is not known how wrong heads of this kind may be.
        """
        known = type(heads.kind) in BLOCKS.attention
        demand(known, f"{self.who} is not about {heads.kind.kind!r}")
        visible_scores = scores(self, heads, query, key).masked_fill(
            ~view.visibility, -torch.inf
        )

        def mix(value: Tensor) -> Tensor:
            both = zip(visible_scores.unbind(1), value.unbind(1), strict=True)
            return torch.stack([self.head_output(s, v) for s, v in both], dim=1)

        return mix_with_care(mix, value, not_finite(value), view.visibility)

    def sine(self, x: Tensor) -> Tensor:
        """Sines that are as far off as A11 allows."""
        signs = torch.from_numpy(self.rng.choice([-1.0, 1.0], size=x.shape))
        far = (SINE - 1) * self.precision.accumulator_unit
        return self.store((x.double().sin() + far * signs).to(self.wide))

    def gelu(self, x: Tensor) -> Tensor:
        """GeLUs that are as far off as A12 allows."""
        wide = x.double()
        signs = torch.from_numpy(self.rng.choice([-1.0, 1.0], size=x.shape))
        form = FORMATS[self.precision.name]
        units = torch.from_numpy(gelu_units(wide.abs().numpy(), form) - 1)
        far = units * self.precision.accumulator_unit * wide.abs()
        exact = wide * torch.special.ndtr(wide)
        return self.store((exact + far * signs).to(self.wide))

    def run(self, net: Net[Tensor], words: Tensor) -> Seen:
        """The stream at every snapshot, and the logits."""
        seen, logits = super().run(net.each(lambda x: x.to(self.wide)), words)
        return [x.to(self.narrow) for x in seen], logits
