"""Prompts of dynamic programs, as a person writes them."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.program.chain_of_thought import ChainOfThought
from krohn.program.domains import IntArray
from krohn.sources.written_letters import written


def prompt_of(source: ChainOfThought, words: Sequence[str]) -> IntArray:
    """A prompt: tokens with blanks, or letter by letter.

    The sign at the end, where only one token may stand, can be left out.

    Returns:
        ``(tokens,)``.

    Raises:
        KrohnError: If it is no prompt of the source; the message says where.
    """
    index = {name: i for i, name in enumerate(source.tokens)}
    parts, count = " ".join(words).split(), len(source.prompt)
    # As many parts as tokens: one that is no token is not a row of single characters.
    found = parts
    if len(parts) not in (count, count - 1):
        found = written(words, index.__contains__, _letters(source))
    low, high = source.prompt[-1]
    end = source.tokens[low]
    if len(found) == count - 1 and low == high:
        found = [*found, end]
    told = [index.get(name, -1) for name in found]
    for place, (name, token) in enumerate(zip(found, told, strict=True)):
        low, high = source.prompt[min(place, count - 1)]
        if token < 0 or (place < count and not low <= token <= high):
            stands = _set(source, low, high)
            raise _wrong(source, f"token {place + 1} is {name!r}, not {stands}")
    if len(found) != count:
        said = f"this has {len(found)} tokens, not {count - 1}"
        raise _wrong(source, f"{said} (and {end})")
    return np.array(told, np.int64)


def _letters(source: ChainOfThought) -> set[str]:
    """What may stand somewhere in a prompt."""
    ranges = {range(low, high + 1) for low, high in source.prompt}
    return {source.tokens[token] for tokens in ranges for token in tokens}


def _wrong(source: ChainOfThought, trouble: str) -> KrohnError:
    """What is wrong, and the form of a prompt: ``[a-z] × 6 | [a-z] × 7 <sep>``."""
    parts = []
    for (low, high), run in groupby(source.prompt):
        count = len(list(run))
        parts.append(_set(source, low, high) + (f" × {count}" if count > 1 else ""))
    form = " ".join(parts)
    return KrohnError(f"{trouble}; a prompt of {source.name} has the form {form}")


def _set(source: ChainOfThought, low: int, high: int) -> str:
    """The tokens that may stand at a place."""
    first, last = source.tokens[low], source.tokens[high]
    return first if low == high else f"[{first}-{last}]"
