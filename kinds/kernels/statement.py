"""Kernels as model files state them: causal convolutions of real inputs, exactly."""

from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple, Self

from krohn.program.errors import demand
from krohn.program.inputs import Box
from krohn.program.stated import Count, Size, StatedSource
from krohn.program.strict_json import reals

MOST_VALUES, MOST_MODES, MOST_LENGTH = 4096, 256, 2**16
LARGEST = 2.0**64
"""Of weights, values and inputs, so that no sum of them overflows float64."""


class Mode(NamedTuple):
    """Re(weight · base^s): an exponential, or half of a pair of complex ones.

    Attributes:
        weight: c.
        base: λ, of absolute value at most 1.
    """

    weight: complex
    base: complex

    @staticmethod
    def json_type() -> Any:
        """Its type on file."""
        return tuple[float, float, float, float]

    @classmethod
    def of(cls, said: Any) -> Self:
        """From the two parts of each.

        Raises:
            Refused: If these are no four numbers.
        """
        row = reals(said, 1).tolist()
        demand(len(row) == 4, "a mode is no weight with a base")
        return cls(complex(*row[:2]), complex(*row[2:]))

    def to_wire(self) -> list[float]:
        """The two parts of each."""
        return [part for z in self for part in (z.real, z.imag)]


@dataclass(frozen=True)
class StatedKernel(StatedSource):
    """A convolution.

    ρ(s) = values[s] (0 past their end) + Σ Re(c_k λ_k^s), on inputs of a box. All numbers
    are float64 and stand for themselves.

    Attributes:
        name: What it is called.
        values: The finite part, the latest input first.
        modes: The exponentials.
        length: T: how many inputs there are, at most.
        inputs: The least and the largest input.
        order: Of inputs that are permuted: where the network finds what the kernel
            reads at each time, (T,) numbers; None if they come in their order.

    Raises:
        Refused: If it grows, or a number is out of range.
    """

    kind = "kernel"
    name: str
    values: tuple[float, ...]
    modes: tuple[Mode, ...]
    length: Size
    inputs: tuple[float, float] = (-1.0, 1.0)
    order: tuple[Count, ...] | None = None

    def __post_init__(self) -> None:
        low, high = self.inputs
        demand(
            type(self.length) is int and 1 <= self.length <= MOST_LENGTH,
            f"a kernel is for 1 to {MOST_LENGTH} inputs, not {self.length!r}",
        )
        demand(bool(self.values or self.modes), "a kernel has a value or a mode")
        demand(len(self.values) <= MOST_VALUES, f"at most {MOST_VALUES} values")
        demand(len(self.modes) <= MOST_MODES, f"at most {MOST_MODES} modes")
        weights = [part for c, _ in self.modes for part in (c.real, c.imag)]
        for number in (*self.values, *weights, low, high):
            demand(isfinite(number), f"{number!r} is not finite")
            small = abs(number) <= LARGEST
            demand(small, f"{number!r} is out of range: 2^64 is the most")
        demand(
            low < high,
            "inputs lie between a least number and a larger one; "
            f"from {low:g} to {high:g} there are none",
        )
        for _, base in self.modes:
            demand(
                _is_within_circle(base),
                f"the mode {base} grows: a linear recurrence is stable if each "
                "|λ| < 1, and |λ| = 1 is the most that a kernel may have",
            )
        sorted_order = None if self.order is None else sorted(self.order)
        demand(
            sorted_order in (None, list(range(self.length))),
            "the order is no permutation of all times",
        )

    @property
    def largest_input(self) -> float:
        """X: the largest absolute value of an input."""
        return max(map(abs, self.inputs))

    @property
    def causal(self) -> bool:
        """Whether no input is read before it comes."""
        return self.order is None

    @property
    def box(self) -> Box:
        """Its inputs; those that are permuted are all there."""
        return Box((self.inputs,), 1 if self.causal else self.length, self.length)


def _is_within_circle(base: complex) -> bool:
    """Whether |λ| ≤ 1, exactly."""
    if not (isfinite(base.real) and isfinite(base.imag)):
        return False
    (a, b), (c, d) = (x.as_integer_ratio() for x in (base.real, base.imag))
    return (a * d) ** 2 + (c * b) ** 2 <= (b * d) ** 2
