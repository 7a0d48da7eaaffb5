"""Words by the names of their letters, one or many, as tensors of tokens."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from krohn.network.modelfile import ModelFileError

Word = Sequence[str]
SHOWN = 12


class Words(NamedTuple):
    """Words side by side.

    Attributes:
        tokens: ``(batch, time)``; after the end of a word stands the first letter, which
            no earlier position sees.
        lengths: ``(batch,)``: how many letters each word has.
    """

    tokens: Tensor
    lengths: Tensor


def is_one(words: object) -> bool:
    """Whether this is a word, and no list of words: a string, or letters by name.

    Raises:
        ModelFileError: If it is neither.
    """
    if not isinstance(words, Iterable):
        raise ModelFileError(
            "a word is a string or a list of letters, and several are a list of such "
            f"lists; a {type(words).__name__} is neither"
        )
    return not isinstance(words, Sequence) or not any(
        isinstance(part, list | tuple) for part in words
    )


def padded(words: Sequence[Sequence[int]], device: torch.device) -> Words:
    """Words of tokens side by side."""
    lengths = torch.tensor([len(word) for word in words], dtype=torch.long)
    tokens = torch.zeros(len(words), int(lengths.max()), dtype=torch.long)
    for row, word in zip(tokens, words, strict=True):
        row[: len(word)] = torch.tensor(word, dtype=torch.long)
    return Words(tokens.to(device), lengths.to(device))


def found(
    word: Word, index: Callable[[str], int | None], letters: Sequence[str], of: str = ""
) -> list[int]:
    """The tokens of a word.

    Args:
        word: Its letters by name.
        index: The token of a name; None for what is no letter.
        letters: All of them.
        of: Which word it is, for messages.

    Raises:
        ModelFileError: If something in it is no letter; the message says where.
    """
    tokens = []
    for at, letter in enumerate(word, start=1):
        token = index(letter) if isinstance(letter, str) else None
        if token is None:
            shown = ", ".join(letters[:SHOWN]) + ", …" * (len(letters) > SHOWN)
            apart = isinstance(word, str) and max(map(len, letters)) > 1
            hint = "; a string is read sign by sign, so give a list of letters" * apart
            raise ModelFileError(
                f"{letter!r} is not a letter (letter {at}{of}); the letters are "
                f"{shown}{hint}"
            )
        tokens.append(token)
    return tokens


def check_tokens(tokens: Tensor, letters: Sequence[str], device: torch.device) -> None:
    """Refuse tensors that are no words.

    Raises:
        ModelFileError: If they are of another shape, type or device, or have an entry
            that is no letter; the message says where.
    """
    if tokens.dim() != 2 or tokens.dtype not in (torch.int64, torch.int32):
        raise ModelFileError(
            "tokens are whole numbers, a row for each word (`model.encode` makes them); "
            f"these are {tokens.dtype}, {tuple(tokens.shape)}"
        )
    if tokens.device != device:
        raise ModelFileError(
            f"the tokens are on {tokens.device}, the network is on {device}"
        )
    strange = (tokens < 0) | (tokens >= len(letters))
    if strange.any():
        row, at = (int(i) for i in strange.nonzero()[0])
        token = int(tokens[row, at])
        bos = ", the start symbol, which the network puts in front itself,"
        raise ModelFileError(
            f"the token {token}{bos * (token == len(letters))} is not a letter (letter "
            f"{at + 1} of word {row + 1}); letters are 0, …, {len(letters) - 1}"
        )
