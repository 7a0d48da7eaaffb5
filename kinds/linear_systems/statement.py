"""Linear systems as model files state them: a matrix for each letter, and a start."""

from dataclasses import dataclass

from krohn.program.errors import demand
from krohn.program.stated import Matrices, StatedSource, Vector


@dataclass(frozen=True, eq=False)
class StatedLinearSystem(StatedSource):
    """A linear system.

    b_t = A_{o_t} … A_{o_1} b_0: letter o_t applies the matrix A_{o_t}. All numbers are
    float64 and stand for themselves: exact dyadic rationals.

    Attributes:
        name: What it is called.
        letters: The name of each letter.
        matrices: ``(letters, n, n)``: the matrix of each letter; it acts on columns.
        start: ``(n,)``: b_0.
    """

    kind = "linear-system"
    derived = ("classes",)
    name: str
    letters: tuple[str, ...]
    matrices: Matrices
    start: Vector

    def __post_init__(self) -> None:
        letters, size = len(self.letters), len(self.start)
        demand(size > 0, "it starts nowhere")
        right = self.matrices.shape == (letters, size, size)
        demand(right, "a linear system has other matrices")
        named = letters > 0 and len(set(self.letters)) == letters
        demand(named, "there are no letters, or two letters have the same name")

    @property
    def classes(self) -> tuple[str, ...]:
        """The name of each output: its place."""
        return tuple(f"b{i + 1}" for i in range(len(self.start)))
