"""Linear probes: which values can be read from a hidden state by affine functions?

Alain and Bengio (2017) train a linear classifier on the states of each layer. A probe
here is the better, on words of its own, of two such classifiers: linear discriminants,
which are exact where a value is stored without noise, and logistic regression. Both are
fitted in coordinates in which the states have the unit matrix for their covariance, for
all variables at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from krohn.algebra.semiautomaton import IntArray
from krohn.network.precision import FloatArray

Singles = npt.NDArray[np.float32]

NO_VARIANCE = 1e-10
"""Directions with a smaller share of the variance are left out: float32 rounds states by
2^-24 of their size, whose square, 4e-15, is far below; no weight makes it a signal."""

SHRINKAGE = 1e-6
"""Variance within classes that is taken for granted, as a share of the whole. Of K values
at equal distances, neighbours are 12/K² of the variance apart: 7e-4 for 128 values."""

ROUNDS = 40
"""Of accelerated gradient descent: the loss is within |W|²/41² of the loss of any W (Beck
and Teboulle, 2009, Theorem 4.4, whose proof asks of W nothing but that loss)."""


@dataclass(frozen=True)
class Whitening:
    """An affine map to coordinates of mean 0 and covariance 1.

    Attributes:
        mean: ``(width,)``.
        matrix: ``(width, rank)``.
    """

    mean: FloatArray
    matrix: FloatArray

    def __call__(self, states: FloatArray) -> FloatArray:
        """``(count, width)`` to ``(count, rank)``."""
        return np.asarray((states - self.mean) @ self.matrix)


@dataclass(frozen=True)
class Classifier:
    """Affine functions, the largest of which is the answer.

    Attributes:
        weights: ``(rank, classes)``, in whitened coordinates.
        biases: ``(classes,)``.
    """

    weights: FloatArray
    biases: FloatArray

    def __call__(self, states: FloatArray) -> IntArray:
        """The class of each whitened state ``(count, rank)``."""
        return np.asarray((states @ self.weights + self.biases).argmax(axis=1))


def whitening(states: FloatArray) -> Whitening:
    """The whitening of states ``(count, width)``; directions without variance go."""
    states = states.astype(np.float64)
    mean, spread = states.mean(axis=0), states.std(axis=0)
    scale = inverse(spread, mean)
    centred = (states - mean) * scale
    variances, directions = np.linalg.eigh(centred.T @ centred / len(states))
    kept = variances > NO_VARIANCE * max(variances.max(initial=0), 1)
    matrix = scale[:, None] * directions[:, kept] / np.sqrt(variances[kept])
    return Whitening(mean, matrix)


def inverse(spread: FloatArray, mean: FloatArray) -> FloatArray:
    """1/spread of each dimension; 0 where it is no more than the rounding of float32."""
    varies = spread > np.finfo(np.float32).eps * np.abs(mean)
    return np.divide(1, spread, where=varies, out=np.zeros_like(spread))


def classifiers(
    states: FloatArray,
    columns: Sequence[IntArray],
    chosen_on: tuple[FloatArray, Sequence[IntArray]],
) -> list[Classifier]:
    """The probe of each column of classes.

    Args:
        states: ``(count, rank)`` whitened states to fit on.
        columns: Classes ``(count,)``, for each probe.
        chosen_on: Other whitened states and classes, by which one of the two fits is
            taken.
    """
    fresh, expected = chosen_on
    sizes = [
        int(max(c.max(), e.max())) + 1 for c, e in zip(columns, expected, strict=True)
    ]
    found = []
    logistic = logistics(states, columns, sizes)
    for column, size, second, right in zip(
        columns, sizes, logistic, expected, strict=True
    ):
        both = (discriminants(states, column, size), second)
        found.append(max(both, key=lambda probe: float((probe(fresh) == right).mean())))
    return found


def discriminants(states: FloatArray, column: IntArray, size: int) -> Classifier:
    """Fisher's linear discriminants: the nearest mean, in units of the spread within.

    Args:
        states: ``(count, rank)`` whitened.
        column: ``(count,)`` classes.
        size: How many classes there are.
    """
    counts = np.bincount(column, minlength=size)
    belongs = (column[:, None] == np.arange(size)).astype(np.float64)
    means = belongs.T @ states / np.maximum(counts, 1)[:, None]
    share = counts / len(column)
    within = np.eye(states.shape[1]) - (means.T * share) @ means
    within[np.diag_indices_from(within)] += SHRINKAGE
    weights = np.linalg.solve(within, means.T)
    prior = np.log(np.maximum(share, 0.5 / len(column)))
    biases = prior - (means * weights.T).sum(axis=1) / 2
    biases[counts == 0] = -np.inf
    return Classifier(weights, biases)


def logistics(
    states: FloatArray, columns: Sequence[IntArray], sizes: Sequence[int]
) -> list[Classifier]:
    """Multinomial logistic regression of each column, all in step.

    The Hessian of the mean loss is at most half the second moments of the features
    (Böhning, 1992), which are the unit matrix here: so step 2 is safe, and Nesterov's
    momentum makes it fast.

    Args:
        states: ``(count, rank)`` whitened.
        columns: Classes ``(count,)``, for each probe.
        sizes: How many classes each has.
    """
    features = np.concatenate([states, np.ones((len(states), 1))], axis=1)
    features = features.astype(np.float32)
    ends = np.cumsum([0, *sizes])
    spans = list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
    target = np.zeros((len(states), int(ends[-1])), dtype=np.float32)
    for column, start in zip(columns, ends[:-1], strict=True):
        target[np.arange(len(states)), start + column] = 1
    weights = np.zeros((features.shape[1], int(ends[-1])), dtype=np.float32)
    ahead, pace = weights, 1.0
    for _ in range(ROUNDS):
        said = _shares(features @ ahead, spans)
        after = ahead + 2 / len(states) * (features.T @ (target - said))
        faster = (1 + sqrt(1 + 4 * pace**2)) / 2
        ahead = after + (pace - 1) / faster * (after - weights)
        weights, pace = after, faster
    found = weights.astype(np.float64)
    return [Classifier(found[:-1, a:b], found[-1, a:b]) for a, b in spans]


def _shares(logits: Singles, spans: Sequence[tuple[int, int]]) -> Singles:
    """The softmax of each span of columns, in place."""
    for start, stop in spans:
        part = logits[:, start:stop]
        part -= part.max(axis=1, keepdims=True)
        np.exp(part, out=part)
        part /= part.sum(axis=1, keepdims=True)
    return logits


def r_squared(
    states: FloatArray,
    numbers: FloatArray,
    tested_on: tuple[FloatArray, FloatArray],
) -> float:
    """R² of least squares on other states; below 0 if it is worse than their mean.

    Args:
        states: ``(count, rank)`` whitened states to fit on.
        numbers: ``(count,)``.
        tested_on: Other whitened states, and their numbers.
    """
    fresh, expected = tested_on
    mean = numbers.mean()
    said = fresh @ (states.T @ (numbers - mean) / len(states)) + mean
    spread = ((expected - expected.mean()) ** 2).sum()
    return float(1 - ((expected - said) ** 2).sum() / spread) if spread else 0.0
