"""Linear systems whose state is written after every block, as model files state them."""

from dataclasses import dataclass

from krohn.program.errors import demand
from krohn.program.stated import Matrices, Size, StatedSource, Vector

WRITTEN = "(b)"
"""The token of a written vector."""


@dataclass(frozen=True, eq=False)
class StatedVectorsInBlocks(StatedSource):
    """A linear system whose vector is written after each block.

    Attributes:
        name: What the system is called.
        letters: The name of each letter; `WRITTEN` is the last one.
        matrices: ``(letters − 1, n, n)``: of the letters of the system.
        start: ``(n,)``: b_0.
        block: b: how many letters a block has.
    """

    kind = "vectors-in-blocks"
    derived = ("classes",)
    name: str
    letters: tuple[str, ...]
    matrices: Matrices
    start: Vector
    block: Size

    def __post_init__(self) -> None:
        letters, size = len(self.letters), len(self.start)
        demand(size > 0, "it starts nowhere")
        right = self.matrices.shape == (letters - 1, size, size)
        demand(right, "a linear system has other matrices")
        named = letters > 1 and len(set(self.letters)) == letters
        demand(named, "there are no letters, or two letters have the same name")
        written = self.letters[-1] == WRITTEN
        demand(written, "written states have another token")
        demand(self.block >= 1, "a block has at least one letter")

    @property
    def classes(self) -> tuple[str, ...]:
        """The name of each output: its place; the last one is the coordinate 2."""
        return tuple(f"b{i + 1}" for i in range(len(self.start) + 1))
