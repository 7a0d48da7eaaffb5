"""The part of a subspace that an exchange needs; the idle rest shows nothing.

A subspace may hold a variable beside the directions that the layers above read. To
exchange it then has the effect wanted, and the variable has no part in it.
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from krohn.compare.models.network import Network
from krohn.compare.probes.agreement import Cases
from krohn.compare.probes.exchange_setup import Trial
from krohn.compare.probes.pairs import Pairs
from krohn.compare.probes.subspace import orthonormal
from krohn.network.evaluation_mode import evaluation_mode
from krohn.network.precision import FloatArray

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
