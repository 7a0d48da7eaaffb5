"""Ways to run a Transformer that differ in nothing but rounding, and the worst of them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from math import e, log2
from operator import add
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from krohn.algebra.automaton import IntArray
from krohn.network import forward_pass
from krohn.network.mixing import SoftmaxMixing
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray, Precision
from krohn.network.transformer import Attention, Mlp, Transformer, activated
from krohn.program.architectures.transformer import StrArray
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


def network(file: ModelFile, tensors: Mapping[str, FloatArray]) -> Transformer:
    """The runtime with some tensors, in the format of a file."""
    dtype = getattr(torch, file.precision.name)
    loaded = {n: torch.from_numpy(a.copy()).to(dtype) for n, a in tensors.items()}
    return Transformer(file.header["architecture"], loaded).eval()


def whole(net: Transformer, words: Tensor, push: Push = still) -> Seen:
    """By the forward pass on whole words."""
    del push
    seen = net.snapshots(words)
    return seen, net.read_out(seen[-1][:, 1:])


def apart(net: Transformer, words: Tensor, push: Push) -> Seen:
    """Sublayer by sublayer, each on the pushed output of the one before."""
    x = net.embed(net.with_bos(words))
    seen = [x]
    for attention, mlp in zip(net.attention, net.mlp, strict=True):
        seen.append(x + attention(x)[0] if isinstance(attention, Attention) else x)
        x = push(len(seen) - 1, seen[-1])
        seen.append(mlp(x))
        x = push(len(seen) - 1, seen[-1])
    return seen, net.read_out(x[:, 1:])


def one_by_one(net: Transformer, words: Tensor, push: Push = still) -> Seen:
    """Letter by letter, with a cache of keys and values."""
    del push
    with _listening(net) as heard:
        cache = net.start(len(words))
        logits = []
        for letters in words.unbind(1):
            now, cache = net.step(letters, cache)
            logits.append(now)
    embedded = net.embed(net.with_bos(words))
    seen = [torch.cat(parts, dim=1) for parts in heard]
    return [embedded, *seen], torch.stack(logits, dim=1)


@contextmanager
def _listening(net: Transformer) -> Iterator[list[list[Tensor]]]:
    """The input and the output of every MLP, by snapshot."""
    heard: list[list[Tensor]] = [[] for _ in range(2 * len(net.mlp))]

    def hear(block: int, _: nn.Module, given: tuple[Any, ...], left: Tensor) -> None:
        heard[2 * block].append(given[0])
        heard[2 * block + 1].append(left)

    hooks = [
        mlp.register_forward_hook(partial(hear, block))
        for block, mlp in enumerate(net.mlp)
    ]
    try:
        yield heard
    finally:
        for hook in hooks:
            hook.remove()


def with_backend(
    net: Transformer, backend: SDPBackend, words: Tensor, push: Push = still
) -> Seen:
    """With one kernel of attention.

    Raises:
        RuntimeError: If it does not serve the network here.
    """
    with sdpa_kernel(backend):
        return whole(net, words, push)


def with_threads(
    net: Transformer, threads: int, words: Tensor, push: Push = still
) -> Seen:
    """With another number of threads."""
    with forward_pass.threads(threads):
        return whole(net, words, push)


def _run_permuted(net: Transformer, back: Tensor, words: Tensor, push: Push) -> Seen:
    seen, logits = whole(net, words, push)
    return [x[..., back] for x in seen], logits


def with_equal_widths(tensors: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Tensors with keys and values of one width, as flash kernels want them."""
    new = dict(tensors)
    for at in {name.rpartition(".")[0] for name in tensors if "attention" in name}:
        width = max(tensors[f"{at}.{n}"].shape[2] for n in ("key", "value"))
        for name in ("query", "key", "value"):
            matrix = tensors[f"{at}.{name}"]
            more = width - matrix.shape[2]
            new[f"{at}.{name}"] = np.pad(matrix, ((0, 0), (0, 0), (0, more)))
        out = tensors[f"{at}.out"]
        new[f"{at}.out"] = np.pad(out, ((0, 0), (0, width - out.shape[1]), (0, 0)))
    return new


def permute(file: ModelFile, rng: np.random.Generator) -> Run:
    """The network with dimensions, units and heads in another order.

    Matrix products then add up the same terms in another order.
    """
    order = rng.permutation(file.tensors["embed.token"].shape[1])
    new = dict(file.tensors)
    for name in ("embed.token", "embed.position"):
        new[name] = new[name][:, order]
    new["unembed.weight"] = new["unembed.weight"][order]
    for i, block in enumerate(file.architecture.blocks):
        if block.heads:
            _permute_heads(new, f"blocks.{i}.attention", order, rng)
        if block.mlp:
            _permute_units(new, f"blocks.{i}.mlp", order, block.activations, rng)
        residual = f"blocks.{i}.mlp.residual"
        if residual in new:
            new[residual] = new[residual][order]
    back = torch.from_numpy(np.argsort(order))
    return partial(_run_permuted, network(file, new), back)


def _permute_heads(
    new: dict[str, FloatArray], at: str, order: IntArray, rng: np.random.Generator
) -> None:
    count, _, narrow = new[f"{at}.query"].shape
    heads, keys = rng.permutation(count), rng.permutation(narrow)
    values = rng.permutation(new[f"{at}.value"].shape[2])
    for name, inner in (("query", keys), ("key", keys), ("value", values)):
        new[f"{at}.{name}"] = new[f"{at}.{name}"][np.ix_(heads, order, inner)]
    new[f"{at}.out"] = new[f"{at}.out"][np.ix_(heads, values, order)]


