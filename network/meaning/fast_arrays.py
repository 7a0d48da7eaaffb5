"""The engine of numpy for texts that are read side by side: `Arrays`, made faster."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from krohn.network.meaning.arrays import Arrays
from krohn.network.meaning.attention import WRITE, View
from krohn.network.meaning.net import Affine, Block, Heads, Net
from krohn.program.attention import Linear, Rectified, Softmax, Sparse

ROOM = 32
"""Positions for which there is room at first."""
WEIGHED = Softmax, Sparse, Linear, Rectified
"""The kinds of heads of which `FastArrays.attend` knows."""


@dataclass(frozen=True)
class _Packed(Heads[Any]):
    """Heads whose ``out`` is ``(heads · v, d)``, of one sight if all have the same.

    Attributes:
        matrix: ``(d, heads · (2k + v))``: makes query, key and value of each head.
        count: How many there are.
        width: k.
        alike: Whether queries and keys depend on positions alone.
    """

    matrix: Any = None
    count: int = 0
    width: int = 0
    alike: bool = False

    @cached_property
    def apart(self) -> tuple[Any, Any]:
        """What makes queries and keys, and what makes values."""
        return _beside(self.query, self.key), _beside(self.value)


def pack_network(net: Net[Any]) -> Net[Any]:
    """A network of arrays as `FastArrays` reads it."""
    letters = net.token[:-1]
    of_letters = (letters != letters[:1]).any(axis=0)
    blocks = []
    for block in net.blocks:
        blocks.append(_pack_block(block, of_letters))
        written = [] if block.heads is None else [block.heads.out.any(axis=(0, 1))]
        written += [layer.weight.any(axis=0) for layer in block.layers[-1:]]
        of_letters = np.logical_or.reduce([of_letters, *written])
    return replace(net, blocks=tuple(blocks), out=_row(net.out))


def _pack_block(block: Block[Any], of_letters: Any) -> Block[Any]:
    """A block of a stream in which some dimensions ``(d,)`` depend on letters."""
    heads, mask = block.heads, block.mask
    if heads is not None:
        count, d, width = heads.query.shape
        matrix = _beside(heads.query, heads.key, heads.value)
        one = len(set(heads.sights)) == 1
        sights = heads.sights[:1] if one else heads.sights
        fields = vars(heads) | {"out": heads.out.reshape(-1, d), "sights": sights}
        scoring = heads.query, heads.key
        alike = not any(side[:, of_letters].any() for side in scoring)
        heads = _Packed(**fields, matrix=matrix, count=count, width=width, alike=alike)
    if mask is not None and (mask == 1).all():
        mask = None
    return Block(heads, mask, tuple(map(_row, block.layers)))


def _beside(*sides: Any) -> Any:
    """``(d, heads · widths)`` of matrices ``(heads, d, width)``."""
    return np.concatenate(sides, axis=2).swapaxes(0, 1).reshape(sides[0].shape[1], -1)


def _row(layer: Affine[Any]) -> Affine[Any]:
    """With a bias ``(1, outputs)``: arrays of one shape are added faster."""
    return replace(layer, bias=layer.bias[None])


class Room:
    """What heads remember of the positions so far, with room for more of them.

    Keys lie position beside position, values number beside number: products are several
    times as fast as with both in one array.

    Attributes:
        filled: How many positions there are.
        size: How many there is room for.
        keys: ``(batch, heads, k, size)``.
        values: ``(batch, heads, size, v)``.
    """

    def __init__(self, key: Any, value: Any) -> None:
        self.filled, self.size = 0, 0
        self.keys, self.values = key[:, :, :0].swapaxes(2, 3), value[:, :, :0]

    def grow(self, written: int, least: int, most: int) -> None:
        """Room for as many again, but not for more than there can be."""
        keys, values = self.keys, self.values
        self.size = size = min(max(ROOM, 2 * self.size, least), most)
        self.keys = np.empty((*keys.shape[:3], size), keys.dtype)
        self.values = np.empty((*values.shape[:2], size, values.shape[3]), keys.dtype)
        self.keys[..., :written] = keys[..., :written]
        self.values[:, :, :written] = values[:, :, :written]


class FastArrays(Arrays):
    """Arrays of numpy, for texts side by side in a network that `pack_network` made.

    The stream is ``(batch · n, d)``. What is done otherwise than by the definitions are
    assumptions, each with a test: one product makes queries, keys and values; those of
    linear heads are features at once; scores of positions alone are made for one text;
    sums and units are stored in place; what is remembered goes on once only, in the room
    that it has; what heads take is divided last.

    Args:
        net: The network.
        batch: How many texts there are.
    """

    def __init__(self, net: Net[Any], batch: int) -> None:
        self.batch, self.most = batch, len(net.position)
        self.zero = np.zeros((), net.token.dtype)

    def gather(self, table: Any, index: Any) -> Any:
        """Rows of a table: of positions, or of tokens ``(batch · n,)``."""
        if type(index) is not slice:
            return table.take(index, 0)
        rows = table[index]
        return rows if len(rows) == 1 else np.tile(rows, (self.batch, 1))

    def add(self, x: Any, y: Any) -> Any:
        """In place: nobody else needs the stream."""
        x += y
        return x

    def affine(self, x: Any, layer: Affine[Any]) -> Any:
        """The bias added in place."""
        made = x.dot(layer.weight)
        made += layer.bias
        return made

    def relu(self, x: Any) -> Any:
        """In place."""
        return np.maximum(x, self.zero, out=x)

    def project(self, heads: Any, x: Any) -> Sequence[Any]:
        """By one product; where scores are of positions alone, theirs for one text."""
        batch, k = self.batch, heads.width
        if heads.alike and batch > 1 and np.isfinite(x).all():
            scoring, valuing = heads.apart
            one = x[: len(x) // batch].dot(scoring)
            made = self._by_heads(one, heads.count, 1)
            value = self._by_heads(x.dot(valuing), heads.count, batch)
        else:
            made = self._by_heads(x.dot(heads.matrix), heads.count, batch)
            value = made[..., 2 * k :]
        if type(heads.kind) is Linear:
            made[..., : 2 * k] = self.phi(made[..., : 2 * k])
        return made[..., :k], made[..., k : 2 * k], value

    def _by_heads(self, rows: Any, count: int, batch: int) -> Any:
        """``(batch, heads, n, width)`` of rows ``(batch · n, heads · width)``."""
        if len(rows) == batch:
            return rows.reshape(batch, count, 1, rows.shape[1] // count)
        return rows.reshape(batch, -1, count, rows.shape[1] // count).swapaxes(1, 2)

    def remember(
        self, heads: Any, before: Any, key: Any, value: Any
    ) -> tuple[Any, Any, Any]:
        """In the room that there is."""
        room = before or Room(key, value)
        if len(key) > len(room.keys):  # alike until now
            room.keys = room.keys.repeat(len(key), 0)
        at = room.filled
        room.filled = end = at + key.shape[2]
        if end > room.size:
            room.grow(at, end, self.most)
        room.keys[..., at:end] = key.swapaxes(2, 3)
        room.values[:, :, at:end] = value
        return room.keys[..., :end], room.values[:, :, :end], room

    def attend(
        self, heads: Heads[Any], query: Any, key: Any, value: Any, view: View
    ) -> Any:
        """In place, and divided last."""
        kind = type(heads.kind)
        if kind not in WEIGHED:
            return super().attend(heads, query, key.swapaxes(2, 3), value, view)
        weights = query @ key
        if heads.divisor != 1:
            weights /= heads.divisor
        hidden = None if view.everything else ~view.visibility
        if kind is Softmax or kind is Sparse:
            if hidden is not None:
                np.copyto(weights, -np.inf, where=hidden)
            weights -= np.maximum.reduce(weights, axis=3, keepdims=True)
            np.exp(weights, weights)
        else:
            if kind is Rectified:
                self.relu(weights)
            if hidden is not None:
                np.copyto(weights, 0, where=hidden)
        if hidden is None:
            taken = weights @ value
        else:
            taken = self.combine(weights, value, view.visibility)
        if kind is not Rectified:
            taken /= np.add.reduce(weights, axis=3, keepdims=True)
        return taken

    def contract(self, axes: str, x: Any, y: Any) -> Any:
        """What heads write, by one product of rows."""
        if axes != WRITE:
            return super().contract(axes, x, y)
        if x.shape[2] > 1:
            x = x.swapaxes(1, 2)
        return x.reshape(-1, len(y)).dot(y)
