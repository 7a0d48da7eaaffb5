"""Recurrent networks that a model file describes: Elman networks, LSTMs and GRUs."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from krohn.network.architecture import kind_of, sparse_matrices
from krohn.network.cache import ONE, Cache, Grow, Tree
from krohn.network.forward_pass import in_full
from krohn.network.meaning.tensors import FAST
from krohn.network.named_tensors import NamedTensors

# Networks that read letter by letter and remember as much after every word.


Parts = tuple[Tensor, ...]
"""The parts of the memory, each ``(batch, …)``."""


class Stepping(nn.Module):
    """A recurrent network, which has no longest word.

    `advance` reads a letter, and `compute_logits` makes logits of what it returns.

    Attributes:
        bushy: The most nodes below a word that a pass of `branch` should cover at once.
    """

    length = None
    bushy: ClassVar[int] = 16

    def start(self, batch: int = 1) -> Cache:
        """The memory ``(batch, …)`` before a word, which `step` needs."""
        raise NotImplementedError

    def advance(self, tokens: Tensor, parts: Parts) -> tuple[Tensor, Parts]:
        """The vector that makes the logits after a letter ``(batch,)``, and the memory."""
        raise NotImplementedError

    def compute_logits(self, outputs: Tensor) -> Tensor:
        """Logits ``(batch, nodes, classes)`` of what `advance` returned at nodes."""
        return outputs

    def scratch(self, seen: int) -> int:
        """How many numbers a pass of `branch` holds for one node, however many it saw."""
        raise NotImplementedError

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(batch, time, classes)`` for letter indices ``(batch, time)``."""
        if not tokens.shape[1]:
            return self.nothing(tokens)
        cache, logits = self.start(tokens.shape[0]), []
        for t in range(tokens.shape[1]):
            now, cache = self.step(tokens[:, t], cache)
            logits.append(now)
        return torch.stack(logits, dim=1)

    def nothing(self, tokens: Tensor) -> Tensor:
        """``(batch, 0, classes)``: the logits of words ``(batch, 0)`` without letters."""
        return torch.as_tensor(self(tokens.new_zeros(len(tokens), 1))[:, :0])

    def step(self, tokens: Tensor, cache: Cache) -> tuple[Tensor, Cache]:
        """One more letter ``(batch,)`` for every word: logits and the new cache."""
        logits, grow = self.branch(tokens[:, None], cache, ONE)
        return logits[:, 0], grow(0, len(tokens))

    @in_full
    def branch(self, tokens: Tensor, cache: Cache, tree: Tree) -> tuple[Tensor, Grow]:
        """All the ways in which a tree continues every word, one step a generation.

        Args:
            tokens: ``(batch, nodes)`` letter indices, or ``(branches,)`` if they
                are the same below every node.
            cache: What `start` or an earlier step returned.
            tree: How the nodes hang together.

        Returns:
            Logits ``(batch, nodes, classes)``, and a function that makes the cache of
            all ``batch · leaves`` words.
        """
        if tokens.dim() == 1:
            tokens = tokens[tree.last.to(tokens.device)][None]
        parts, words = cache.parts, len(cache.parts[0])
        generations = []
        for letters in torch.split(tokens, tree.sizes, dim=1):
            parts = tuple(p.repeat_interleave(tree.branches, dim=0) for p in parts)
            outputs, parts = self.advance(letters.expand(words, -1).reshape(-1), parts)
            generations.append(
                outputs.reshape(words, letters.shape[1], outputs.shape[1])
            )
        seen, leaves = cache.seen + tree.generations, parts
        return self.compute_logits(
            torch.cat(generations, dim=1)
        ), lambda first, last: Cache(seen, tuple(part[first:last] for part in leaves))


class Stepped(NamedTensors, Stepping):
    """A recurrent network, by the step of its architecture; no limit on the length."""

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__(tensors)
        step = kind_of(architecture).step(architecture)
        assert step is not None
        self.declared = step

    @property
    def net(self) -> Any:
        """The network of the tensors as they are now, as its step reads it."""
        return self.declared.net(self.tensors)

    def start(self, batch: int = 1) -> Cache:
        """The memory ``(batch, …)`` before a word, which `step` needs."""
        tensors = self.tensors
        parts = (tensors[name] for name in self.declared.starts)
        return Cache(0, tuple(part.expand(batch, -1) for part in parts))

    def advance(self, tokens: Tensor, parts: Parts) -> tuple[Tensor, Parts]:
        """What says the logits after a letter, and what is remembered then."""
        return self.declared.after(FAST, self.net, tokens, parts)

    def compute_logits(self, outputs: Tensor) -> Tensor:
        """Logits of what `advance` returned."""
        return torch.as_tensor(self.declared.said(FAST, self.net, outputs))

    def scratch(self, seen: int) -> int:
        """How many numbers a pass of `branch` holds for one node, however many it saw."""
        del seen
        widest = max(tensor.shape[-1] for tensor in self.held.values())
        return int(22 * widest)


