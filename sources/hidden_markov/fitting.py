"""The stationary model nearest to a law that is off: least squares from a first guess.

Probabilities are squares divided by their sum, so that none is negative and each step is
free (Levenberg 1944, Marquardt 1963).
"""

from collections.abc import Callable, Sequence

import numpy as np

from krohn.program.domains import FloatArray
from krohn.sources.hidden_markov.identifiability import derivative
from krohn.sources.hidden_markov.masked import Task, predictor, stationary

STEPS = 100
"""How many steps are tried."""
DAMPING, FACTOR = 1e-3, 10.0
"""The first damping, in units of the largest curvature; by what it is changed."""
LITTLE, UNIT = 1e-6, float(np.finfo(np.float64).eps)
"""By what part the sum of squares must fall for another step."""
Told = Callable[[Sequence[FloatArray]], FloatArray]
Parts = tuple[FloatArray, FloatArray, FloatArray]


def nearest(law: FloatArray, task: Task, parts: Parts) -> Parts:
    """O, T and the prior of least squares, from those of a guess.

    Args:
        law: ``(d, d, d)``.
        task: What it says. The prior is free if the first letter is given; otherwise the
            chain is stationary.
        parts: The guess.
    """

    def told(roots: Sequence[FloatArray]) -> FloatArray:
        return (predictor(task, *_laws(roots, task)) - law).ravel()

    error = float(np.abs(predictor(task, *parts) - law).max())
    if error <= len(law) * UNIT:  # no more than roundings
        return parts
    roots = [np.sqrt(np.maximum(x, error)) for x in parts[: 2 + (task.given == 1)]]
    roots = _descended(told, roots)
    better = np.abs(told(roots)).max() < error
    return _laws(roots, task) if better else parts


def _descended(told: Told, roots: list[FloatArray]) -> list[FloatArray]:
    """Where the sum of squares falls no more, or hardly."""
    left, damping, slope = told(roots), DAMPING, None
    for _ in range(STEPS):
        if slope is None:
            slope = derivative(told, [(x, np.eye(x.size)) for x in roots])
            square, down = slope.T @ slope, -slope.T @ left
        ridge = damping * max(float(np.diag(square).max()), UNIT) * np.eye(len(down))
        moved = np.split(np.linalg.solve(square + ridge, down), _ends(roots))
        tried = [x + y.reshape(x.shape) for x, y in zip(roots, moved, strict=True)]
        now, before = told(tried), float(left @ left)
        if not now @ now < before:
            damping *= FACTOR
            if damping > 1 / UNIT:
                break
            continue
        roots, left, slope, damping = tried, now, None, damping / FACTOR
        if now @ now > before * (1 - LITTLE):
            break
    return roots


def _ends(roots: Sequence[FloatArray]) -> list[int]:
    ends: list[int] = np.cumsum([x.size for x in roots])[:-1].tolist()
    return ends


def _laws(roots: Sequence[FloatArray], task: Task) -> Parts:
    """Emissions, transitions and the prior."""
    laws = [x**2 / (x**2).sum(axis=0) for x in roots]
    return laws[0], laws[1], laws[2] if task.given == 1 else stationary(laws[1])
