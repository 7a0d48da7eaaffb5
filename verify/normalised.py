"""How far LN_C of a softmax head can be from its value in real arithmetic.

docs/dyck-generator.md, section 4, has the lemmas and their proofs. All bounds hold
for every order of summation and for kernels with a running maximum.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algebra.semiautomaton import IntArray
from network.precision import FloatArray, Precision
from verify.errors import Rejected
from verify.exponentials import relative_error
from verify.noisy import INFLATION, Noisy

LARGEST_RATIO = 80.0
GRID = 2.0**20
SLACK = 1.01


@dataclass(frozen=True)
class Arithmetic:
    """Units of roundoff; all 0 in real arithmetic.

    Attributes:
        sums: Of the accumulator.
        stored: Of the stored format.
        narrow: Of storing what has been accumulated; 0 if that is no rounding.
        floor: How far storing can move a number below the normal range.
        exponential: Of an exponential.
    """

    sums: float
    stored: float
    narrow: float
    floor: float
    exponential: float

    @classmethod
    def of(cls, precision: Precision) -> "Arithmetic":
        """That of a number format."""
        wide = precision.digits == precision.accumulator_digits
        return cls(
            sums=precision.accumulator_unit,
            stored=precision.unit,
            narrow=0.0 if wide else precision.unit,
            floor=0.0 if wide else precision.unit * precision.smallest,
            exponential=relative_error(precision),
        )


REAL = Arithmetic(0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Head:
    """A softmax head whose queries, keys and values are exact, on finitely many tokens.

    Attributes:
        scores: ``(keys, queries)``, exact.
        values: ``(tokens, d)``, exact, each with mean 0.
        constant: C.
    """

    scores: FloatArray
    values: FloatArray
    constant: float

    @property
    def support(self) -> IntArray:
        """The dimensions in which some value is not 0."""
        return np.flatnonzero(self.values.any(axis=0))

    @property
    def norms(self) -> FloatArray:
        """The length of each value, slightly enlarged."""
        return np.asarray(np.sqrt((self.values**2).sum(axis=1)) * INFLATION)

    def relative(self, query: int, positions: int, units: Arithmetic) -> float:
        """τ: how far each term of the weighted sum can be off, relative to itself.

        A factor that all terms of a row share does not count.

        Raises:
            Rejected: If products could fall below the normal range, or τ is too large.
        """
        column = self.scores[:, query]
        size, spread = np.abs(column).max(), np.ptp(column)
        least = np.abs(self.values[self.values != 0]).min(initial=1.0)
        lowest = np.exp(-spread) / positions * least
        if not (lowest >= 2.0**-120 and spread <= LARGEST_RATIO):
            raise Rejected("a weight can fall below the normal range")
        rises = len(np.unique(column)) - 1
        terms = 4 + rises + 16 * size + positions
        narrow = units.narrow + units.floor * positions * np.exp(spread)
        total = SLACK * (terms * units.sums + (1 + rises) * units.exponential + narrow)
        if not total <= 1 / 8:
            raise Rejected(
                f"sums over {positions} positions are too long for the format"
            )
        return float(np.expm1(total) * INFLATION)

    def deviation(
        self, error: float, signal: float, relative: float, units: Arithmetic
    ) -> float:
        """How far an entry of LN_C(head) + X can be from its value in real arithmetic.

        Args:
            error: The distance of head and true value, as vectors, relative to `signal`.
            signal: The least length of the true value, which is above C.
            relative: τ of the row.
            units: The arithmetic.

        Raises:
            Rejected: If the head could be below C, or its error is not small.
        """
        d = self.values.shape[1]
        raw = error + 2 * units.floor * np.sqrt(d) / signal + units.narrow
        off = raw + SLACK * (d + 4) * units.sums * (1 + raw)
        around = SLACK * (d + 8) * units.sums
        if not off <= 1 / 4:
            raise Rejected("what is left after cancelling drowns in rounding errors")
        least = (1 - off - 3 * relative - around) * signal
        if not least > self.constant * INFLATION:
            raise Rejected(
                "what is left after cancelling is below LayerNorm's constant"
            )
        return float((2 * off + around + units.narrow + 2 * units.stored) * INFLATION)

    def ripple(self, relative: float, units: Arithmetic) -> float:
        """How far from 0 an entry outside the support can be, whatever the head reads."""
        d, size = self.values.shape[1], float(self.norms.max())
        if not SLACK * (d + 8) * units.sums <= 1 / 16:
            raise Rejected("LayerNorm has too many dimensions for the format")
        head = (relative + units.narrow + SLACK * (d + 4) * units.sums) * size
        noise = 1.25 * (head + units.floor * np.sqrt(d)) / self.constant
        return float((noise + 2 * units.stored) * INFLATION)


def head(
    rows: FloatArray, at: str, tensors: dict[str, FloatArray], p: Precision
) -> Head:
    """The head of a layer on exact rows ``(tokens, d)``.

    Raises:
        Rejected: If a query, key, score or value is not exact, a value has another mean
            than 0, or C is not positive.
    """
    query, key, value = (
        projected(rows, tensors[f"{at}.attention.{name}"], p, f"a {name}")
        for name in ("query", "key", "value")
    )
    products = Noisy.exact(key, p).accumulated(np.ascontiguousarray(query.T))
    scores = exact(products, "a score")
    exact(products.stored(), "a score")
    if any(sum(map(Fraction, row)) for row in value.tolist()):
        raise Rejected("a value does not have mean 0")
    constant = float(tensors[f"{at}.constant"][0])
    if not constant > 0:
        raise Rejected("the constant of a LayerNorm is not positive")
    return Head(scores, value, constant)


def projected(
    rows: FloatArray, weight: FloatArray, p: Precision, what: str
) -> FloatArray:
    """``rows @ weight`` for exact rows, computed without rounding.

    Raises:
        Rejected: If it cannot be seen to be exact.
    """
    if np.isin(rows, (0.0, 1.0)).all() and (rows.sum(axis=1) <= 1).all():
        return rows @ weight  # every entry is one entry of ``weight``, or 0
    return exact(Noisy.exact(rows, p).affine(weight, np.zeros(weight.shape[1])), what)


def exact(numbers: Noisy, what: str) -> FloatArray:
    """Numbers that are computed without rounding.

    Raises:
        Rejected: If they are not.
    """
    if (
        numbers.total.any()
        or (numbers.precision.round(numbers.value) != numbers.value).any()
    ):
        raise Rejected(f"{what} is not exact")
    return numbers.value + 0.0


def around(values: FloatArray, radius: FloatArray, p: Precision) -> Noisy:
    """Numbers near ``values``, which are moved to multiples of 2^-20 first.

    On a grid the checker can see that later sums are exact.
    """
    centre = np.round(values * GRID) / GRID
    rest = (radius + np.abs(values - centre)) * INFLATION
    return Noisy(centre, (), (), rest, p)


def followed(
    numbers: Noisy, at: str, maps: int, tensors: dict[str, FloatArray]
) -> tuple[Noisy, Noisy]:
    """Numbers through the affine maps of a layer: before the last one, and after it."""
    before = numbers
    for j in range(maps):
        before = numbers.relu() if j else numbers
        numbers = before.affine(
            tensors[f"{at}.mlp.{j}.weight"], tensors[f"{at}.mlp.{j}.bias"]
        )
    return before, numbers
