"""A Transformer as data: typed, total, generic in what a tensor is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Generic, TypeVar, cast

from krohn.network import ModelFileError
from krohn.program.architectures.transformer import (
    APART,
    Block as Declared,
    Transformer,
)
from krohn.program.attention import Attention, Sight, sees_ahead
from krohn.program.quoting import listed

A = TypeVar("A")
B = TypeVar("B")
N = TypeVar("N")
Runs = tuple[tuple[str, int], ...]
"""The functions of units, and how many units in a row have each."""
MATRICES = ("query", "key", "value", "out")
AS_A_WHOLE = (
    "it reads a word as a whole, and not letter by letter: heads see what comes later"
)
"""Why a Transformer is not read letter by letter."""


@dataclass(frozen=True)
class Affine(Generic[A]):
    """x ↦ x · weight + bias, and then the functions of its units; none if it writes.

    Attributes:
        weight: ``(inputs, outputs)``.
        bias: ``(outputs,)``.
        runs: The functions of its units, in order.
    """

    weight: A
    bias: A
    runs: Runs = ()

    def each(self, change: Callable[[A], B]) -> "Affine[B]":
        """With its tensors changed."""
        return Affine(change(self.weight), change(self.bias), self.runs)


@dataclass(frozen=True)
class Heads(Generic[A]):
    """The heads of a block.

    Attributes:
        kind: How they weigh positions.
        sights: The positions that each sees.
        query: ``(heads, d, k)``.
        key: ``(heads, d, k)``.
        value: ``(heads, d, v)``.
        out: ``(heads, v, d)``.
        divisor: A power of 2, by which scores are divided.
    """

    kind: Attention
    sights: tuple[Sight, ...]
    query: A
    key: A
    value: A
    out: A
    divisor: float = 1.0

    def each(self, change: Callable[[A], B]) -> "Heads[B]":
        """With their tensors changed."""
        query, key, value, out = (change(getattr(self, name)) for name in MATRICES)
        return Heads(self.kind, self.sights, query, key, value, out, self.divisor)

    def alone(self, head: int) -> "Heads[Any]":
        """One of them."""
        one = slice(head, head + 1)
        one_head = self.each(lambda tensor: cast(Any, tensor)[one])
        return replace(one_head, sights=self.sights[one])


@dataclass(frozen=True)
class Block(Generic[A]):
    """Heads and an MLP: first the heads add to the stream, then the MLP.

    Attributes:
        heads: None if it has none.
        mask: ``(d,)``: how much of each dimension the MLP keeps; None if all of it.
        layers: Those of the MLP; none if it writes nothing.
    """

    heads: Heads[A] | None
    mask: A | None
    layers: tuple[Affine[A], ...]

    def each(self, change: Callable[[A], B]) -> "Block[B]":
        """With its tensors changed."""
        return Block(
            None if self.heads is None else self.heads.each(change),
            None if self.mask is None else change(self.mask),
            tuple(layer.each(change) for layer in self.layers),
        )


@dataclass(frozen=True)
class Net(Generic[A]):
    """Embeddings, blocks and a read-out.

    Attributes:
        token: ``(letters + 1, d)``; BOS, at position 0, is the last row.
        position: ``(positions, d)``.
        blocks: In order.
        out: What makes logits of the stream.
    """

    token: A
    position: A
    blocks: tuple[Block[A], ...]
    out: Affine[A]

    @classmethod
    def of(cls, shape: Transformer, tensors: Mapping[str, A]) -> "Net[A]":
        """The network of an architecture and its tensors, by their names on file.

        Of a disguised network it is the one that runs.

        Raises:
            ModelFileError: If a tensor is not there, or none of its parts is made of it.
        """
        if shape.disguise is not None:
            tensors = {n: t for n, t in tensors.items() if not n.startswith(APART)}
        return every_tensor(lambda left: cls._of(shape, left), tensors)

    @classmethod
    def _of(cls, shape: Transformer, left: dict[str, A]) -> "Net[A]":
        token, position = left.pop("embed.token"), left.pop("embed.position")
        each = enumerate(shape.blocks)
        blocks = tuple(_block(f"blocks.{i}", block, left) for i, block in each)
        out = Affine(left.pop("unembed.weight"), left.pop("unembed.bias"))
        return cls(token, position, blocks, out)

    def each(self, change: Callable[[A], B]) -> "Net[B]":
        """With all tensors changed."""
        blocks = tuple(block.each(change) for block in self.blocks)
        position, out = change(self.position), self.out.each(change)
        return Net(change(self.token), position, blocks, out)

    def with_blocks(self, change: Callable[[Block[A]], Block[A]]) -> "Net[A]":
        """With all blocks changed."""
        return replace(self, blocks=tuple(map(change, self.blocks)))

    @property
    def causal(self) -> bool:
        """Whether what it says after a letter depends on no later one."""
        sights = (s for b in self.blocks if b.heads for s in b.heads.sights)
        return not any(sees_ahead(sight, "the runtime") for sight in sights)


def runs_of(block: Declared) -> tuple[Runs, ...]:
    """For each hidden layer of a declared block the functions of its units."""
    return tuple(
        tuple((str(name), len(list(run))) for name, run in groupby(layer.tolist()))
        for layer in block.activations
    )


def _block(at: str, block: Declared, left: dict[str, A]) -> Block[A]:
    heads = None
    if block.heads:
        query, key, value, out = (left.pop(f"{at}.attention.{n}") for n in MATRICES)
        heads = Heads(block.attention, block.sights, query, key, value, out)
    runs = runs_of(block)
    layers = affines(f"{at}.mlp", [*runs, ()] if runs else [], left)
    return Block(heads, left.pop(f"{at}.mlp.residual", None), layers)


# What networks of all architectures are made of.


def every_tensor(make: Callable[[dict[str, A]], N], tensors: Mapping[str, A]) -> N:
    """A network of tensors by their names on file.

    Args:
        make: Makes it, and takes each tensor that it is made of out of a dict.
        tensors: The tensors.

    Raises:
        ModelFileError: If a tensor is not there, or no part of the network is made of it.
    """
    left = dict(tensors)
    try:
        made = make(left)
    except KeyError as error:
        raise ModelFileError(f"there is no tensor {error}") from None
    if left:
        raise ModelFileError(
            f"no part of the network has tensors {listed(sorted(left), 3)}"
        )
    return made


def affines(at: str, runs: Sequence[Runs], left: dict[str, A]) -> tuple[Affine[A], ...]:
    """Affine layers by the functions of their units, taken out of tensors by name."""
    each = enumerate(runs)
    names = ((f"{at}.{j}.weight", f"{at}.{j}.bias", run) for j, run in each)
    return tuple(Affine(left.pop(w), left.pop(b), run) for w, b, run in names)


def relus(units: Sequence[int]) -> list[Runs]:
    """The functions of layers of so many ReLUs."""
    return [(("relu", count),) for count in units]
