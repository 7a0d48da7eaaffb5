"""Rewrites of a Transformer as data; each says when its function stays the same.

Numbers are finite in all of them. Theorems are those of docs/proofs/.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from krohn.network.meaning.net import Affine, Block, Heads, Net
from krohn.network.precision import FloatArray
from krohn.program.attention import Rectified, Sight, Softmax, Sparse
from krohn.program.errors import demand

PRODUCTS = (Softmax, Sparse, Rectified)
"""Kinds whose scores are inner products of queries and keys as they are."""


def widen(
    net: Net[FloatArray], heads: int, width: int, units: int, unit: str = "relu"
) -> Net[FloatArray]:
    """Blocks of equal sizes: heads, their widths and hidden units are padded by zeros.

    The function stays the same, in floating point, too, in whatever order sums are made:
    what is added holds 0 and adds 0 (Lemma L6). Units of every kind are 0 at 0.

    Args:
        net: The network; no block is larger than what it is to be.
        heads: The heads of each block.
        width: Of queries, keys and values alike.
        units: The units of each hidden layer; a block without any gets one.
        unit: What these are, where there are none.

    Raises:
        Refused: If heads are of another kind than `PRODUCTS`: φ(0) is 1.
    """
    d = net.token.shape[1]
    none = Affine(np.zeros((d, 0)), np.zeros(0), ((unit, 0),))
    nothing = none, Affine(np.zeros((0, d)), np.zeros(d))

    def wide(block: Block[FloatArray]) -> Block[FloatArray]:
        layers = block.layers or nothing
        sizes = [d, *[units] * (len(layers) - 1), d]
        return Block(
            widen_heads(block.heads, heads, width, d),
            block.mask,
            tuple(map(_widen_layer, layers, sizes, sizes[1:])),
        )

    return net.with_blocks(wide)


def divide_scores(net: Net[FloatArray], factor: float) -> Net[FloatArray]:
    """Queries times a power of 2, by which scores are divided.

    The function stays the same; in floating point where queries and scores that are so
    many times larger do not overflow, and nothing is below the normal range (Theorem L5).

    Raises:
        Refused: If heads are of another kind than `PRODUCTS`.
    """

    def larger(block: Block[FloatArray]) -> Block[FloatArray]:
        if block.heads is None:
            return block
        _check(block.heads)
        query, divisor = block.heads.query * factor, block.heads.divisor * factor
        return replace(block, heads=replace(block.heads, query=query, divisor=divisor))

    return net.with_blocks(larger)


def mirror(net: Net[FloatArray]) -> Net[FloatArray]:
    """The stream, and minus the stream, which nobody reads: both add up to about 0.

    The function stays the same, in floating point, too (Lemma L1).
    """

    def below(columns: FloatArray) -> FloatArray:
        return np.concatenate([columns, np.zeros_like(columns)])

    def beside(rows: FloatArray) -> FloatArray:
        return np.concatenate([rows, -rows], axis=-1)

    return on_stream(net, beside, below, lambda mask: np.tile(mask, 2))


def ground(net: Net[FloatArray]) -> Net[FloatArray]:
    """The stream, and a last dimension that is 0, less which everything is read.

    The function stays the same, in floating point, too. In exact arithmetic it does so
    if one number is added to the whole stream (Lemma L3).
    """

    def less(columns: FloatArray) -> FloatArray:
        return np.concatenate([columns, -columns.sum(axis=0)[None]])

    def beside(rows: FloatArray) -> FloatArray:
        return np.concatenate([rows, np.zeros_like(rows[..., :1])], axis=-1)

    return on_stream(net, beside, less, beside)


# Parts of a network.


Change = Callable[[FloatArray], FloatArray]


def on_stream(
    net: Net[FloatArray], write: Change, read: Change, keep: Change
) -> Net[FloatArray]:
    """With writers ``(…, d)``, readers ``(d, …)`` and masks changed."""

    def of_heads(heads: Heads[FloatArray]) -> Heads[FloatArray]:
        three = heads.query, heads.key, heads.value
        query, key, value = (
            read(x.transpose(1, 0, 2)).transpose(1, 0, 2) for x in three
        )
        return replace(heads, query=query, key=key, value=value, out=write(heads.out))

    def of_block(block: Block[FloatArray]) -> Block[FloatArray]:
        heads = None if block.heads is None else of_heads(block.heads)
        mask, layers = block.mask, list(block.layers)
        if layers:
            layers[0] = replace(layers[0], weight=read(layers[0].weight))
            layers[-1] = Affine(write(layers[-1].weight), write(layers[-1].bias))
        return Block(heads, None if mask is None else keep(mask), tuple(layers))

    out = replace(net.out, weight=read(net.out.weight))
    blocks = tuple(map(of_block, net.blocks))
    return Net(write(net.token), write(net.position), blocks, out)


def widen_heads(
    heads: Heads[FloatArray] | None, count: int, width: int, d: int
) -> Heads[FloatArray]:
    """So many heads of a width; causal ones of a softmax are added."""
    if heads is None:
        empty = np.zeros((0, d, 0))
        heads = Heads(Softmax(), (), empty, empty, empty, np.zeros((0, 0, d)))
    _check(heads)
    three = heads.query, heads.key, heads.value
    query, key, value = (pad(x, (count, d, width)) for x in three)
    return replace(
        heads,
        sights=(*heads.sights, *[Sight.CAUSAL] * (count - len(heads.sights))),
        query=query,
        key=key,
        value=value,
        out=pad(heads.out, (count, width, d)),
    )


def _widen_layer(
    layer: Affine[FloatArray], inputs: int, outputs: int
) -> Affine[FloatArray]:
    """Of so many inputs and outputs; the last run of units is longer."""
    *runs, (name, count) = layer.runs or (("", 0),)
    more = outputs - len(layer.bias)
    return Affine(
        pad(layer.weight, (inputs, outputs)),
        pad(layer.bias, (outputs,)),
        (*runs, (name, count + more)) if layer.runs else (),
    )


def pad(array: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """An array of a larger shape, with zeros behind."""
    widths = [(0, n - m) for n, m in zip(shape, array.shape, strict=True)]
    return np.pad(array, widths)


def _check(heads: Heads[FloatArray]) -> None:
    """Refuse kinds whose scores are other than products of queries and keys."""
    known = type(heads.kind) in PRODUCTS
    demand(known, f"a rewrite is not about {heads.kind.kind!r}")
