"""From what a head of points predicts back to means and transitions (Liu 2024, Theorem 5).

Far out in one direction a single state is left, so E[x_2 | x_1] is a column of C = MT. The
posterior is then a solution of linear equations, and the logarithms of its ratios are
affine in x: they say the differences of means and of their norms. What is left is how far
the means are from the origin, in one direction: C has the same distance, because columns
of T add up to 1. That is the one sign by which the mirrored means are told from the means.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from krohn.kinds.hidden_markov.statement_masked import Task
from krohn.kinds.posterior_heads.source import (
    NEXT,
    PosteriorHead,
    gaussian,
)
from krohn.kinds.posterior_heads.statement import FARTHEST, LARGEST
from krohn.program.domains import FloatArray
from krohn.program.errors import demand

DIRECTIONS, POINTS = 4096, 4096
"""How many directions are followed far out; how many points are looked at."""
SEEN, NEAR = 1e-3, 1e-6
"""How likely a state must be for its logarithm; how near to a law transitions must be."""
Guess = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class DecompiledPoints:
    """A model that is recovered from guesses of points.

    Attributes:
        means: ``(d, k)``: M. States are in the order of their means.
        transitions: ``(k, k)``: T.
        residual: The largest coordinate of a guess less that of this model, on points that
            were not used.
    """

    means: FloatArray
    transitions: FloatArray
    residual: float

    def head(self, name: str = "decompiled", task: Task = NEXT) -> PosteriorHead:
        """The model, asked for some task."""
        return gaussian(name, self.means, self.transitions, task)


def decompiled_points(
    guess: Guess, dimension: int, off: float = 0.0, seed: int = 0
) -> DecompiledPoints:
    """The model of E[x_2 | x_1], of points with unit covariance and equally likely states.

    Args:
        guess: ``(n, d)`` points to ``(n, d)``, for points of any size.
        dimension: d.
        off: How far a guess may be off.
        seed: Of directions and points.

    Raises:
        Refused: If means are not the corners of a simplex, or these are no such guesses,
            or the states are not equally likely.
    """
    random = np.random.default_rng(seed)
    columns = _far(guess, dimension, off, random)
    differences, biases, near = _scores(guess, columns, off, random)
    means = _means(columns, differences, biases)
    transitions = _transitions(means, columns, near)
    order = np.lexsort(means.round(9)[::-1])[::-1]
    means, transitions = means[:, order], transitions[np.ix_(order, order)]
    head = gaussian("decompiled", means, transitions)
    assert head.radius is not None
    x = random.uniform(-head.radius, head.radius, (POINTS, dimension))
    residual = float(np.abs(head.run(x) - guess(x)).max())
    return DecompiledPoints(means, transitions, residual)


def _far(
    guess: Guess, dimension: int, off: float, random: np.random.Generator
) -> FloatArray:
    """``(d, k)``: C = MT, what is guessed far out; in no order.

    Raises:
        Refused: If guesses do not come to rest, or at vectors that are not independent.
    """
    directions = random.standard_normal((DIRECTIONS, dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    far, now = 1.0, guess(directions)
    while far < FARTHEST:
        far *= 2
        before, now = now, guess(far * directions)
        demand(np.isfinite(now), "a guess is no number")
    near = max(1e-9 * max(1.0, float(np.abs(now).max())), 2 * off)
    rests = (np.abs(now - before) <= near).all(axis=1)
    found: list[FloatArray] = []
    for vector in now[rests]:
        if all(np.abs(vector - other).max() > near for other in found):
            found.append(vector)
            demand(len(found) <= LARGEST, "guesses do not settle for large inputs")
    demand(len(found) > 0, "guesses do not settle for large inputs")
    columns = np.array(found).T
    rank = np.linalg.matrix_rank(columns - columns.mean(axis=1, keepdims=True))
    demand(
        rank == len(found) - 1,
        f"guesses settle at {len(found)} vectors that span {rank} directions: means "
        "or transitions are not independent (Assumption 8)",
    )
    return columns


def _scores(
    guess: Guess, columns: FloatArray, off: float, random: np.random.Generator
) -> tuple[FloatArray, FloatArray, float]:
    """``(d, k)`` and ``(k,)``: what log φ_i − log φ_0 is, as an affine function.

    And how far such a logarithm may be off.

    Raises:
        Refused: If there are not enough points at which all states are likely.
    """
    dimension, size = columns.shape
    solve = np.linalg.pinv(np.vstack([columns, np.ones(size)]))

    def posterior(x: FloatArray) -> FloatArray:
        law: FloatArray = np.column_stack([guess(x), np.ones(len(x))]) @ solve.T
        return law

    centre, scale = np.zeros(dimension), 2.0**5
    least = SEEN / size
    while True:
        x = centre + scale * random.standard_normal((POINTS, dimension))
        law = posterior(x)
        lowest = law.min(axis=1)
        if (lowest >= least).sum() >= POINTS / 4:
            break
        centre, scale = x[int(lowest.argmax())], scale * 0.75
        demand(
            scale > 1 / FARTHEST, "no point was found at which all states are likely"
        )
    x, law = x[lowest >= least], law[lowest >= least]
    ratios = np.log(law) - np.log(law[:, :1])
    known = np.column_stack([x, np.ones(len(x))])
    affine = np.linalg.lstsq(known, ratios, rcond=None)[0]
    astray = np.abs(known @ affine - ratios).max()
    # An error of φ is that of a guess, times the norm of what solves for φ.
    near = max(NEAR, 4 * float(np.linalg.norm(solve, 2)) * off / least)
    demand(
        astray <= near,
        f"logarithms of the posterior are not affine, but off by {astray:.2g}: this is no "
        "model of points with unit covariance",
    )
    return affine[:-1], affine[-1], near


def _means(
    columns: FloatArray, differences: FloatArray, biases: FloatArray
) -> FloatArray:
    """``(d, k)``: M, from μ_i − μ_0 and (‖μ_0‖² − ‖μ_i‖²)/2.

    μ_0 is known along the differences; beside them it is as far as every column of MT.
    """
    apart = differences[:, 1:]
    along = -biases[1:] - (apart**2).sum(axis=0) / 2
    inside = np.linalg.pinv(apart.T) @ along
    middle = columns.mean(axis=1)
    beside = middle - apart @ (np.linalg.pinv(apart) @ middle)
    found: FloatArray = differences + (inside + beside)[:, None]
    return found


def _transitions(means: FloatArray, columns: FloatArray, near: float) -> FloatArray:
    """``(k, k)``: T with MT = C, whose rows and columns add up to 1.

    Raises:
        Refused: If it is none, so that states are not equally likely.
    """
    ones = np.ones(means.shape[1])
    left, right = (np.vstack([x, ones]) for x in (means, columns))
    found = np.linalg.pinv(left) @ right
    low, off = float(found.min()), float(np.abs(found.sum(axis=1) - 1).max())
    demand(
        low >= -near and off <= near,
        f"transitions come out with an entry {low:.2g} and rows that add up to 1 ± "
        f"{off:.2g}: no model whose states are equally likely guesses this (Assumption 5)",
    )
    positive = np.maximum(found, 0)
    return np.asarray(positive / positive.sum(axis=0))
