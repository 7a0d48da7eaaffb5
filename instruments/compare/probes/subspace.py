"""Subspaces of a hidden state that may hold a variable, and the part that is needed."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from krohn.algebra.automaton import IntArray
from krohn.instruments.compare.models.network import Network
from krohn.instruments.compare.probes.exchange import (
    Cases,
    Pairs,
    Trial,
)
from krohn.instruments.compare.probes.scores import (
    Classifier,
    Split,
    classifiers,
    inverse,
    places,
    whitening,
)
from krohn.instruments.compare.probes.variables import Variable
from krohn.network.forward_pass import evaluation_mode
from krohn.network.precision import FloatArray

# Subspaces of a hidden state that may hold a variable, and ones that need not.


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


# The part of a subspace that an exchange needs; the idle rest shows nothing.
#
# A subspace may hold a variable beside the directions that the layers above read. To
# exchange it then has the effect wanted, and the variable has no part in it.


AS_WELL = 0.02
"""Of balanced agreement: with a hundred cases, the smallest difference that shows."""

NO_SHARE = 1e-10
"""Of the largest eigenvalue; below it there is rounding."""


def needed_subspace(
    trial: Trial, pairs: Pairs, cases: Cases, basis: FloatArray
) -> FloatArray:
    """The smallest subspace, of the most read ones, whose exchange does as well.

    Directions are ordered by how much of the exchange's change the layers above read
    from them, once within the subspace and once in the whole state. A part of the state
    that is no larger than the subspace and does as well as it is all that was needed.

    Args:
        trial: The measure of how well a subspace does.
        pairs: Words by which directions are ordered.
        cases: The predictions for them.
        basis: ``(width, dimensions)`` orthonormal.
    """
    network, layer = trial.bench.network, trial.layer
    slopes, changes = _along(network, pairs, cases, layer, basis)
    anywhere = _read_most(slopes, changes)[: basis.shape[1]]
    inside = [basis @ part for part in _read_most(slopes @ basis, changes @ basis)]
    enough = trial(basis).mean_share - AS_WELL
    smallest_first = sorted([*anywhere, *inside], key=lambda part: part.shape[1])
    return next((p for p in smallest_first if trial(p).mean_share >= enough), basis)


def _read_most(slopes: FloatArray, changes: FloatArray) -> list[FloatArray]:
    """Orthonormal bases of 1, 2, … directions, the directions of most change first.

    The changes have unit covariance in other coordinates: there the slopes' leading
    directions count.
    """
    sizes, axes = np.linalg.eigh(changes.T @ changes / len(changes))
    kept = sizes > NO_SHARE * max(sizes.max(initial=0), np.finfo(np.float64).tiny)
    root = axes[:, kept] * np.sqrt(sizes[kept])
    shares, leading = np.linalg.eigh((slopes @ root).T @ (slopes @ root))
    read = leading[:, shares > NO_SHARE * shares.max(initial=0)][:, ::-1]
    directions = (axes[:, kept] / np.sqrt(sizes[kept])) @ read
    return [orthonormal(directions[:, :j]) for j in range(1, directions.shape[1] + 1)]


def _along(
    network: Network, pairs: Pairs, cases: Cases, layer: int, basis: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Slopes of the loss part of the way to the source, and the way; ``(rows, width)``.

    Somewhere on the way of each pair, as a network that rounds is flat at both ends.
    """
    device = next(network.parameters()).device
    base, source = (torch.from_numpy(w).to(device) for w in (pairs.base, pairs.source))
    with evaluation_mode(network), torch.no_grad():
        first, second = (network.inside(w).hidden[layer] for w in (base, source))
    where = torch.from_numpy(pairs.where).to(device)[..., None]
    projector = torch.from_numpy(basis @ basis.T).to(first)
    share = torch.linspace(0, 1, len(pairs) + 2)[1:-1, None, None].to(first)
    way = where * (second - first)
    at = (first + share * (way @ projector)).requires_grad_()
    slope = torch.autograd.grad(_loss(network, base, cases, layer, at), at)[0]
    return _rows(slope), _rows(way)


def _loss(
    network: Network, base: Tensor, cases: Cases, layer: int, at: Tensor
) -> Tensor:
    """The loss of the answers that change, if a layer gives the tensor ``at``."""
    handle = network.layers()[layer].register_forward_hook(lambda *_: at)
    try:
        with evaluation_mode(network), torch.backends.cudnn.flags(enabled=False):
            logits = network(base)
    finally:
        handle.remove()
    changing = torch.from_numpy(cases.changing).to(base.device)
    wanted = torch.from_numpy(cases.predicted).to(base.device)
    return F.cross_entropy(logits[changing], wanted[changing], reduction="sum")


def _rows(states: Tensor) -> FloatArray:
    return np.asarray(states.flatten(0, 1).double().cpu().numpy())