# The Elman network with ReLU that a model file describes, as a torch module.


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

    def list_tensors(self, name: str) -> Iterator[tuple[str, Tensor]]:
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

    def list_tensors(self, name: str) -> Iterator[tuple[str, Tensor]]:
        """Its tensors by their names in a model file."""
        yield from self.left.list_tensors(f"{name}.left")
        yield from self.right.list_tensors(f"{name}.right")


Held = nn.Parameter | SparseMatrix | Product


def _stored_matrix(
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
        self.hidden = _stored_matrix(tensors, matrices, "hidden")
        self.input = _stored_matrix(tensors, matrices, "input")
        self.weight = _stored_matrix(tensors, matrices, "unembed")
        self.bias = nn.Parameter(tensors["unembed.bias"])
        self.requires_grad_(False)

    def start(self, batch: int = 1) -> Cache:
        """The hidden state ``(batch, hidden)`` before a word, which `step` needs."""
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
            siblings = letters.reshape(
                len(letters), h.shape[1], tree.branches, letters.shape[2]
            )
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


# Elman networks, LSTMs and GRUs that a model file describes: torch's own modules.


MODULES = {"lstm": nn.LSTM, "gru": nn.GRU, "elman": nn.RNN}
PREFIX = "recurrent."
"""The prefix of the tensors of torch's module."""


class GatedRecurrent(Stepping):
    """One layer that reads letters as unit vectors or embedded, and logits h_t R + c.

    What it remembers is h, and of an LSTM the cell c, too. No limit on the length.
    """

    def __init__(
        self, architecture: Mapping[str, Any], tensors: Mapping[str, Tensor]
    ) -> None:
        super().__init__()
        self.letters: int = architecture["vocabulary"]
        self.hidden: int = architecture["hidden"]
        start = [n for n in ("start.hidden", "start.cell") if n in tensors]
        self.initial = nn.ParameterList([nn.Parameter(tensors[n]) for n in start])
        self.weight = nn.Parameter(tensors["unembed.weight"])
        self.bias = nn.Parameter(tensors["unembed.bias"])
        table = tensors.get("embed.token")
        self.embedding = None if table is None else nn.Parameter(table)
        module, width = MODULES[architecture["kind"]], self.letters
        self.recurrent: nn.LSTM | nn.GRU | nn.RNN = module(
            width if table is None else table.shape[1],
            self.hidden,
            batch_first=True,
            dtype=self.weight.dtype,
        )
        own = {n.removeprefix(PREFIX): t for n, t in tensors.items() if PREFIX in n}
        self.recurrent.load_state_dict(own)
        self.requires_grad_(False)

    def start(self, batch: int = 1) -> Cache:
        """The hidden state and the cell before a word, each ``(batch, hidden)``."""
        return Cache(0, tuple(part.expand(batch, -1) for part in self.initial))

    def advance(self, tokens: Tensor, parts: Parts) -> tuple[Tensor, Parts]:
        """H ``(batch, hidden)`` after a letter, and what is remembered then."""
        h, after = self._read(tokens[:, None], parts)
        return h[:, 0], after

    def compute_logits(self, outputs: Tensor) -> Tensor:
        """Logits of h."""
        return outputs @ self.weight + self.bias

    def _read(self, tokens: Tensor, parts: Parts) -> tuple[Tensor, Parts]:
        """All h ``(batch, time, hidden)``, and what is remembered at the end."""
        if self.embedding is None:
            x = nn.functional.one_hot(tokens, self.letters).to(self.weight.dtype)
        else:
            x = self.embedding[tokens]
        memory = tuple(part[None].contiguous() for part in parts)
        h, last = self.recurrent(x, memory if len(memory) > 1 else memory[0])
        return h, tuple(p[0] for p in (last if len(memory) > 1 else [last]))

    def scratch(self, seen: int) -> int:
        """How many numbers a pass of `branch` holds for one node, however many it saw."""
        del seen
        return 16 * self.hidden + 6 * self.weight.shape[1] + self.letters

    @in_full
    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(batch, time, classes)`` for letter indices ``(batch, time)``."""
        if not tokens.shape[1]:
            return self.nothing(tokens)
        h, _ = self._read(tokens, self.start(tokens.shape[0]).parts)
        return self.compute_logits(h)
