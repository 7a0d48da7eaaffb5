"""The product of two matrices at the position."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from krohn.program.domains import Matrices, Values
from krohn.program.errors import demand
from krohn.program.operations.base import Frame, Operation


@dataclass(frozen=True, slots=True)
class MatrixProduct(Operation):
    """``left`` times ``right``: as matrices act on columns, ``right`` acts first.

    Attributes:
        left: The later factor.
        right: The earlier one.
    """

    wire: ClassVar[str] = "matrix-product"
    is_attention: ClassVar[bool] = False
    on_matrices: ClassVar[bool] = True
    check: ClassVar[str] = "product_gates"
    left: str
    right: str

    @property
    def reads(self) -> tuple[str, ...]:
        """Both factors."""
        return (self.left, self.right)

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """Matrices of the size of both."""
        left, right = read
        both = isinstance(left, Matrices) and isinstance(right, Matrices)
        demand(both, "a product of channels that hold no matrices")
        assert isinstance(left, Matrices)
        assert isinstance(right, Matrices)
        demand(left.size == right.size, "matrices of unlike sizes")
        return left
