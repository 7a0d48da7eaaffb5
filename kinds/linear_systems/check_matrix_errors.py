"""Rule E for matrices: errors in a stated norm or log-metric (docs/within.md, Theorem E).

A norm (`matrix_norms`) and Hilbert's metric (`belief_products`) are two ways to measure
them.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from krohn.program.domains import FloatArray
from krohn.program.errors import Refused, demand
from krohn.program.operations.letter_matrix import LetterMatrix
from krohn.program.operations.shift import Shift
from krohn.program.statement import Channel
from krohn.verify.checker.arithmetic import Format, Interval, bound_underflow

if TYPE_CHECKING:
    from krohn.kinds.linear_systems.check_product_gates import Gates
    from krohn.verify.checker.heads import Heads


class MatrixErrors(ABC):
    """The meaning of noise of a channel of matrices, and how sublayers change it.

    Attributes:
        name: What errors are measured in.
        size: n.
    """

    name: ClassVar[str]
    size: int

    @property
    def facts(self) -> dict[str, Any]:
        """Facts about the metric, for people."""
        return {"norm": self.name}

    @abstractmethod
    def describe_noise(self, noise: FloatArray) -> float:
        """How far a channel is off, for people."""

    @abstractmethod
    def bound_embedding(self) -> FloatArray:
        """The noise of the letters' matrices."""

    def codes(self, channel: Channel) -> FloatArray:
        """``(tokens, n²)``: the matrices of a channel that is embedded, BOS last.

        Raises:
            Refused: If they are not those of the letter.
        """
        if not isinstance(channel.operation, LetterMatrix):
            raise Refused(f"{channel.name!r} is not embedded")
        rows = channel.operation.rows
        return rows.reshape(len(rows), -1)

    @abstractmethod
    def largest(self, noise: FloatArray) -> float:
        """The largest absolute value of an entry."""

    def bound_copies(
        self, heads: "Heads", channel: Channel, leak: float, astray: float
    ) -> FloatArray:
        """The noise of a channel whose head copies matrices (Theorems W2 and W9).

        Raises:
            Refused: If something else is added, or a sum over all positions can overflow.
        """
        stream, form = heads.stream, heads.stream.form
        noise = stream.noise[channel.inputs[0]]
        demand(form.unit == form.sum_unit, "matrices in a narrow format")
        demand(stream.fresh(channel.span), "a matrix is added to something")
        largest = self.largest(noise)
        heads.check_sums(largest)
        assert isinstance(channel.operation, Shift)
        lost = heads.below(largest) + bound_underflow(2)
        return self.bound_fetch(noise, channel.operation.by, leak, astray, lost)

    @abstractmethod
    def bound_fetch(
        self, noise: FloatArray, by: int, leak: float, astray: float, lost: Interval
    ) -> FloatArray:
        """That of matrices that a head copies from ``by`` positions before.

        Args:
            noise: That of what it copies.
            by: From how far.
            leak: The weight of other positions, in units of the right one's.
            astray: By how much of itself a number can be off.
            lost: What a mean loses below the normal range.
        """

    @abstractmethod
    def bound_product(
        self,
        name: str,
        left: FloatArray,
        right: FloatArray,
        units: "Gates",
        form: Format,
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
