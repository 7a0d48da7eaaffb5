"""The causal test: does a network use a variable that it holds as a Program does?

Interchange interventions (Geiger et al., 2021): run a network on a base word, but with
the part of a layer's state that holds a variable taken from a source word. If the network
uses the variable there, it answers as the derived network's Program does when its channel
has the source's values. docs/which-algorithm.md says what this shows and what not.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from krohn.algebra.automaton import IntArray
from krohn.instruments.compare.models.network import Network
from krohn.instruments.compare.probes.exchange import (
    Agreement,
    Cases,
    Pairs,
    ProbedNetwork,
    Trial,
    exchange,
)
from krohn.instruments.compare.probes.scores import Split
from krohn.instruments.compare.probes.subspace import (
    between_means,
    needed_subspace,
    read_by_probe,
    reading,
    uniform,
    varying,
)
from krohn.instruments.compare.probes.variables import (
    Variable,
    VariableLocation,
    one_per_program,
)
from krohn.network.forward_pass import evaluation_mode
from krohn.network.precision import FloatArray

FEWEST = 50
"""Of changing cases: with fewer, a share has a standard error of up to 7 %."""

HOMES = 4
"""Derived networks that are compared with and predict different answers, small first."""
STEPS = 80
BATCH = 32
RATE = 0.02
"""A step of Adam moves each entry of a basis, of size 1/√width, by about this much."""


@dataclass(frozen=True)
class Interchange:
    """The effect of exchanging a variable at a layer, on words that decided nothing before.

    Attributes:
        construction: The derived network that it is compared with.
        layer: Index into ``hidden``; 0 is the embedding.
        dimensions: Of the subspace.
        subspace: How it was found: ``"probe"``, ``"means"`` or ``"search"``.
        carried: Accuracy of a probe for the variable that sees that part of the subspace
            alone which the exchange needs, and where it is.
        cases: In how many the Program's answer changes.
        decisive: In how many of these it is neither the base's nor the source's.
        found: The effect of the exchange.
        random: The effect in the best of five random subspaces of the same dimension.
        varying: The effect if their directions are drawn as the states vary.
        answer: The effect in the subspace that serves best to exchange the answer; None
            where the variable is the answer.
        whole: The effect of exchanging the whole state.
    """

    construction: str
    layer: int
    dimensions: int
    subspace: str
    carried: float
    cases: int
    decisive: int
    found: Agreement
    random: Agreement
    varying: Agreement
    answer: Agreement | None
    whole: Agreement


@dataclass(frozen=True, eq=False)
class Aligned:
    """Where a layer seems to have a variable, and which derived network uses it so.

    Attributes:
        home: The derived network.
        subspace: How the subspace was found.
        basis: ``(width, dimensions)`` orthonormal.
        needed: The same of as few dimensions as do as well.
    """

    home: VariableLocation
    subspace: str
    basis: FloatArray
    needed: FloatArray


def best_subspace(
    bench: ProbedNetwork, v: Variable, layer: int, seed: int = 0
) -> Aligned | None:
    """The best subspace for a variable; None if no Program predicts the exchange.

    The candidates are the subspace that the probe reads, the one between means, and one
    that a search finds from the better of these; chosen on words of their own.

    Args:
        bench: The network and its words.
        v: A variable with few enough values to be told apart.
        layer: Index into ``hidden``.
        seed: Draws pairs.
    """
    rng = np.random.default_rng(seed)
    states, parts = bench.states[layer], bench.parts
    probe = read_by_probe(states, v, parts)
    bases = {"probe": probe}
    bases["means"] = between_means(states, v, parts, probe.shape[1])
    homes = _homes(bench, v, bench.pairs(parts.choose, rng), layer)
    if not homes:
        return None
    home, trial = max(homes, key=lambda found: found[1].best(bases)[1])
    start, _ = trial.best(bases)
    fitted = bench.pairs(parts.fit, rng)
    cases = bench.cases(home, fitted)
    bases["search"] = search_subspace(
        bench.network, fitted, cases, layer, bases[start], rng
    )
    kind, _ = trial.best(bases)
    return Aligned(
        home, kind, bases[kind], needed_subspace(trial, fitted, cases, bases[kind])
    )


def interchange(
    bench: ProbedNetwork,
    v: Variable,
    layer: int,
    seed: int = 0,
    answer: Aligned | None = None,
) -> Interchange | None:
    """Exchange a variable at a layer; None if no Program predicts the exchange.

    Args:
        bench: The network and its words.
        v: A variable with few enough values to be told apart.
        layer: Index into ``hidden``.
        seed: Draws pairs and random subspaces.
        answer: The subspace of the answer there: exchanging it must not do as well.
    """
    alignment = best_subspace(bench, v, layer, seed)
    if alignment is None:
        return None
    rng = np.random.default_rng(seed + 1)
    pairs = bench.pairs(bench.parts.test, rng)
    trial = Trial(bench, layer, pairs, bench.cases(alignment.home, pairs))
    if not trial.cases.changing.any():
        return None
    states, words = bench.states[layer], bench.parts.test
    width, k = alignment.basis.shape
    return Interchange(
        alignment.home.construction,
        layer,
        k,
        alignment.subspace,
        reading(_needed_states(states, alignment, bench.parts), v, bench.parts),
        int(trial.cases.changing.sum()),
        int(trial.cases.decisive.sum()),
        trial(alignment.basis),
        trial.control(lambda: uniform(width, k, rng)),
        trial.control(lambda: varying(states, k, words, rng)),
        None if answer is None else trial(answer.basis),
        trial(np.eye(width)),
    )


def _needed_states(states: FloatArray, found: Aligned, parts: Split) -> FloatArray:
    """The states in the subspace that an exchange needs, beside their mean at each place.

    Both words of a pair share the place, so that no exchange needs to bring it along.
    """
    usual = states[parts.fit].mean(axis=0, dtype=np.float64) @ found.basis
    place = np.broadcast_to(usual, (len(states), *usual.shape))
    return np.concatenate([states @ found.needed, place], axis=2)


def _homes(
    bench: ProbedNetwork, v: Variable, pairs: Pairs, layer: int
) -> list[tuple[VariableLocation, Trial]]:
    """The derived networks that say different things, and enough of them."""
    by_prediction: dict[bytes, tuple[VariableLocation, Trial]] = {}
    for home in (*one_per_program(v.homes), *v.homes):
        cases = bench.cases(home, pairs)
        if len(by_prediction) < HOMES and cases.changing.sum() >= FEWEST:
            key = cases.predicted.tobytes()
            by_prediction.setdefault(key, (home, Trial(bench, layer, pairs, cases)))
    return list(by_prediction.values())


def search_subspace(
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
            logits = exchange(network, pairs.some(some), layer, basis, device)
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
