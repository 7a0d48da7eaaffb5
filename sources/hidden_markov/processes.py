"""Stationary processes of computational mechanics, by the names that they have there.

All start in their stationary law: what is known of the state is only what was said.
"""

from collections.abc import Callable

import numpy as np

from krohn.sources.hidden_markov.forms import unifilar
from krohn.sources.hidden_markov.model import HiddenMarkovModel


def golden_mean() -> HiddenMarkovModel:
    """No two 0s in a row; after a 1, each letter is as likely."""
    likely, following = np.array([[0.5, 0], [0.5, 1]]), np.array([[1, 0], [0, 0]])
    start = np.array([2 / 3, 1 / 3])
    return unifilar("GoldenMean", likely, following, start, "AB", "01")


def even_process() -> HiddenMarkovModel:
    """An even number of 1s between 0s, so that no length of memory is enough."""
    likely, following = np.array([[0.5, 0], [0.5, 1]]), np.array([[0, 0], [1, 0]])
    start = np.array([2 / 3, 1 / 3])
    return unifilar("EvenProcess", likely, following, start, "AB", "01")


def random_random_xor() -> HiddenMarkovModel:
    """Two fair bits, then their exclusive or, for ever; where it begins is unknown."""
    half, sure = [0.5, 0.5], [[1.0, 0.0], [0.0, 1.0]]
    likely = np.array([half, half, half, *sure]).T
    following = np.array([[1, 2], [3, 4], [4, 3], [0, 0], [0, 0]]).T
    start = np.array([2.0, 1, 1, 1, 1]) * (1 / 6)
    names = ("first", "after 0", "after 1", "says 0", "says 1")
    return unifilar("RRXOR", likely, following, start, names, "01")


def mess3() -> HiddenMarkovModel:
    """Three states that are seldom left and seldom seen wrongly (x = 0.05, a = 0.85).

    Its beliefs are a fractal in the triangle (Marzen and Crutchfield 2017; Shai et al.
    2024, who found it in the residual stream of a trained Transformer).
    """
    leave, right = 0.05, 0.85
    stay = np.full((3, 3), leave) + np.eye(3) * (1 - 3 * leave)
    wrong = (1 - right) / 2
    say = np.full((3, 3), wrong) + np.eye(3) * (right - wrong)
    return HiddenMarkovModel.of(
        "Mess3", stay, say, before=np.full(3, 1 / 3), states="ABC", letters="ABC"
    )


PROCESSES: dict[str, Callable[[], HiddenMarkovModel]] = {
    "GoldenMean": golden_mean,
    "EvenProcess": even_process,
    "RRXOR": random_random_xor,
    "Mess3": mess3,
}
