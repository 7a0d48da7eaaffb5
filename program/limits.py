"""The most work that a proof may take; a longer one is not worth compiling for."""

from math import isqrt

MOST_SCORES = 2**28
"""Scores of one head that are looked at one by one: about a minute."""

MOST_PAIRED = (isqrt(4 * MOST_SCORES + 1) - 1) // 2
"""The greatest T with T (T + 1) ≤ `MOST_SCORES`, by the quadratic formula: 16,383."""
