"""The right values of a Program's channels, as tensors."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from krohn.program import LookBack
from krohn.program.interpreter import interpret
from krohn.program.statement import Statement

Values = Mapping[str, Tensor]
"""For each channel ``(batch, time + 1)`` integers; column 0 is BOS."""


def values(statement: Statement, words: Tensor) -> Values:
    """The true values on words ``(batch, time)`` of letter indices."""
    found = interpret(statement, words.numpy())
    return {name: torch.from_numpy(column.copy()) for name, column in found.items()}


def sources(operation: LookBack, true: Values) -> Tensor:
    """``(batch, time + 1)``: the position that each position fetches from."""
    first, *read = (true[name].numpy() for name in operation.reads)
    at = operation.position(read, np.arange(first.shape[1]))
    return torch.from_numpy(np.broadcast_to(at, first.shape).copy())