def _permute_units(
    new: dict[str, FloatArray],
    at: str,
    order: IntArray,
    layers: tuple[StrArray, ...],
    rng: np.random.Generator,
) -> None:
    above = order
    for j, names in enumerate(layers):
        # Units stay among those that have their activation.
        units = np.arange(len(names))
        for name in np.unique(names):
            units[names == name] = rng.permutation(units[names == name])
        new[f"{at}.{j}.weight"] = new[f"{at}.{j}.weight"][np.ix_(above, units)]
        new[f"{at}.{j}.bias"] = new[f"{at}.{j}.bias"][units]
        above = units
    last = f"{at}.{len(layers)}"
    new[f"{last}.weight"] = new[f"{last}.weight"][np.ix_(above, order)]
    new[f"{last}.bias"] = new[f"{last}.bias"][order]


# The forward pass by the worst arithmetic that a proof allows for.
#
# Real kernels are much better than assumptions A1 to A9, A11 and A12 of
# docs/soundness.md. Here sums are taken in random orders and bracketings, exponentials,
# sines and GeLUs are as wrong as they may be, exponentials in the direction that hurts,
# scores are stored or not, weights are normalised early or late and rounded or not, and
# a bias is added before or after a store, all by chance. Products below the normal
# range are 0.


BRACKETS = (1, 2, 3, 8)


@dataclass(frozen=True)
class Arithmetic:
    """A bad arithmetic, drawn anew at every turn.

    Attributes:
        precision: The format of the network.
        rng: Where chance comes from.
    """

    precision: Precision
    rng: np.random.Generator

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
        matrix = matrix.to(self.wide)
        used = (matrix != 0).any(dim=1)
        x, matrix = x[..., used], matrix[used]
        inner = matrix.new_zeros(matrix.shape[1]) if bias is None else bias
        inner = inner.to(self.wide).expand(*x.shape[:-1], -1)
        count = len(matrix)

        def term(k: int) -> Tensor:
            return self.flushed(x[..., k : k + 1] * matrix[k]) if k < count else inner

        if not count or self.coin():
            return self.store(self.add_up(count + 1, term))
        # Terms of one sign, in some column, may come first.
        rank = matrix[:, int(self.rng.integers(matrix.shape[1]))]
        return self.store(self.store(self.add_up(count, term, rank)) + inner)

    def flushed(self, products: Tensor) -> Tensor:
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
        found = self.off(raised, worse, signs)
        if not plain:  # what is not the largest stands before it, and is rescaled
            again = signs * (raised < 1) * (at_zero(0.0, form) / form.exponential)
            found = self.off(found.double(), worse, again)
        return self.flushed(found)

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

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """``(batch, t, j)``, stored or not."""

        def term(k: int) -> Tensor:
            return query[..., k : k + 1] * key[:, None, :, k]

        found = self.add_up(query.shape[2], term)
        return self.store(found) if self.coin() else found

    def attention(self, layer: Attention, x: Tensor) -> Tensor:
        """The sum of the heads' outputs, which is added to ``x``."""
        assert isinstance(layer.mixing, SoftmaxMixing)
        seen = layer.mixing.seen(x.shape[1], x.device).expand(len(layer.query), -1, -1)
        parts = []
        for *matrices, shown in zip(
            layer.query, layer.key, layer.value, seen, strict=True
        ):
            query, key, value = (self.product(x, matrix) for matrix in matrices)
            hidden = self.scores(query, key).masked_fill(~shown, -torch.inf)
            parts.append(self.head_output(hidden, value))
        return self.product(torch.cat(parts, dim=-1), layer.out.flatten(0, 1))

    def mlp(self, layer: Mlp, x: Tensor) -> Tensor:
        """``mask · x + f(x)``."""
        kept = x if layer.mask is None else x * layer.mask.to(self.wide)
        if not len(layer.weights):
            return kept
        h = x
        inner = zip(
            layer.weights[:-1], layer.biases[:-1], layer.activations, strict=True
        )
        functions = {"relu": torch.relu, "sine": self.sines, "gelu": self.gelus}
        for weight, bias, runs in inner:
            h = activated(self.product(h, weight, bias), runs, functions)
        last = self.product(h, layer.weights[-1], layer.biases[-1])
        return self.store(kept + last)

    def sines(self, x: Tensor) -> Tensor:
        """Sines that are as far off as A11 allows."""
        signs = torch.from_numpy(self.rng.choice([-1.0, 1.0], size=x.shape))
        far = (SINE - 1) * self.precision.accumulator_unit
        return self.store((x.double().sin() + far * signs).to(self.wide))

    def gelus(self, x: Tensor) -> Tensor:
        """GeLUs that are as far off as A12 allows."""
        wide = x.double()
        signs = torch.from_numpy(self.rng.choice([-1.0, 1.0], size=x.shape))
        form = FORMATS[self.precision.name]
        units = torch.from_numpy(gelu_units(wide.abs().numpy(), form) - 1)
        far = units * self.precision.accumulator_unit * wide.abs()
        exact = wide * torch.special.ndtr(wide)
        return self.store((exact + far * signs).to(self.wide))

    def run(self, net: Transformer, words: Tensor, push: Push) -> Seen:
        """The stream at every snapshot, and the logits."""
        tokens = net.with_bos(words)
        table = net.position[: tokens.shape[1]].to(self.wide)
        x = self.store(net.token[tokens].to(self.wide) + table)
        seen = [x]
        for attention, mlp in zip(net.attention, net.mlp, strict=True):
            if isinstance(attention, Attention):
                x = self.store(x + self.attention(attention, x))
            seen.append(x)
            x = push(len(seen) - 1, x)
            assert isinstance(mlp, Mlp)
            x = self.mlp(mlp, x)
            seen.append(x)
            x = push(len(seen) - 1, x)
        logits = self.product(x[:, 1:], net.weight, net.bias)
        return [x.to(self.narrow) for x in seen], logits
