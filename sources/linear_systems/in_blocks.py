"""A linear system whose state is written after every block, and read back as a vector."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from krohn.program.errors import demand
from krohn.program.exact_numbers import whole
from krohn.sources.linear_systems.system import KIND as PLAIN
from krohn.sources.linear_systems.system import LinearSystem

KIND = "vectors-in-blocks"
"""What it is called in the header of a model file."""
WRITTEN = "(b)"
"""The token of a written vector."""
COORDINATE = 2.0
"""What stands below a state: a vector is written as v/2, and its matrices have norms of at
most √(1 + ¼), not √2, which makes the error that is proved smaller."""


@dataclass(frozen=True, eq=False)
class VectorsInBlocks:
    """The text σ_1 … σ_b v_b σ_{b+1} … v_{2b} …, in which v_t is the state b_t.

    Attributes:
        system: The linear system.
        block: b.

    Raises:
        Refused: If the block has no letter, or a letter is called like the token.
    """

    system: LinearSystem
    block: int

    def __post_init__(self) -> None:
        demand(self.block >= 1, "a block has at least one letter")
        free = WRITTEN not in self.system.letters
        demand(free, f"a letter is called like the token {WRITTEN} of written states")

    @property
    def name(self) -> str:
        """That of the system."""
        return self.system.name

    @property
    def letters(self) -> tuple[str, ...]:
        """Those of the system; a text has one token more."""
        return self.system.letters

    @cached_property
    def affine(self) -> LinearSystem:
        """The system with one coordinate more, which is 2.

        The matrix of a written v is [[0, v/2], [0, 1]]: it forgets what was before. The
        one here has 0 in place of v/2.
        """
        letters, n = self.system.matrices.shape[:2]
        matrices = np.zeros((letters + 1, n + 1, n + 1))
        matrices[:letters, :n, :n] = self.system.matrices
        matrices[:, n, n] = 1.0
        tokens = (*self.system.letters, WRITTEN)
        start = np.append(self.system.start, COORDINATE)
        return LinearSystem(self.system.name, tokens, matrices, start)

    def to_wire(self) -> dict[str, Any]:
        """As the header of a model file states it."""
        said, whole_state = self.system.to_wire(), self.affine.to_wire()["classes"]
        tokens = [*self.system.letters, WRITTEN]
        told = {"kind": KIND, "letters": tokens, "classes": whole_state}
        return {**said, **told, "block": self.block}

    @classmethod
    def from_wire(cls, said: Mapping[str, Any]) -> Self:
        """From the header of a model file.

        Raises:
            Refused: If it states none.
        """
        demand(said["kind"] == KIND, "these are no vectors in blocks")
        *letters, written = said["letters"]
        demand(written == WRITTEN, "written states have another token")
        plain = {**said, "kind": PLAIN, "letters": letters}
        return cls(LinearSystem.from_wire(plain), int(whole(said["block"], 0)))
