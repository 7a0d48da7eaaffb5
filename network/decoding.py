"""Decoding: an output becomes the next token."""

import numpy as np

from krohn.network.modelfile import ModelFile
from krohn.network.precision import one_thread
from krohn.network.reading import Begin, IntArray, chosen, plain_reader
from krohn.program.completed_texts import BLANK


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


def reader(file: ModelFile) -> Begin:
    """The reading of texts by the network of a file, on the arrays that serve it.

    Raises:
        ModelFileError: If it does not read letter by letter.
    """
    plain = plain_reader(file)
    if plain is not None:
        return plain
    from krohn.network.model import Model
    from krohn.network.stepping import stepping

    return stepping(Model(file).network)
