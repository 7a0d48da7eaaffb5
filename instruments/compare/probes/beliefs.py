"""Probes of beliefs, states and letters after each layer.

Linear probes as in `scores`: of the belief (R² of least squares), of
the likeliest state and of the letters read 0, 1, 2, … places before (classifiers).
"""

from dataclasses import dataclass

import numpy as np
import torch

from krohn.algebra.automaton import IntArray
from krohn.instruments.compare.models.network import Network
from krohn.instruments.compare.probes.scores import (
    Whitening,
    classifiers,
    r_squared,
    whitening,
)
from krohn.instruments.compare.tasks.beliefs import BeliefTask
from krohn.network.precision import FloatArray

SPLITS = (200, 100, 100)
"""Words that probes are fitted on, that choose between two fits, and that test them."""
BACK = 4
"""So many letters are read, the latest one among them."""
SHUFFLED = 64


@dataclass(frozen=True)
class LayerProbe:
    """The accuracy of probes after a layer, on words that nothing was fitted on.

    Attributes:
        belief: R² over all numbers of the belief.
        state: The share of positions at which the likeliest state is read.
        letters: The share at which the letter 0, 1, … places before is read.
    """

    belief: float
    state: float
    letters: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Words:
    """Positions of words that have so many letters before them, one after the other."""

    states: tuple[FloatArray, ...]
    beliefs: FloatArray
    classes: tuple[IntArray, ...]


def layer_probes(
    network: Network, task: BeliefTask, length: int, seed: int
) -> tuple[LayerProbe, ...]:
    """Probes after the embedding and after each layer of a network.

    Args:
        network: In evaluation mode.
        task: The task of the words; beliefs are of its source, whatever it asks for.
        length: Length of the words.
        seed: Seed of the words.
    """
    asked = BeliefTask(task.source)
    rng = np.random.default_rng(seed)
    back = min(BACK, length)
    fitted, chosen, tested = (
        words_with_states(network, asked, rng, count, length, back) for count in SPLITS
    )
    results = []
    for layer in range(len(fitted.states)):
        white = whitening(fitted.states[layer])
        train, choose, test = (white(w.states[layer]) for w in (fitted, chosen, tested))
        probes = classifiers(train, fitted.classes, (choose, chosen.classes))
        shares = [
            float((probe(test) == right).mean())
            for probe, right in zip(probes, tested.classes, strict=True)
        ]
        r2 = _mean_r_squared(train, fitted.beliefs, test, tested.beliefs)
        results.append(LayerProbe(r2, shares[0], tuple(shares[1:])))
    return tuple(results)


def _mean_r_squared(
    train: FloatArray, beliefs: FloatArray, test: FloatArray, right: FloatArray
) -> float:
    """R² over all numbers, each weighted by its variance; 1 if nothing varies."""
    weights = right.var(axis=0)
    if not weights.sum():
        return 1.0
    each = [
        r_squared(train, beliefs[:, i], (test, right[:, i]))
        for i in range(beliefs.shape[1])
    ]
    return float(np.dot(weights, each) / weights.sum())


def words_with_states(
    network: Network,
    task: BeliefTask,
    rng: np.random.Generator,
    count: int,
    length: int,
    back: int,
) -> Words:
    """Fresh words, from the place on that has ``back`` letters up to it."""
    batch = task.batch(rng, count, length)
    with torch.no_grad():
        device = next(network.parameters()).device
        inside = network.inside(torch.tensor(batch.letters).to(device))
    kept = slice(back - 1, None)
    states = tuple(_flat(h[:, kept].double().cpu().numpy()) for h in inside.hidden)
    beliefs = _flat(batch.truth[:, kept])
    letters = [batch.letters[:, back - 1 - k : length - k].ravel() for k in range(back)]
    return Words(states, beliefs, (beliefs.argmax(axis=1), *letters))


def _flat(values: FloatArray) -> FloatArray:
    return values.reshape(-1, values.shape[-1])


def read_beliefs(
    network: Network, task: BeliefTask, length: int, seed: int, layer: int = -1
) -> tuple[FloatArray, FloatArray]:
    """The beliefs of fresh words, and their estimates by least squares after a layer.

    Returns:
        ``(positions, states)`` exact, and as estimated.
    """
    asked = BeliefTask(task.source)
    rng = np.random.default_rng(seed)
    fitted, tested = (
        words_with_states(network, asked, rng, count, length, 1)
        for count in (SPLITS[0] + SPLITS[1], SPLITS[2])
    )
    white: Whitening = whitening(fitted.states[layer])
    train, test = white(fitted.states[layer]), white(tested.states[layer])
    mean = fitted.beliefs.mean(axis=0)
    estimated = test @ (train.T @ (fitted.beliefs - mean) / len(train)) + mean
    return tested.beliefs, estimated


def attention_moved(
    network: Network, task: BeliefTask, length: int, seed: int
) -> tuple[float, ...]:
    """How far the weights of attention of each layer move if letters are shuffled.

    For each word the letters are put into another order. It is the mean total variation
    between the weights that a place gives to the places before, then and now: 0 where a
    head looks at places whatever stands there, as heads of a scan do.

    Returns:
        One number for each layer with heads; none for networks without attention.
    """
    rng = np.random.default_rng(seed)
    words = task.batch(rng, SHUFFLED, length).letters
    device = next(network.parameters()).device
    with torch.no_grad():
        before, after = (
            network.inside(torch.tensor(w).to(device)).attention
            for w in (words, rng.permuted(words, axis=1))
        )
    return tuple(
        float((a - b).abs().sum(dim=-1).mean()) / 2
        for a, b in zip(before, after, strict=True)
        if a.shape[1]
    )
