"""How well every variable can be read at every layer, by linear probes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from zlib import crc32

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray
from krohn.instruments.compare.probes.variables import Variable
from krohn.network.precision import FloatArray

# Linear probes: which values can be read from a hidden state by affine functions?
#
# Alain and Bengio (2017) train a linear classifier on the states of each layer. A probe
# here is the better, on words of its own, of two such classifiers: linear discriminants,
# which are exact where a value is stored without noise, and logistic regression. Both are
# fitted in coordinates in which the states have the unit matrix for their covariance, for
# all variables at once.


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
    best = []
    logistic = logistics(states, columns, sizes)
    for column, size, second, right in zip(
        columns, sizes, logistic, expected, strict=True
    ):
        both = (discriminants(states, column, size), second)
        best.append(max(both, key=lambda probe: float((probe(fresh) == right).mean())))
    return best


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
        shares = _shares(features @ ahead, spans)
        after = ahead + 2 / len(states) * (features.T @ (target - shares))
        faster = (1 + sqrt(1 + 4 * pace**2)) / 2
        ahead = after + (pace - 1) / faster * (after - weights)
        weights, pace = after, faster
    solution = weights.astype(np.float64)
    return [Classifier(solution[:-1, a:b], solution[-1, a:b]) for a, b in spans]


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
    estimates = fresh @ (states.T @ (numbers - mean) / len(states)) + mean
    spread = ((expected - expected.mean()) ** 2).sum()
    return float(1 - ((expected - estimates) ** 2).sum() / spread) if spread else 0.0


# How well every variable can be read at every layer, beside baselines.


POSITIONS = 80
"""So many for each dimension fit the probes, and `FEWEST` at least."""

FEWEST = 5000
"""So that frequent values of small networks occur hundreds of times."""

ITEMS = 4
"""For each dimension: of random labels in two classes, a linear function can fit two for
each dimension (Cover, 1965), so half of the items at most are known by heart."""


@dataclass(frozen=True)
class Split:
    """Which words fit probes, choose between them, and test them.

    Attributes:
        fit: Word indices.
        choose: Others.
        test: Others still; nothing is decided by them.
    """

    fit: IntArray
    choose: IntArray
    test: IntArray


@dataclass(frozen=True)
class Score:
    """How well one variable can be read at one layer; all on held-out words.

    Attributes:
        accuracy: Of the probe; None if the values are too many to be told apart.
        error: Its standard error, from the spread over words.
        majority: Accuracy of the most frequent value.
        control: Accuracy of a probe of the same shape for a control task: values, as
            frequent as the variable's, that are drawn at random for each window
            of letters (Hewitt and Liang, 2019).
        explained: R² of a linear regression; None if the values have no order.
    """

    accuracy: float | None
    error: float | None
    majority: float | None
    control: float | None
    explained: float | None


def split(words: int, rng: np.random.Generator) -> Split:
    """Half of the words to fit, a sixth to choose, a third to test."""
    order = rng.permutation(words)
    first, second = words // 2, 2 * words // 3
    return Split(order[:first], order[first:second], order[second:])


def control(shares: tuple[float, ...], words: IntArray, width: int) -> IntArray:
    """A control task: a value for each window of the last letters, at random.

    What a probe makes of it, it has learned by heart. Windows are as short as leaves
    `ITEMS` of them for each dimension. (Pairs of letter and position, the analogue of
    word types, are too few: a probe of 64 dimensions knows all 64 pairs of two letters
    and 32 positions by heart, at every layer of an untrained network.)

    Args:
        shares: How often each value is drawn.
        words: ``(count, length)``.
        width: Of the hidden state.
    """
    letters = int(words.max(initial=1)) + 1
    span = 1
    while letters**span < ITEMS * width:
        span += 1
    window = np.zeros_like(words)
    for back in range(min(span, words.shape[1])):
        digit = np.full_like(words, letters)
        digit[:, back:] = words[:, : words.shape[1] - back]
        window = window * (letters + 1) + digit
    rng = np.random.default_rng(crc32(repr(shares).encode()))
    p = np.array(shares) / sum(shares)
    items, index = np.unique(window, return_inverse=True)
    values = rng.choice(len(shares), size=len(items), p=p)
    return np.asarray(values[index].reshape(words.shape))


def shares_of(v: Variable) -> tuple[float, ...]:
    """How often a variable has its values, most frequent first.

    Rounded up to hundredths: variables that are alike in this share a control task.
    """
    counts = np.sort(np.bincount(v.classes.ravel()))[::-1]
    return tuple((np.ceil(100 * counts / counts.sum()) / 100).tolist())


def score(
    states: FloatArray,
    variables: Sequence[Variable],
    words: IntArray,
    parts: Split,
    seed: int = 0,
) -> list[Score]:
    """Scores of variables at one layer.

    Args:
        states: ``(count, length, width)`` hidden states.
        variables: The variables to look for.
        words: ``(count, length)``, the words of the states and variables.
        parts: Which words serve what.
        seed: Draws the positions to fit on.
    """
    at = places(parts.fit, states, seed)
    white = whitening(states[at])
    fitted, chosen, tested = (
        white(states[words_or_places].reshape(-1, states.shape[2]))
        for words_or_places in (at, parts.choose, parts.test)
    )
    apart = [v for v in variables if v.told_apart]
    alike = {shares_of(v): control(shares_of(v), words, states.shape[2]) for v in apart}
    columns = [*(v.classes for v in apart), *alike.values()]
    fresh = [c[parts.choose].ravel() for c in columns]
    probes = classifiers(fitted, [c[at] for c in columns], (chosen, fresh))
    right = [
        (probe(tested) == c[parts.test].ravel()).reshape(len(parts.test), -1).mean(1)
        for probe, c in zip(probes, columns, strict=True)
    ]
    read = dict(zip(map(id, apart), right, strict=False))
    controls = dict(zip(alike, right[len(apart) :], strict=True))
    return [
        Score(
            *_of_classes(v, read.get(id(v)), controls.get(shares_of(v)), parts),
            _of_numbers(v, (fitted, tested), at, parts),
        )
        for v in variables
    ]


def places(
    chosen: IntArray, states: FloatArray, seed: int
) -> tuple[IntArray, IntArray]:
    """Words and positions to fit on, drawn without repetition if there are too many.

    Args:
        chosen: Word indices.
        states: ``(count, length, width)``.
        seed: Draws them.
    """
    _, length, width = states.shape
    flat = len(chosen) * length
    most = max(FEWEST, POSITIONS * width)
    drawn = np.arange(flat)
    if flat > most:
        drawn = np.random.default_rng(seed).choice(flat, most, replace=False)
    return chosen[drawn // length], drawn % length


def _of_classes(
    v: Variable, by_word: FloatArray | None, controlled: FloatArray | None, parts: Split
) -> tuple[float | None, float | None, float | None, float | None]:
    """The probe's accuracy and error; the most frequent value's, and the control's."""
    if by_word is None or controlled is None:
        return None, None, None, None
    error = by_word.std(ddof=1) / np.sqrt(len(by_word)) if len(by_word) > 1 else 0.0
    most = np.bincount(v.classes[parts.fit].ravel()).argmax()
    majority = (v.classes[parts.test] == most).mean()
    return (
        float(by_word.mean()),
        float(error),
        float(majority),
        float(controlled.mean()),
    )


def _of_numbers(
    v: Variable,
    states: tuple[FloatArray, FloatArray],
    at: tuple[IntArray, IntArray],
    parts: Split,
) -> float | None:
    if v.numbers is None:
        return None
    fitted, tested = states
    return r_squared(
        fitted,
        v.numbers[at].astype(np.float64),
        (tested, v.numbers[parts.test].ravel().astype(np.float64)),
    )
