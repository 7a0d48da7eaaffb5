"""Sums of `attention-products` in the orders that hurt most, which soundness.md allows.

A proof is about every order of sums (A1 of docs/soundness.md); a machine has one. Here
each sum of a word's products is taken in the one of some orders that moves a belief
further to one side: the side is that of its derivative, by exact arithmetic.
"""

from itertools import permutations
from typing import NamedTuple

import numpy as np
import torch

from krohn.algebra.automaton import IntArray
from krohn.kinds.hidden_markov.check_doubling_tensors import (
    Product,
    Scaling,
    steps,
)
from krohn.kinds.hidden_markov.statement import StatedHiddenMarkov
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.verify.search.find import model_of

ORDERS = 24
"""How many orders of a sum are tried, at most."""


class Products(NamedTuple):
    """What a file multiplies.

    Attributes:
        letters: ``(letters + 1, n, n)``: the last one is that of BOS.
        begun: ``(n,)``: the start.
        stages: For each level the stage behind it, or None.
        last: Those of the vector.
    """

    letters: FloatArray
    begun: FloatArray
    stages: list[Scaling | None]
    last: list[Scaling]

    @classmethod
    def of(cls, file: ModelFile) -> "Products":
        """Those of a network that `attention-products` made."""
        source = StatedHiddenMarkov.from_wire(file.header["source"])
        place, done = steps(model_of(file), source, file.header["claim"]["length"])
        token = file.tensors["embed.token"][:, place.matrix(0)]
        held = token.reshape(len(token), place.row_count, place.size)
        letters = place.whole(held).astype(file.precision.name)  # float32 or float64
        stages, last = list[Scaling | None](), list[Scaling]()
        for step in done:
            if isinstance(step, Product):
                stages.append(None)
            elif step.vector < 0:
                stages[-1] = step
            else:
                last.append(step)
        return cls(letters, letters[-1, :, 0], stages, last)


def worst(
    made: Products, words: IntArray, states: IntArray, up: FloatArray
) -> FloatArray:
    """``(words,)``: the last belief in a state, with sums in bad orders.

    Args:
        made: What a network multiplies.
        words: ``(words, T)``.
        states: ``(words,)``: of which state.
        up: ``(words,)``: 1 if it is to become more, −1 if less.
    """
    size = len(made.begun)
    leaves = _leaves(words, len(made.stages))
    exact = made.letters[leaves]
    signs = _signs(made, exact, states, up)
    held = exact
    for stage, sign in zip(made.stages[:-1], signs, strict=False):
        held = _product(held[:, ::2], held[:, 1::2], sign)
        if stage is not None:
            held = held * _factor(stage, held.sum(axis=(2, 3)))[..., None, None]
    begun = np.broadcast_to(made.begun, (len(words), size))[..., None]
    vector = _product(held[:, 1], begun, signs[-2])
    vector = _product(held[:, 0], vector, signs[-1])[..., 0]
    for stage in made.last:
        vector = vector * _factor(stage, vector.sum(axis=1))[:, None]
    return np.asarray(vector[np.arange(len(words)), states].astype(np.float64))


def _leaves(words: IntArray, levels: int) -> IntArray:
    """``(words, 2^levels)``: letters from the last one back, then BOS again and again."""
    more = 2**levels - words.shape[1]
    return np.pad(words[:, ::-1], ((0, 0), (0, more)), constant_values=-1)


def _signs(
    made: Products, exact: FloatArray, states: IntArray, up: FloatArray
) -> list[FloatArray]:
    """Where each computed number should be larger: signs of derivatives."""
    held, marks = torch.from_numpy(exact.astype(np.float64)), list[torch.Tensor]()

    def marked(x: torch.Tensor) -> torch.Tensor:
        marks.append(torch.zeros_like(x, requires_grad=True))
        return x * marks[-1].exp()

    for _ in made.stages[:-1]:
        held = marked(held[:, ::2] @ held[:, 1::2])
        held = held / held.detach().sum(dim=(2, 3), keepdim=True)
    vector = torch.from_numpy(made.begun.astype(np.float64))[None, :, None]
    vector = marked(held[:, 1] @ vector)
    vector = marked(held[:, 0] @ vector)[..., 0]
    said = vector[torch.arange(len(exact)), torch.from_numpy(states)] / vector.sum(
        dim=1
    )
    (said * torch.from_numpy(up)).sum().backward()
    return [np.sign(mark.grad.numpy()) for mark in marks if mark.grad is not None]


def _product(x: FloatArray, y: FloatArray, sign: FloatArray) -> FloatArray:
    """The product of matrices, each entry by the worst of some orders."""
    terms = x[..., :, :, None] * y[..., None, :, :]  # i, k, j
    size, random = terms.shape[-2], np.random.default_rng(0)
    every = list(permutations(range(size))) if size < 5 else []
    orders = every or [tuple(random.permutation(size)) for _ in range(ORDERS)]
    best = None
    for order in orders:
        found = terms[..., order[0], :]
        for k in order[1:]:
            found = found + terms[..., k, :]
        if best is None:
            best = found
        best = np.where(sign > 0, np.maximum(best, found), np.minimum(best, found))
    assert best is not None
    return best


def _factor(stage: Scaling, sums: FloatArray) -> FloatArray:
    """C(v) as a machine says it."""
    a, into, out = (x.astype(sums.dtype) for x in (stage.points, stage.into, stage.out))
    return np.asarray((np.maximum(a - sums[..., None], 0) * into * out).sum(axis=-1))
