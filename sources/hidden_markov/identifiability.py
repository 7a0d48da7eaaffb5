"""Which predictions determine a hidden Markov model: to first order, by a derivative.

Some moves of emissions and transitions leave what is predicted as it is. If a whole
direction does, to first order, then the predictions do not determine the model near it;
if none does, they do nearby, and Kruskal's theorem decides the rest.
"""

from collections.abc import Callable, Sequence

import numpy as np

from krohn.program.domains import FloatArray
from krohn.sources.hidden_markov.masked import Task, predictor, stationary
from krohn.sources.hidden_markov.model import SUM

STEP = float(np.finfo(np.float64).eps ** (1 / 3))
"""Of a central difference: its errors of rounding and of curvature are equal then."""


def moves(
    tasks: Sequence[Task],
    emissions: FloatArray,
    transitions: FloatArray,
    prior: FloatArray | None = None,
) -> FloatArray:
    """How far predictions move with the model: singular values, the least last.

    Moves keep the sums of columns. A chain whose transitions are doubly stochastic stays
    one (Liu 2024, Assumption 5).

    Args:
        tasks: What is predicted, all of it together.
        emissions: ``(d, k)``: O[o, s] = Pr(o | s).
        transitions: ``(k, k)``: T[s', s] = Pr(s' | s).
        prior: ``(k,)``: the law of the given state, which moves as well; if absent, the
            chain is stationary.
    """
    k, uniform = len(transitions), np.abs(transitions.sum(axis=1) - 1) <= SUM
    doubly = bool(uniform.all()) and prior is None
    across = _sums_to_zero(k) if doubly else np.eye(k)
    parts = [
        (emissions, _each(_sums_to_zero(len(emissions)), np.eye(k))),
        (transitions, _each(_sums_to_zero(k), across)),
    ]
    if prior is not None:
        parts.append((prior, _sums_to_zero(k)))

    def told(values: Sequence[FloatArray]) -> FloatArray:
        law = values[2] if prior is not None else stationary(values[1])
        every = [predictor(task, values[0], values[1], law) for task in tasks]
        return np.concatenate([found.ravel() for found in every])

    found: FloatArray = np.linalg.svd(derivative(told, parts), full_matrices=False)[1]
    return found


def freedom(
    tasks: Sequence[Task], emissions: FloatArray, transitions: FloatArray
) -> int:
    """In how many directions a stationary model can move while no prediction does."""
    values = moves(tasks, emissions, transitions)
    return int((values <= STEP * values[0]).sum())


def _sums_to_zero(size: int) -> FloatArray:
    """``(n, n − 1)``: orthonormal columns, each of sum 0."""
    basis = np.linalg.qr(np.eye(size) - 1 / size)[0][:, : size - 1]
    return np.asarray(basis, np.float64)


def _each(rows: FloatArray, columns: FloatArray) -> FloatArray:
    return np.asarray(np.kron(rows, columns), np.float64)


def derivative(
    told: Callable[[Sequence[FloatArray]], FloatArray],
    parts: Sequence[tuple[FloatArray, FloatArray]],
) -> FloatArray:
    """``(outputs, directions)``, by central differences.

    Args:
        told: What is said, from values.
        parts: Each value, and ``(entries, directions)``: where it moves.
    """
    values, columns = [value for value, _ in parts], []
    for at, (value, basis) in enumerate(parts):
        for direction in basis.T:
            step = STEP * direction.reshape(value.shape)
            ends = [
                told([*values[:at], value + sign * step, *values[at + 1 :]])
                for sign in (1, -1)
            ]
            columns.append((ends[0] - ends[1]) / (2 * STEP))
    return np.array(columns).T
