"""The interface of networks under test: they answer after every letter of a word."""

from typing import Protocol

import torch
from torch import Tensor

from krohn.algebra.shown import Shows


class Simulator(Protocol):
    """Words in, logits out: compiled, foreign and trained networks alike.

    Calling it with letter indices ``(count, length)`` gives logits ``(count, length,
    classes)``; the last axis stands for `classes`, and the largest logit is the answer.
    """

    @property
    def letters(self) -> tuple[str, ...]:
        """The names of the letters; tokens are their indices."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes that the logits stand for."""

    @property
    def shows(self) -> Shows:
        """``"states"`` or ``"outputs"``: the kind of the classes."""

    @property
    def longest(self) -> int | None:
        """The longest word that it can read; None if there is no limit."""

    @property
    def device(self) -> torch.device:
        """Where tokens are to be."""

    def __call__(self, tokens: Tensor) -> Tensor:
        """Logits ``(count, length, classes)`` for letter indices ``(count, length)``."""
