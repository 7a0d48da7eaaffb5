"""How exact exponentials in attention are assumed to be (docs/soundness.md, A6 and A8).

In binary32 and binary64 kernels use exponentials within 20 ulp. For 16-bit formats fused
kernels build the bits of a power of two from its exponent (Schraudolph 1999, Malossi et
al. 2015): by a cubic as in Torch's on CPUs that is off by 1788 units, and by 898 at 0,
before the bits are rounded. `tests/verify/test_kernels.py` measures what is installed.
"""

from network.precision import Precision

ULPS = 40
"""Units of the accumulator, where that is the stored format."""
COARSE = 2.0**-12
"""Relative error in 16-bit formats."""
AT_ZERO = 2.0**-14
"""The same of exponents between −`NEAR` and `NEAR`."""
NEAR = 2.0**-10
STRETCH = 16
"""A running maximum of coarse exponentials moves once for so many positions at most."""


def is_narrow(precision: Precision) -> bool:
    """Whether numbers are stored in fewer digits than they are added up in."""
    return precision.digits < precision.accumulator_digits


def relative_error(precision: Precision) -> float:
    """Of any exponential."""
    return COARSE if is_narrow(precision) else ULPS * precision.accumulator_unit


def drift(precision: Precision, positions: int) -> float:
    """The exponent of what rescaling to new maxima can multiply old terms by (A8)."""
    times = positions // STRETCH + 1 if is_narrow(precision) else positions
    return times * (relative_error(precision) + precision.accumulator_unit)
