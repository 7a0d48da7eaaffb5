"""Networks that read token by token, many texts side by side, on arrays of numpy.

So a text is read without torch, whose import takes longer than most texts, and whose
operations on a few numbers take longer than those of numpy. Torch reads the rest: heads
that see the whole word, other kinds of attention and units, and numbers of 16 bits.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from krohn.network.architecture import Step, is_index, kind_of
from krohn.network.meaning.arrays import Arrays
from krohn.network.modelfile import ModelFile
from krohn.network.precision import BoolArray, one_thread
from krohn.program.architectures.transformer import Block, Transformer
from krohn.program.attention import Linear, Rectified, Softmax, Sparse, sees_ahead
from krohn.program.completed_texts import BLANK
from krohn.program.errors import unknown

if TYPE_CHECKING:
    from torch.nn import Module

IntArray = npt.NDArray[np.int64]
Array = npt.NDArray[np.floating[Any]]
FORMATS = ("float32", "float64")
"""The formats in which numpy adds up products as assumption A1 of docs/soundness.md says
it."""
Opened: TypeAlias = "Module | None"
"""A network that is open, as a plain torch module; None where that of a file is to run."""
AT_ONCE = 64
"""Tokens of a word that are read in one pass."""
ROOM = 32
"""Positions for which there is room at first."""


class Reading(Protocol):
    """Texts side by side, of which so many tokens have been read."""

    def read(self, tokens: IntArray, /) -> Array:
        """One more token ``(batch,)`` of every text: outputs ``(batch, classes)``."""

    def read_on(self, words: IntArray, /) -> Array:
        """More tokens ``(batch, n)`` of every text: outputs ``(batch, n, classes)``."""


Begin = Callable[[int], Reading]
"""Makes the reading of so many texts, before their first token."""


def plain_reader(file: ModelFile) -> Begin | None:
    """The reading of texts by numpy; None if torch is needed."""
    shape = file.architecture
    kind = kind_of(shape)
    if file.precision.name not in FORMATS or kind.answers != "classes":
        return None
    dtype = np.dtype(file.precision.name)
    tensors = {name: tensor.astype(dtype) for name, tensor in file.tensors.items()}
    if kind.step is not None and not any(map(is_index, tensors)):
        return partial(_Recurrence, kind.step, tensors)
    if not isinstance(shape, Transformer) or not all(map(_is_plain, shape.blocks)):
        return None
    return partial(Texts, _Transformer(shape, tensors))


def output_function(
    file: ModelFile, network: Opened = None
) -> Callable[[IntArray], Array]:
    """The function from words ``(batch, time)`` to outputs ``(batch, time, classes)``.

    Args:
        file: What the network was opened from.
        network: An open network, as a plain torch module; None for that of the file, which
            is read by numpy where that serves.
    """
    begin = plain_reader(file) if network is None else None
    if begin is not None:
        return lambda words: begin(len(words)).read_on(words)
    from krohn.network.running_file import plain_network, run_on

    opened = plain_network(file) if network is None else network
    return lambda words: (
        run_on(opened, words) if words.size else np.empty((*words.shape, 1))
    )


def _is_plain(block: Block) -> bool:
    """Whether a block has causal heads, by a softmax or by ReLUs, and ReLUs as units."""
    match block.attention:
        case Softmax() | Rectified():
            ahead = (
                sees_ahead(sight, "the runtime by numpy") for sight in block.sights
            )
            return not any(ahead) and all(
                (x == "relu").all() for x in block.activations
            )
        case Linear() | Sparse():
            return False
        case other:
            return unknown(other, "the runtime by numpy")


def chosen(logits: Array) -> tuple[IntArray, BoolArray]:
    """The class of the largest logit, and whether it is an answer, ``(batch,)`` each.

    It is none where two are the largest, or a logit is not finite.
    """
    most = np.maximum.reduce(logits, axis=-1)  # not a number where a logit is none
    least = np.minimum.reduce(logits, axis=-1)
    alike = np.add.reduce(logits == most[:, None], axis=-1)
    sure: BoolArray = (alike == 1) & (most < np.inf) & (least > -np.inf)
    return logits.argmax(axis=-1), sure


NOT_FINITE = "(not finite)"
"""The answer of a network where a logit is infinite or not a number."""

TIED = "(tied)"
"""The answer of a network where two logits are the largest."""


def named(logits: Array, classes: Sequence[str]) -> tuple[str, ...]:
    """The names of the classes that logits ``(count, classes)`` choose.

    `NOT_FINITE` where a logit is infinite or not a number, `TIED` where two are the
    largest: neither is an answer.
    """
    best, sure = chosen(logits)
    finite = np.isfinite(logits).all(axis=-1)
    names = (*classes, TIED, NOT_FINITE)
    none = np.where(finite, len(classes), len(classes) + 1)
    return tuple(names[q] for q in np.where(sure, best, none).tolist())


class _Recurrence:
    """Texts that a recurrent network reads, by the step of its architecture."""

    def __init__(self, step: Step, tensors: Mapping[str, Array], batch: int) -> None:
        self.step, self.tensors = step, tensors
        starts = (tensors[name] for name in step.starts)
        self.held = tuple(np.broadcast_to(s, (batch, len(s))) for s in starts)

    def read(self, tokens: IntArray) -> Array:
        """One more token of every text."""
        with np.errstate(all="ignore"):
            self.held = self.step.after(self.tensors, tokens, self.held, Arrays())
            weight, bias = (
                self.tensors[f"unembed.{name}"] for name in ("weight", "bias")
            )
            said: Array = self.held[0] @ weight + bias
        return said

    def read_on(self, words: IntArray) -> Array:
        """More tokens of every text."""
        with one_thread():
            said = [self.read(tokens) for tokens in words.T]
        return np.stack(said, axis=1) if said else np.empty((len(words), 0, 1))


@dataclass(frozen=True)
class _Heads:
    """The heads of a block.

    Attributes:
        matrix: ``(d, heads · (2k + v))``: makes query, key and value of each head.
        out: ``(heads · v, d)``: what they write.
        count: How many there are.
        width: k.
        remembered: k + v: how many numbers a head remembers of each position.
        rectified: Whether weights are max(score, 0), and not those of a softmax.
    """

    matrix: Array
    out: Array
    count: int
    width: int
    remembered: int
    rectified: bool

    @classmethod
    def of(cls, block: Block, tensors: Mapping[str, Array], at: str) -> "_Heads":
        """The heads of the block whose tensors have such names."""
        *sides, out = (
            tensors[f"{at}.attention.{name}"]
            for name in ("query", "key", "value", "out")
        )
        count, d, width = sides[0].shape
        matrix = np.concatenate(sides, axis=2).swapaxes(0, 1).reshape(d, -1)
        remembered = matrix.shape[1] // count - width
        rectified = isinstance(block.attention, Rectified)
        return cls(matrix, out.reshape(-1, d), count, width, remembered, rectified)


@dataclass(frozen=True)
class _Block:
    """Heads, if it has any; a residual mask, if it is not all 1; affine layers."""

    heads: _Heads | None
    mask: Array | None
    layers: Sequence[tuple[Array, Array]]

    @classmethod
    def of(cls, block: Block, tensors: Mapping[str, Array], at: str) -> "_Block":
        """The block whose tensors have such names."""
        affine = range(len(block.mlp) + 1 if block.mlp else 0)
        layers = [
            (tensors[f"{at}.mlp.{j}.weight"], tensors[f"{at}.mlp.{j}.bias"])
            for j in affine
        ]
        mask = tensors.get(f"{at}.mlp.residual")
        kept = None if mask is None or (mask == 1).all() else mask
        return cls(_Heads.of(block, tensors, at) if block.heads else None, kept, layers)

    def written(self, x: Array) -> Array:
        """Sums ``(batch, d)`` that the MLP adds to a stream ``(batch, d)``."""
        kept = x if self.mask is None else x * self.mask
        if not self.layers:
            return kept
        *inner, (weight, bias) = self.layers
        for matrix, shift in inner:
            x = x @ matrix
            x += shift
            x = np.maximum(x, 0, out=x)
        written: Array = x @ weight
        written += bias
        written += kept
        return written


class _Transformer:
    """A Transformer of causal heads and ReLUs; the tensors by what reads them."""

    def __init__(self, shape: Transformer, tensors: Mapping[str, Array]) -> None:
        self.token, self.position = tensors["embed.token"], tensors["embed.position"]
        self.weight, self.bias = tensors["unembed.weight"], tensors["unembed.bias"]
        self.blocks = [
            _Block.of(block, tensors, f"blocks.{i}")
            for i, block in enumerate(shape.blocks)
        ]


class Texts:
    """Texts that a Transformer reads, with the keys and values of all positions so far."""

    def __init__(self, network: _Transformer, batch: int) -> None:
        self.network, self.batch, self.seen = network, batch, 0
        self.room, self.most = 0, len(network.position)
        heads = [block.heads for block in network.blocks if block.heads is not None]
        self.memory = [
            np.empty((batch, each.count, 0, each.remembered), network.token.dtype)
            for each in heads
        ]
        self.read(np.full(batch, len(network.token) - 1))

    def read(self, tokens: IntArray) -> Array:
        """One more token of every text."""
        return self._together(tokens[:, None])

    def read_on(self, words: IntArray) -> Array:
        """More tokens of every text, some of them in one pass."""
        starts = range(0, words.shape[1], AT_ONCE)
        with one_thread():
            said = [self._together(words[:, at : at + AT_ONCE]) for at in starts]
        each = [x.reshape(self.batch, -1, x.shape[1]) for x in said]
        return np.concatenate(each, axis=1) if each else np.empty((self.batch, 0, 1))

    def _together(self, tokens: IntArray) -> Array:
        """Outputs ``(batch · n, classes)`` of ``(batch, n)`` tokens that follow."""
        network, at, count = self.network, self.seen, tokens.shape[1]
        while at + count > self.room:
            self._make_room()
        stream = network.token[tokens] + network.position[at : at + count]
        x: Array = stream.reshape(-1, stream.shape[2])
        memory = iter(self.memory)
        with np.errstate(all="ignore"):
            for block in network.blocks:
                if block.heads is not None:
                    x += self._taken(block.heads, x, next(memory))
                x = block.written(x)
            said: Array = x @ network.weight
            said += network.bias
        self.seen += count
        return said

    def _taken(self, heads: _Heads, x: Array, memory: Array) -> Array:
        """The sum that heads add to the stream ``(batch · n, d)`` of n more positions."""
        at, k = self.seen, heads.width
        made = (x @ heads.matrix).reshape(
            self.batch, -1, heads.count, k + heads.remembered
        )
        n, made = made.shape[1], made.swapaxes(1, 2)
        memory[:, :, at : at + n] = made[..., k:]
        seen = memory[:, :, : at + n]
        weights = made[..., :k] @ seen[..., :k].swapaxes(2, 3)
        if n > 1:
            weights[..., at:][..., ~np.tri(n, dtype=bool)] = -np.inf
        if heads.rectified:
            np.maximum(weights, 0, out=weights)
        else:
            weights -= np.maximum.reduce(weights, axis=3, keepdims=True)
            np.exp(weights, out=weights)
        mixed = weights @ seen[..., k:]
        if not heads.rectified:
            mixed /= np.add.reduce(weights, axis=3, keepdims=True)
        taken: Array = mixed.swapaxes(1, 2).reshape(len(x), -1) @ heads.out
        return taken

    def _make_room(self) -> None:
        """Room for as many positions again, but not for more than there can be."""
        if self.room == self.most:
            raise IndexError(f"there are {self.most} positions, BOS among them")
        self.room = min(max(ROOM, 2 * self.room), self.most)
        for i, part in enumerate(self.memory):
            more = np.empty((*part.shape[:2], self.room, part.shape[3]), part.dtype)
            more[:, :, : self.seen] = part[:, :, : self.seen]
            self.memory[i] = more


# Decoding: an output becomes the next token.


def decode(
    begin: Begin,
    texts: IntArray,
    first: int = 0,
    end: int | None = None,
    room: int | None = None,
) -> IntArray:
    """Texts, their blanks filled in by the token of the largest logit.

    Each row has its blanks where it likes: prompts need not be of one length.

    Args:
        begin: The reading of the network. Class c is written as the token ``first + c``.
        texts: ``(batch, length)`` tokens, or `BLANK`; the first is none.
        first: The token of the first class.
        end: The token after which nothing is asked any more.
        room: How many tokens are read at once; then it begins anew with the last one.

    Returns:
        ``(batch, length)``; `BLANK` is left after the end, and from the first place on
        where two logits are the largest, or one is not finite.
    """
    with one_thread():
        return _decoded(begin, texts, first, end, room)


def _decoded(
    begin: Begin, texts: IntArray, first: int, end: int | None, room: int | None
) -> IntArray:
    found, reading = texts.copy(), begin(len(texts))
    blank = texts == BLANK
    anywhere = blank.any(axis=0).tolist()
    going = np.ones(len(texts), dtype=bool)
    token = texts[:, 0]
    for at, given in enumerate(texts.T[1:], start=1):
        if room is not None and at % room == 0:
            reading = begin(len(texts))
        logits, asked = reading.read(token), blank[:, at]
        if not anywhere[at]:
            token = given
            continue
        best, sure = chosen(logits)
        going &= sure | ~asked
        token = np.where(asked, first + best, given)
        found[:, at] = np.where(asked & ~going, BLANK, token)
        if end is not None:
            going &= ~(asked & (token == end))
        if not going.any():
            break
    return found
