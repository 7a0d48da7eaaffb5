"""How far channels of matrices can be off, and how that grows (docs/within.md)."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from krohn.program.domains import FloatArray
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import Format
from krohn.verify.checker.normaliser import Normaliser
from krohn.verify.checker.product_gates import Gates


class MatrixErrors(ABC):
    """What the noise of a channel of matrices means, and what sublayers make of it.

    Attributes:
        name: What errors are measured in.
        size: n.
    """

    name: ClassVar[str]
    size: int

    @property
    def facts(self) -> dict[str, Any]:
        """What it is, for people."""
        return {"norm": self.name}

    @abstractmethod
    def told(self, noise: FloatArray) -> float:
        """How far a channel is off, for people."""

    @abstractmethod
    def embedded(self) -> FloatArray:
        """The noise of the letters' matrices."""

    @abstractmethod
    def largest(self, noise: FloatArray) -> float:
        """The largest absolute value of an entry."""

    @abstractmethod
    def fetched(
        self, noise: FloatArray, by: int, leak: float, astray: float
    ) -> FloatArray:
        """That of matrices that a head copies from ``by`` positions before.

        Args:
            noise: That of what it copies.
            by: From how far.
            leak: The weight of other positions, in units of the right one's.
            astray: By how much of itself a number can be off.
        """

    @abstractmethod
    def multiplied(
        self, name: str, left: FloatArray, right: FloatArray, units: Gates, form: Format
    ) -> FloatArray:
        """That of a product.

        Args:
            name: The channel.
            left: That of the left factor.
            right: That of the right one.
            units: What its units have in common.
            form: The format.

        Raises:
            Refused: If nothing is left of the product, or something can overflow.
        """

    def normalised(
        self, name: str, noise: FloatArray, units: Normaliser, form: Format
    ) -> FloatArray:
        """That of matrices that are made to have mass 1.

        Raises:
            Refused: If nothing is left of them, or something can overflow.
        """
        raise Refused(f"{name!r} is normalised, and a norm does not say by what")
