"""The gain of a Kalman predictor, enclosed (trusted): Lemma KF1 and Theorem KF2.

docs/proofs/kalman.md has both. Evidence says a covariance and a gain that nearly solve the
Riccati equation; what is shown is how far the true ones are from these.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from krohn.kinds.kalman.statement import StatedPredictor
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Interval, Operand, bound_all_steps
from krohn.verify.checker.simulation import decode_array

MOST_POWERS, MOST_PRODUCTS, LARGEST_SUM = 2**12, 2**33, 2.0**64
"""Of F, of products of their numbers, which take seconds; and of all of them together."""
FADED = 0.5
"""The norm of a power of F behind which no more of them are looked at."""


class Gain(NamedTuple):
    """What is known of the gain L and of F = A − L B; norms are 2-norms.

    Attributes:
        near: ``(n, m)``: a gain near L.
        off: How far L is from it.
        loop: ``(n, n)``: F, with the gain that is near.
        drift: How far F is from it.
        powers: κ ≥ Σ_s ‖F^s‖, over all s.
        first: ``(n,)``: z_0 = A x_0.
    """

    near: FloatArray
    off: Interval
    loop: Interval
    drift: Interval
    powers: Interval
    first: Interval


def norm(x: Operand) -> Interval:
    """The 2-norm of a vector, and at least that of a matrix: ‖X‖² ≤ ‖XᵀX‖_∞."""
    x = Interval.of(x)
    if len(x.shape) == 1:
        return (x * x).sum().root()
    return abs(x.each(np.transpose) @ x).sum(axis=1).max().root()


def row_norms(matrix: Operand) -> Interval:
    """``(rows,)``: the 2-norm of each row: what it can make of a vector of length 1."""
    x = Interval.of(matrix)
    return (x * x).sum(axis=1).root()


def enclose_gain(source: StatedPredictor, said: Any) -> Gain:
    """The gain of the Kalman predictor, from one that evidence says (Theorem KF2).

    Raises:
        Refused: If it is not shown that there is a solution near by, with a stable loop.
    """
    a, b, r = source.transition, source.observation, source.observation_noise
    n, m = b.T.shape
    p = decode_array(said["covariance"], "<f8").reshape(n, n)
    near = decode_array(said["gain"], "<f8").reshape(n, m)
    demand(p == p.T, "the covariance of the evidence is not symmetric")
    loop, seen = a - Interval.of(near) @ b, b @ Interval.of(p) @ b.T + r
    change, wrong = map(norm, find_residues(source, p, near))
    inverse = np.asarray(np.linalg.inv(seen.middle()[0]), np.float64)
    inexact, size = norm(np.eye(m) - seen @ inverse), norm(inverse)
    sums, squares = sum_powers(loop)
    ahead, around = norm(loop) * norm(b), norm(b) * norm(b) * size

    def gains(off: Interval) -> tuple[Interval, Interval]:
        """‖N‖ and ‖N (S + B H Bᵀ)⁻¹‖ of all symmetric H up to a size."""
        left, both = 1 - inexact - around * off, wrong + ahead * off
        demand(left > 0, "the covariance of surprises may be singular")
        return both, both * size / left

    def later(off: Interval) -> Interval:
        """The size of the image of all symmetric H up to a size."""
        both, apart = gains(off)
        return squares * (change + both * apart)

    room = 4 * squares * (change + wrong * wrong * size)
    _, off = gains(bound_all_steps(later, Interval.of(room.high)))
    drift = off * norm(b)
    demand(sums * drift < 1, "the loop of the predictor may be unstable")
    first = a @ Interval.of(source.start)
    return Gain(near, off, loop, drift, sums / (1 - sums * drift), first)


def find_residues(
    source: StatedPredictor, covariance: FloatArray, near: FloatArray
) -> list[Interval]:
    """E and N_0 of Theorem KF2, in whole numbers: E = F P Fᵀ + L R Lᵀ + Q − P."""
    a, b = source.transition, source.observation
    given = (a, b, source.process_noise, source.observation_noise, covariance, near)
    ratios = [[x.as_integer_ratio() for x in matrix.flat] for matrix in given]
    unit = max(below for each in ratios for _, below in each)
    a, b, q, r, p, gain = (
        np.array([x * (unit // y) for x, y in each], object).reshape(matrix.shape)
        for each, matrix in zip(ratios, given, strict=True)
    )
    loop = a * unit - gain @ b
    change = loop @ p @ loop.T + gain @ r @ gain.T * unit**2 + (q - p) * unit**4
    wrong = loop @ p @ b.T - gain @ r * unit**2
    return [_divide(change, unit**5), _divide(wrong, unit**4)]


def _divide(numbers: Any, by: int) -> Interval:
    """A matrix of whole numbers, divided by one."""
    near = Interval.nearest([Fraction(x, by) for x in numbers.flat])
    return near.each(lambda x: x.reshape(numbers.shape))


def sum_powers(loop: Interval) -> tuple[Interval, Interval]:
    """Bounds of Σ_s ‖F^s‖ and of Σ_s ‖F^s‖² over all s (Lemma KF1).

    Raises:
        Refused: If powers do not fade soon.
    """
    n, sizes = len(loop.low), list[Interval]()
    power, total, astray = np.eye(n), Interval.of(0.0), Interval.of(0.0)
    while not (last := norm(power)) <= FADED:
        sizes.append(last)
        total += last
        few = len(sizes) <= MOST_POWERS and len(sizes) * n**3 <= MOST_PRODUCTS
        slow = "the predictor forgets too slowly to be checked, or nothing"
        demand(few and bool(total <= LARGEST_SUM), slow)
        after = loop @ power
        power = (after.low + after.high) / 2
        astray += norm(after - power)
    kappa = bound_all_steps(lambda most: total + most * astray, 2 * total)
    last += kappa * astray
    demand(last < 1, "the predictor may forget nothing")
    each = Interval.stack_intervals(sizes) + kappa * astray
    return kappa / (1 - last), (each * each).sum() / (1 - last * last)
