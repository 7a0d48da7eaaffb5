"""Distributed alignment search: the subspace whose exchange does most of what it should."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from krohn.algebra.semiautomaton import IntArray
from krohn.compare.models.network import Network
from krohn.compare.probes.agreement import Cases
from krohn.compare.probes.exchange import exchanged
from krohn.compare.probes.pairs import Pairs
from krohn.network.evaluation_mode import evaluation_mode
from krohn.network.precision import FloatArray

STEPS = 80
BATCH = 32
RATE = 0.02
"""A step of Adam moves each entry of a basis, of size 1/√width, by about this much."""


def searched(
    network: Network,
    pairs: Pairs,
    cases: Cases,
    layer: int,
    start: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """An orthonormal basis ``(width, dimensions)`` found by gradient descent.

    After Geiger et al. (2024): the network stays as it is, the subspace turns so that
    answers become those that the Program predicts. Cases in which the prediction changes
    weigh as much as those in which it stays.

    Args:
        network: What is intervened in.
        pairs: Words, none of which tests the result.
        cases: What is predicted of them.
        layer: Where.
        start: The basis to begin with.
        rng: Draws batches.
    """
    device = next(network.parameters()).device
    free = torch.tensor(start, device=device, requires_grad=True)
    optimiser = torch.optim.Adam([free], lr=RATE)
    weights = _weights(cases)
    with evaluation_mode(network), torch.backends.cudnn.flags(enabled=False):
        for _ in range(STEPS):
            some = rng.choice(len(pairs), min(BATCH, len(pairs)), replace=False)
            basis = _basis(free)
            logits = exchanged(network, pairs.some(some), layer, basis, device)
            loss = _loss(logits, cases.predicted[some], weights[some])
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return np.asarray(_basis(free).detach().cpu().numpy())


def _basis(free: Tensor) -> Tensor:
    basis: Tensor = torch.linalg.qr(free)[0]
    return basis


def _weights(cases: Cases) -> FloatArray:
    changing, staying = cases.changing, cases.staying
    return np.asarray(
        changing / max(changing.sum(), 1) + staying / max(staying.sum(), 1)
    )


def _loss(logits: Tensor, predicted: IntArray, weights: FloatArray) -> Tensor:
    wanted = torch.from_numpy(np.maximum(predicted, 0)).to(logits.device)
    each = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none")
    given = torch.from_numpy(weights).to(each).flatten()
    return (each * given).sum() / given.sum().clamp_min(torch.finfo(each.dtype).tiny)
