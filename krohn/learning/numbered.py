"""Networks in Python of which no machine is known: letters and classes are numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from krohn.algebra.errors import KrohnError
from krohn.network.forward_pass import evaluation_mode
from krohn.verify.testing.examination import BlackBox

MOST = 1000
"""Networks of more letters are asked about some of them only."""
POSITIONS = ("max_position_embeddings", "n_positions", "max_sequence_length")
"""The names by which configurations of Hugging Face say how long words may be."""


def numbers(count: int) -> tuple[str, ...]:
    """The names of letters or classes that have none."""
    return tuple(map(str, range(count)))


def longest_word(model: object) -> int | None:
    """How many letters a model of Hugging Face reads; None if it does not say so."""
    config = getattr(model, "config", None)
    found = [getattr(config, name, None) for name in POSITIONS]
    return next((n for n in found if type(n) is int and n > 0), None)


def numbered(
    reads: Callable[[Any], Any], letters: int | None, longest: int | None
) -> BlackBox:
    """A network whose letters and classes are numbered from 0.

    Args:
        reads: A module or function from words to logits; see `BlackBox`.
        letters: How many letters words are made of; None for all that it reads.
        longest: How many letters it reads.

    Raises:
        KrohnError: If nothing says how many letters it reads, there are too many, or it
            does not give logits.
    """
    count = _letters(reads) if letters is None else letters
    if count is None:
        raise KrohnError(
            "say letters=, how many letters the network reads, or machine=, which names "
            "letters and answers"
        )
    if not 0 < count <= MOST:
        raise KrohnError(
            f"the network reads {count:,} letters; say letters=N, at most {MOST:,}, to "
            "learn what it does with the first N"
        )
    return BlackBox(reads, numbers(count), numbers(_classes(reads)), "outputs", longest)


def _letters(reads: object) -> int | None:
    """How many letters a module reads, by its configuration or its only embedding."""
    if not isinstance(reads, nn.Module):
        return None
    known = getattr(getattr(reads, "config", None), "vocab_size", None)
    if type(known) is int:
        return known
    modules = list(reads.modules())
    tables = [m.num_embeddings for m in modules if isinstance(m, nn.Embedding)]
    layers = [m for m in modules if isinstance(m, nn.RNNBase)]
    if not tables and len(layers) == 1:
        return layers[0].input_size
    return tables[0] if len(tables) == 1 else None


def _classes(reads: Callable[[Any], Any]) -> int:
    """How many logits a network gives after each letter of a short word."""
    box = BlackBox(reads, ("0",), ("0",))
    word = torch.zeros((1, 2), dtype=torch.int64, device=box.device)
    module = isinstance(reads, nn.Module)
    with evaluation_mode(reads), torch.inference_mode():
        try:
            found = reads(word if module else word.numpy())
        except Exception as error:  # of what networks say of words there is no end
            reason = " ".join(str(error).split())[:200]
            raise KrohnError(
                f"the network does not read letter indices (count, length): {reason}"
            ) from None
    found = getattr(found, "logits", found)
    shape = tuple(np.shape(found)) if hasattr(found, "shape") else ()
    if len(shape) != 3 or shape[:2] != (1, 2):
        raise KrohnError(
            "the network must give logits (count, length, classes) for letter indices "
            f"(count, length), and gave {shape or type(found).__name__}; if it gives class "
            "indices, say machine=, which has their number"
        )
    return int(shape[2])
