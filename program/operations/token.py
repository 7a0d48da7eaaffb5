"""The letter itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import Values
from krohn.program.operations.base import Frame, Operation


@dataclass(frozen=True, slots=True)
class Token(Operation):
    """The letter at the position; at position 0 the symbol BOS, one past the letters."""

    wire: ClassVar[str] = "token"
    is_attention: ClassVar[bool] = False

    @property
    def reads(self) -> tuple[str, ...]:
        """Nothing."""
        return ()

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """All letters."""
        return Values(frame.letters, np.arange(frame.letters))
