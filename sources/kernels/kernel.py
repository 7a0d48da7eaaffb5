"""Causal convolutions: y_t = Σ_{s≤t} ρ(s)·x(t − s) of real inputs, with exact kernels."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, NamedTuple, Self

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.program.exact_numbers import real_array, reals, whole

KIND = "kernel"
"""What it is called in the header of a model file."""
MOST_VALUES, MOST_MODES, MOST_LENGTH = 4096, 256, 2**16
LARGEST = 2.0**64
"""Of weights, values and inputs, so that no sum of them overflows float64."""
DIGITS = 256
"""Binary places of the powers of modes: what is rounded there is below every double."""
ROUNDED = 2.0**-53


class Mode(NamedTuple):
    """Re(weight · base^s): an exponential, or half of a pair of complex ones.

    Attributes:
        weight: c.
        base: λ, of absolute value at most 1.
    """

    weight: complex
    base: complex


@dataclass(frozen=True)
class Kernel:
    """ρ(s) = values[s] (0 past their end) + Σ Re(c_k λ_k^s), on inputs of a box.

    All numbers are float64 and stand for themselves.

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

    name: str
    values: tuple[float, ...]
    modes: tuple[Mode, ...]
    length: int
    inputs: tuple[float, float] = (-1.0, 1.0)
    order: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        # Whole numbers may be given; a file has none.
        modes = tuple(Mode(complex(c), complex(b)) for c, b in self.modes)
        low, high = real_array(self.inputs, "inputs").tolist()
        object.__setattr__(
            self, "values", tuple(real_array(self.values, "values").tolist())
        )
        object.__setattr__(self, "modes", modes)
        object.__setattr__(self, "inputs", (low, high))
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
                _within_circle(base),
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

    def of_length(self, length: int | None) -> "Kernel":
        """The same for another number of inputs; None for its own.

        Raises:
            Refused: If its inputs are permuted: then there are as many as there are.
        """
        if length is None or length == self.length:
            return self
        demand(
            self.order is None,
            f"{self.name} permutes {self.length} inputs; leave -T out",
        )
        return replace(self, length=length)

    def samples(self) -> FloatArray:
        """``(T,)``: ρ(0), ρ(1), …, each the nearest float64 but for 2^-180."""
        totals = [_fixed(v) for v in self.values[: self.length]]
        totals += [0] * (self.length - len(totals))
        for weight, base in self.modes:
            c = _fixed(weight.real), _fixed(weight.imag)
            a, b = _fixed(base.real), _fixed(base.imag)
            p, q = 1 << DIGITS, 0
            for s in range(self.length):
                totals[s] += (c[0] * p - c[1] * q) >> DIGITS
                p, q = (a * p - b * q) >> DIGITS, (a * q + b * p) >> DIGITS
        return np.array([total / (1 << DIGITS) for total in totals])

    def matrix(self) -> FloatArray:
        """``(T, T)``: y = M x of inputs of full length."""
        t = np.arange(self.length)
        back = t[:, None] - t
        causal = np.where(back >= 0, self.samples()[np.maximum(back, 0)], 0.0)
        if self.order is None:
            return causal
        found = np.empty_like(causal)
        found[:, list(self.order)] = causal
        return found

    def run(self, inputs: FloatArray) -> FloatArray:
        """What is right, up to `rounding`.

        Args:
            inputs: ``(batch, time)``, at most T; all of them if they are permuted.

        Returns:
            ``(batch, time)``: y.
        """
        size = inputs.shape[1]
        demand(size <= self.length, f"{size} inputs are more than {self.length}")
        demand(
            self.order is None or size == self.length,
            f"inputs that are permuted are {self.length}, not {size}",
        )
        rows: FloatArray = inputs @ self.matrix()[:size, :size].T
        return rows

    def rounding(self) -> float:
        """How far `run` can be off itself."""
        terms = self.length + 2
        unit = terms * ROUNDED / (1 - terms * ROUNDED)
        return float(unit * np.abs(self.samples()).sum() * self.largest_input)

    def sampled(self, count: int, generator: np.random.Generator) -> FloatArray:
        """``(count, T)`` inputs: a third at random, the others at the ends of the box."""
        low, high = self.inputs
        found = generator.uniform(low, high, (count, self.length))
        ends = generator.choice([low, high], (count, self.length))
        found[count // 3 :] = ends[count // 3 :]
        return found

    def to_wire(self) -> dict[str, Any]:
        """As a model file states it."""
        modes = [[c.real, c.imag, b.real, b.imag] for c, b in self.modes]
        ordered = {} if self.order is None else {"order": list(self.order)}
        return {
            "name": self.name,
            "length": self.length,
            "inputs": list(self.inputs),
            "values": list(self.values),
            "modes": modes,
            **ordered,
        }

    @classmethod
    def from_wire(cls, said: Mapping[str, Any]) -> Self:
        """The kernel of a header.

        Raises:
            Refused: If it states none.
        """
        modes = [_floats(row, 4) for row in said["modes"]]
        low, high = _floats(said["inputs"], 2)
        order = said.get("order")
        return cls(
            str(said["name"]),
            tuple(_floats(said["values"])),
            tuple(Mode(complex(*row[:2]), complex(*row[2:])) for row in modes),
            said["length"],
            (low, high),
            None if order is None else tuple(whole(order, 1).tolist()),
        )


def _within_circle(base: complex) -> bool:
    """Whether |λ| ≤ 1, exactly."""
    if not (isfinite(base.real) and isfinite(base.imag)):
        return False
    (a, b), (c, d) = (x.as_integer_ratio() for x in (base.real, base.imag))
    return (a * d) ** 2 + (c * b) ** 2 <= (b * d) ** 2


def _fixed(number: float) -> int:
    """A number in units of 2^-256, rounded down."""
    above, below = number.as_integer_ratio()
    return (above << DIGITS) // below


def _floats(row: Any, count: int | None = None) -> list[float]:
    found: list[float] = reals(row, 1).tolist()
    demand(count in (None, len(found)), "a number of the kernel is missing")
    return found
