"""The Elman network with ReLU that a model file describes, as a torch module."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from krohn.network.architecture import sparse_matrices
from krohn.network.cache import Cache, Grow, Tree
from krohn.network.full_precision import in_full
from krohn.network.stepping import Stepping


class SparseMatrix(nn.Module):
    """Multiplication with a matrix of few entries, ``(…, rows)`` to ``(…, columns)``."""

    rows: Tensor
    columns: Tensor

    def __init__(self, tensors: Mapping[str, Tensor], name: str, columns: int) -> None:
        super().__init__()
        counts = tensors[f"{name}.offsets"].diff()
        rows = torch.arange(len(counts)).repeat_interleave(counts)
        self.register_buffer("rows", rows)
        self.register_buffer("columns", tensors[f"{name}.columns"])
        self.values = nn.Parameter(tensors[f"{name}.values"])
        self.shape = (len(counts), columns)

    def stored(self, name: str) -> Iterator[tuple[str, Tensor]]:
        """Its tensors by their names in a model file."""
        counts = torch.bincount(self.rows, minlength=self.shape[0])
        yield f"{name}.offsets", torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        yield f"{name}.columns", self.columns
        yield f"{name}.values", self.values

    def __rmatmul__(self, x: Tensor) -> Tensor:
        terms = x[..., self.rows] * self.values
        total = x.new_zeros((*x.shape[:-1], self.shape[1]))
        return total.scatter_add_(-1, self.columns.expand_as(terms), terms)

    def __getitem__(self, rows: Tensor) -> Tensor:
        return nn.functional.one_hot(rows, self.shape[0]).to(self.values.dtype) @ self


class Product(nn.Module):
    """Multiplication with a product of two matrices, one after the other."""

    def __init__(self, left: SparseMatrix, right: SparseMatrix) -> None:
        super().__init__()
        self.left, self.right = left, right
        self.shape = (left.shape[0], right.shape[1])

    def __rmatmul__(self, x: Tensor) -> Tensor:
        return x @ self.left @ self.right

    def __getitem__(self, rows: Tensor) -> Tensor:
        return self.left[rows] @ self.right

    def stored(self, name: str) -> Iterator[tuple[str, Tensor]]:
        """Its tensors by their names in a model file."""
        yield from self.left.stored(f"{name}.left")
        yield from self.right.stored(f"{name}.right")


Held = nn.Parameter | SparseMatrix | Product


def _held(
    tensors: Mapping[str, Tensor], sparse: Mapping[str, SparseMatrix], name: str
) -> Held:
    """A matrix as a file holds it: whole, by its entries, or as a product of two."""
    if f"{name}.left" in sparse:
        return Product(sparse[f"{name}.left"], sparse[f"{name}.right"])
    whole = f"{name}.weight"
    return sparse[whole] if whole in sparse else nn.Parameter(tensors[whole])


class Rnn(Stepping):
    """h_t = ReLU(h_{t-1} W + x_t U + b), logits h_t R + c; no limit on the length.

    W is the product of two sparse matrices in large networks, U and R are sparse then. In
    pruned networks U and R are products, too.
    """

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__()
        self.initial = nn.Parameter(tensors["hidden.start"])
        self.hidden_bias = nn.Parameter(tensors["hidden.bias"])
        matrices = {
            name: SparseMatrix(tensors, name, columns)
            for name, columns in sparse_matrices(architecture).items()
        }
        self.hidden = _held(tensors, matrices, "hidden")
        self.input = _held(tensors, matrices, "input")
        self.weight = _held(tensors, matrices, "unembed")
        self.bias = nn.Parameter(tensors["unembed.bias"])
        self.requires_grad_(False)

    def start(self, batch: int = 1) -> Cache:
        """What `step` needs: the hidden state ``(batch, hidden)`` before a word."""
        return Cache(0, (self.initial.expand(batch, -1),))

    @in_full
    def branch(self, tokens: Tensor, cache: Cache, tree: Tree) -> tuple[Tensor, Grow]:
        """As `Stepping.branch`; what siblings remember is multiplied once for all."""
        if tokens.dim() == 1:
            tokens = tokens[tree.last.to(tokens.device)][None]
        h = cache.parts[0][:, None]
        generations = []
        for letters in torch.split(self.input[tokens], tree.sizes, dim=1):
            before = h @ self.hidden + self.hidden_bias
            siblings = letters.reshape(len(letters), h.shape[1], tree.branches, -1)
            h = torch.relu(before[:, :, None] + siblings).flatten(1, 2)
            generations.append(h)
        logits = torch.cat(generations, dim=1) @ self.weight + self.bias
        seen = cache.seen + tree.generations
        leaves = h.flatten(0, 1)
        return logits, lambda first, last: Cache(seen, (leaves[first:last],))

    def scratch(self, seen: int) -> int:
        """How many numbers a pass of `branch` holds for one node, however many it saw."""
        del seen
        return 6 * self.hidden.shape[0] + 6 * self.weight.shape[1]
