"""ReLUs made of GeLU units: g(Kx)/K (docs/numerics.md)."""

from itertools import count
from math import exp, pi, sqrt

from krohn.network.precision import Precision

NEAREST = 1 / 4
"""No unit of a table is nearer to its kink at whole numbers, unless it is at the kink:
that of a saturating step, whose ramp begins 1/4 before the middle of two numbers."""


def slope(precision: Precision) -> float:
    """K: the least power of two at which GeLUs miss ReLUs by less than the format rounds.

    |g(z) - max(z, 0)| is at most the density of a normal number at z (Lemma 8b of
    docs/soundness.md); half of the distance to the kink is left to noise. A unit at its
    kink needs nothing: |g(z)| is at most |z|, also where z is noise. The
    checker finds the errors by itself; K only makes them small.
    """
    powers = (2.0**n for n in count())
    return next(
        k
        for k in powers
        if exp(-((k * NEAREST / 2) ** 2) / 2) / sqrt(2 * pi) <= precision.unit
    )
