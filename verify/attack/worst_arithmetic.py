"""The forward pass by the worst arithmetic that a proof allows for.

Real kernels are much better than assumptions A1 to A8, A11 and A12 of docs/soundness.md.
Here sums are taken in random orders and bracketings, exponentials, sines and GeLUs are as
wrong as they may be, exponentials in the direction that hurts, scores are stored or not,
weights are normalised early or late and rounded or not, and a bias is added before or
after a store, all by chance.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from math import e, log2
from operator import add

import numpy as np
import torch
from torch import Tensor

from krohn.network.mixing import SoftmaxMixing
from krohn.network.mlp import Mlp, activated
from krohn.network.precision import Precision
from krohn.network.transformer import Attention, Transformer
from krohn.verify.attack.rounding_variants import Push, Seen
from krohn.verify.checker.arithmetic import (
    AT_ZERO,
    COARSE,
    FORMATS,
    NEAR_ZERO,
    SINE,
    gelu_units,
)

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
            return x[..., k : k + 1] * matrix[k] if k < count else inner

        if not count or self.coin():
            return self.store(self.add_up(count + 1, term))
        # Terms of one sign, in some column, may come first.
        rank = matrix[:, int(self.rng.integers(matrix.shape[1]))]
        return self.store(self.store(self.add_up(count, term, rank)) + inner)

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
        if self.coin():
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
        found = self.off(raised, worse if self.coin() else -worse, signs)
        return found.where(found >= torch.finfo(self.wide).tiny, 0.0)

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
