"""Different models that predict the same: pairs of Liu 2024, section 2.2."""

from math import cos, pi, sin, sqrt

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand

Pair = tuple[FloatArray, FloatArray]
"""Emissions, or means, ``(d, k)``; and transitions ``(k, k)``."""
PRINTED: tuple[Pair, Pair] = (
    (
        np.array(
            [
                [0.23016003, 0.3549092, 0.16493077],
                [0.30716059, 0.06962305, 0.37321636],
                [0.2580854, 0.26965425, 0.22226035],
                [0.20459398, 0.3058135, 0.23959252],
            ]
        ),
        np.array(
            [
                [0.56893146, 0.35811118, 0.07295736],
                [0.35811118, 0.10805638, 0.53383243],
                [0.07295736, 0.53383243, 0.39321021],
            ]
        ),
    ),
    (
        np.array(
            [
                [0.24120928, 0.35062535, 0.15816537],
                [0.28937626, 0.07433156, 0.38629218],
                [0.26077674, 0.26749114, 0.22173212],
                [0.20863772, 0.30755194, 0.23381033],
            ]
        ),
        np.array(
            [
                [0.59740926, 0.30452087, 0.09806987],
                [0.30452087, 0.1331689, 0.56231024],
                [0.09806987, 0.56231024, 0.33961989],
            ]
        ),
    ),
)
"""Equation 2.47: digits of a pair whose pairwise predictions are equal (Theorem 6)."""


def rotation(angle: float) -> FloatArray:
    """A turn about (1, 1, 1): its rows and columns add up to 1 (Rodrigues)."""
    cross = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]) / sqrt(3)
    along = np.full((3, 3), 1 / 3)
    turn: FloatArray = cos(angle) * (np.eye(3) - along) + sin(angle) * cross + along
    return turn


def same_power(power: int) -> tuple[FloatArray, FloatArray]:
    """Two transition matrices with the same power and no permutation between them.

    A cycle of three that stays half of the time commutes with rotations about (1, 1, 1);
    one by 2π/t has the power t of no rotation (Claim 3; the printed T̃ lacks the factor T).

    Args:
        power: t, at least 2.

    Raises:
        Refused: If a probability comes out negative.
    """
    demand(power >= 2, "a power is at least 2")
    one = (np.eye(3) + np.roll(np.eye(3), 1, axis=0)) / 2
    other = rotation(2 * pi / power) @ one
    # Where a power makes an entry 0, rounding leaves less than a unit of 1.
    other[np.abs(other) <= 4 * np.finfo(np.float64).eps] = 0
    demand(other >= 0, f"with power {power}, a probability is negative")
    return one, other
