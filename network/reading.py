"""Networks that read token by token, many texts side by side, on arrays of numpy.

So a text is read without torch, whose import takes longer than most texts, and whose
operations on a few numbers take longer than those of numpy. Torch reads the rest: numbers
of 16 bits, matrices of few entries, networks that say laws or vectors, and open ones that
were changed, or lie on another device (`krohn.network.model.network_for_torch`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from krohn.network import ModelFileError
from krohn.network.architecture import is_index, kind_of
from krohn.network.meaning.arrays import Arrays, points, whole
from krohn.network.meaning.fast_arrays import FastArrays, pack_network
from krohn.network.meaning.forward import check, read_out, through
from krohn.network.meaning.net import AS_A_WHOLE, Net
from krohn.network.meaning.step import Read, Step
from krohn.network.modelfile import ModelFile
from krohn.network.precision import BoolArray, one_thread
from krohn.program.architectures.transformer import Transformer
from krohn.program.errors import KrohnError
from krohn.program.quoting import kind_of_value
from krohn.program.word_texts import BLANK

if TYPE_CHECKING:
    from torch.nn import Module

IntArray = npt.NDArray[np.int64]
Array = npt.NDArray[np.floating[Any]]
FORMATS = ("float32", "float64")
"""The formats in which numpy adds up products as assumption A1 of docs/soundness.md says
it."""
Opened: TypeAlias = "Module | None"
"""A network for torch, as a plain module; None where that of a file is to run."""
AT_ONCE = 64
"""Tokens of a word that are read in one pass."""


class Reading(Protocol):
    """Texts side by side, of which so many tokens have been read."""

    def read(self, tokens: IntArray, /) -> Array:
        """One more token ``(batch,)`` of every text: outputs ``(batch, classes)``."""

    def read_on(self, words: IntArray, /) -> Array:
        """More tokens ``(batch, n)`` of every text: outputs ``(batch, n, classes)``."""


Begin = Callable[[int], Reading]
"""Makes the reading of so many texts, before their first token."""


def is_read_by_numpy(file: ModelFile) -> bool:
    """Whether numpy reads the network of a file; torch reads all of them."""
    shape = file.architecture
    kind = kind_of(shape)
    if file.precision.name not in FORMATS or kind.answers != "classes":
        return False
    plain = kind.step(shape) is not None and not any(map(is_index, file.tensors))
    return plain or isinstance(shape, Transformer)


def plain_reader(file: ModelFile) -> Begin | None:
    """The reading of texts by numpy; None if torch is needed."""
    if not is_read_by_numpy(file):
        return None
    shape, dtype = file.architecture, np.dtype(file.precision.name)
    tensors = {name: tensor.astype(dtype) for name, tensor in file.tensors.items()}
    step = kind_of(shape).step(shape)
    if step is not None:
        return partial(_Recurrence, step, tensors)
    net = Net.of(shape, tensors)
    check(net, Arrays())
    return partial(Texts, pack_network(net)) if net.causal else partial(Words, net)


def output_function(
    file: ModelFile, network: Opened = None
) -> Callable[[IntArray], Array]:
    """The function from words ``(batch, time)`` to logits or numbers ``(batch, time, n)``.

    Args:
        file: What the network was opened from.
        network: An open network, as a plain torch module; None for that of the file, which
            is read by numpy where that serves.
    """
    begin = plain_reader(file) if network is None else None
    read: Callable[[IntArray], Array]
    if begin is not None:
        read = partial(_read_on, begin)
    else:
        from krohn.network.running_file import plain_network, run_on

        opened = plain_network(file) if network is None else network
        read = partial(run_on, opened)
    return lambda words: read(words) if words.size else np.empty((*words.shape, 1))


def _read_on(begin: Begin, words: IntArray) -> Array:
    return begin(len(words)).read_on(words)


def choose_classes(logits: Array) -> tuple[IntArray, BoolArray]:
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


def name_chosen_classes(logits: Array, classes: Sequence[str]) -> tuple[str, ...]:
    """The names of the classes that logits ``(count, classes)`` choose.

    `NOT_FINITE` where a logit is infinite or not a number, `TIED` where two are the
    largest: neither is an answer.
    """
    best, sure = choose_classes(logits)
    finite = np.isfinite(logits).all(axis=-1)
    names = (*classes, TIED, NOT_FINITE)
    none = np.where(finite, len(classes), len(classes) + 1)
    return tuple(names[q] for q in np.where(sure, best, none).tolist())


def is_one(words: object) -> bool:
    """Whether this is a word, and no list of words: a string, or letters by name.

    Raises:
        KrohnError: If it is neither.
    """
    if not isinstance(words, Iterable):
        raise KrohnError(
            "a word is a string or a list of letters, and several are a list of such "
            f"lists; {kind_of_value(words)} is neither"
        )
    return not isinstance(words, Sequence) or not any(
        isinstance(part, list | tuple) for part in words
    )


class _Recurrence:
    """Texts that a recurrent network reads, by the step of its architecture."""

    def __init__(self, step: Step, tensors: Mapping[str, Array], batch: int) -> None:
        self.step, self.net = step, step.net(tensors)
        starts = (tensors[name] for name in step.starts)
        self.held = tuple(np.broadcast_to(s, (batch, len(s))) for s in starts)

    def read(self, tokens: IntArray) -> Array:
        """One more token of every text."""
        return self._read(self.step.after, tokens)

    def read_on(self, words: IntArray) -> Array:
        """More tokens of every text."""
        many, starts = self.step.many, range(0, words.shape[1], AT_ONCE)
        with one_thread():
            if many is None:
                each = [self.read(tokens)[:, None] for tokens in words.T]
            else:
                each = [self._read(many, words[:, at : at + AT_ONCE]) for at in starts]
        return np.concatenate(each, axis=1) if each else np.empty((len(words), 0, 1))

    def _read(self, read: Read, tokens: IntArray) -> Array:
        o = Arrays()
        with np.errstate(all="ignore"):
            outputs, self.held = read(o, self.net, tokens, self.held)
            logits: Array = self.step.said(o, self.net, outputs)
        return logits


class Texts:
    """Texts that a Transformer reads, with the keys and values of all positions so far."""

    def __init__(self, net: Net[Array], batch: int) -> None:
        self.net, self.batch, self.engine = net, batch, FastArrays(net, batch)
        self.seen, self.memory = 0, list[Any]()
        self.read(np.full(batch, len(net.token) - 1))

    def read(self, tokens: IntArray) -> Array:
        """One more token of every text."""
        return self._together(tokens, 1)

    def read_on(self, words: IntArray) -> Array:
        """More tokens of every text, some of them in one pass."""
        starts = range(0, words.shape[1], AT_ONCE)
        parts = [words[:, at : at + AT_ONCE] for at in starts]
        with one_thread():
            outputs = [
                self._together(part.reshape(-1), part.shape[1]) for part in parts
            ]
        shape = self.batch, -1, self.net.out.weight.shape[1]
        none = self.net.out.weight[:0].reshape(self.batch, 0, shape[2])
        return np.concatenate([none, *(x.reshape(shape) for x in outputs)], axis=1)

    def _together(self, tokens: IntArray, n: int) -> Array:
        """Outputs ``(batch · n, classes)`` of n tokens that follow, ``(batch · n,)``."""
        net, engine = self.net, self.engine
        if self.seen + n > engine.most:
            raise IndexError(f"there are {engine.most} positions, BOS among them")
        new, self.seen = points(tokens, self.seen, n), self.seen + n
        with np.errstate(all="ignore"):
            x, self.memory = through(net, engine, new, self.memory)
            outputs: Array = read_out(net, engine, x)
        return outputs


class Words:
    """Words that a Transformer reads as a whole: heads see what comes later."""

    def __init__(self, net: Net[Array], batch: int) -> None:
        del batch
        self.net = net

    def read(self, tokens: IntArray) -> Array:
        """Refuse to read letter by letter.

        Raises:
            ModelFileError: Always.
        """
        raise ModelFileError(AS_A_WHOLE)

    def read_on(self, words: IntArray) -> Array:
        """Words, with all of their letters."""
        with one_thread(), np.errstate(all="ignore"):
            outputs: Array = whole(self.net, Arrays(), words)
        return outputs


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
        return _fill_blanks(begin, texts, first, end, room)


def _fill_blanks(
    begin: Begin, texts: IntArray, first: int, end: int | None, room: int | None
) -> IntArray:
    filled, reading = texts.copy(), begin(len(texts))
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
        best, sure = choose_classes(logits)
        going &= sure | ~asked
        token = np.where(asked, first + best, given)
        filled[:, at] = np.where(asked & ~going, BLANK, token)
        if end is not None:
            going &= ~(asked & (token == end))
        if not going.any():
            break
    return filled
