"""Subspaces of a hidden state that may hold a variable, and ones that need not."""

import numpy as np

from krohn.algebra.semiautomaton import IntArray
from krohn.compare.probes.linear import Classifier, classifiers, inverse, whitening
from krohn.compare.probes.scores import Split, places
from krohn.compare.probes.variable import Variable
from krohn.network.precision import FloatArray

SEED = 0
"""Of the positions to fit on."""
LOST = 0.005
"""Accuracy that a probe may lose for a smaller subspace: an error in 200."""


def read_by_probe(states: FloatArray, v: Variable, parts: Split) -> FloatArray:
    """An orthonormal basis ``(width, dimensions)`` of what a probe needs to read.

    The probe's weights are cut down to their leading directions, as few as keep its
    accuracy on the words that choose: an integer in one dimension needs one, whatever
    the number of its values.

    Args:
        states: ``(count, length, width)`` hidden states of a layer.
        v: A variable with few enough values to be told apart.
        parts: Which words serve what.
    """
    at = places(parts.fit, states, SEED)
    white = whitening(states[at])
    fresh = white(states[parts.choose].reshape(-1, states.shape[2]))
    right = v.classes[parts.choose].ravel()
    probe = classifiers(white(states[at]), [v.classes[at]], (fresh, [right]))[0]
    share = np.bincount(v.classes[at], minlength=len(probe.biases)) / len(at[0])
    weights = probe.weights - probe.weights @ share[:, None]
    directions = np.linalg.svd(weights * np.sqrt(share), full_matrices=False)[0]
    wanted = (probe(fresh) == right).mean() - LOST
    for k in range(1, directions.shape[1] + 1):
        leading = directions[:, :k]
        fewer = Classifier(leading @ (leading.T @ weights), probe.biases)
        if (fewer(fresh) == right).mean() >= wanted:
            break
    return orthonormal(white.matrix @ leading)


def reading(states: FloatArray, v: Variable, parts: Split) -> float:
    """The accuracy, on the words that test, of a probe that sees ``states`` alone."""
    at = places(parts.fit, states, SEED)
    white = whitening(states[at])
    fresh, tested = (
        white(states[chosen].reshape(-1, states.shape[2]))
        for chosen in (parts.choose, parts.test)
    )
    right = v.classes[parts.choose].ravel()
    probe = classifiers(white(states[at]), [v.classes[at]], (fresh, [right]))[0]
    return float((probe(tested) == v.classes[parts.test].ravel()).mean())


def between_means(
    states: FloatArray, v: Variable, parts: Split, dimensions: int
) -> FloatArray:
    """An orthonormal basis of the directions along which the means of values differ.

    The mean of each position is taken off first, as both words of a pair share it.
    """
    at = places(parts.fit, states, SEED)
    usual = states[parts.fit].mean(axis=0, dtype=np.float64)
    centred = states[at] - usual[at[1]]
    belongs = v.classes[at][:, None] == np.arange(v.values)
    counts = belongs.sum(axis=0)
    means = (belongs.T @ centred) / np.maximum(counts, 1)[:, None]
    weighted = means.T * np.sqrt(counts)
    directions = np.linalg.svd(weighted, full_matrices=False)[0]
    return np.asarray(directions[:, :dimensions])


def uniform(width: int, dimensions: int, rng: np.random.Generator) -> FloatArray:
    """A random basis, any subspace alike: most of it is where states hardly vary."""
    return orthonormal(rng.normal(size=(width, dimensions)))


def varying(
    states: FloatArray, dimensions: int, words: IntArray, rng: np.random.Generator
) -> FloatArray:
    """A random basis whose directions have the covariance of the hidden states.

    Each dimension counts in units of its spread. Directions of large variance are drawn
    most, be it the variable's: a subspace that does no better has only found variance.

    Args:
        states: ``(count, length, width)``.
        dimensions: How many directions.
        words: The words whose states are mixed.
        rng: Draws them.
    """
    flat = states[words].reshape(-1, states.shape[2]).astype(np.float64)
    mean = flat.mean(axis=0)
    centred = (flat - mean) * inverse(flat.std(axis=0), mean)
    return orthonormal((rng.normal(size=(dimensions, len(flat))) @ centred).T)


def orthonormal(directions: FloatArray) -> FloatArray:
    """An orthonormal basis of the span of columns ``(width, dimensions)``."""
    sizes = np.linalg.norm(directions, axis=0)
    basis, triangle = np.linalg.qr(directions[:, sizes > 0] / sizes[sizes > 0])
    independent = np.abs(np.diag(triangle)) > np.finfo(np.float32).eps
    return np.asarray(basis[:, independent])
