"""Interchange interventions: pairs of words, hidden states, and what is answered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models.network import Network
from krohn.instruments.compare.probes.scores import Split
from krohn.instruments.compare.probes.variables import VariableLocation
from krohn.instruments.compare.tasks.task import (
    Batch,
    BoolArray,
    Task,
)
from krohn.network.forward_pass import evaluation_mode
from krohn.network.precision import FloatArray
from krohn.program.errors import Refused
from krohn.program.interpreter import Held, interpret, states

# The hidden states of a network after the embedding and each layer, on given words.


WORDS_AT_ONCE = 128
"""Of a pass; 128 words of 100 letters through 16 layers of width 512 are 420 MB."""


def hidden_states(
    network: Network, words: IntArray
) -> tuple[list[FloatArray], IntArray]:
    """Hidden states by layer, and answers, without dropout.

    Args:
        network: The network to look into.
        words: ``(count, length)`` letter indices.

    Returns:
        For each layer ``(count, length, width)`` in float32, or float64 if the network
        is, and ``(count, length)`` the classes that the largest logits choose.
    """
    parts: list[list[FloatArray]] = []
    choices: list[IntArray] = []
    device = next(network.parameters()).device
    with evaluation_mode(network), torch.no_grad():
        for some in torch.split(torch.from_numpy(words), WORDS_AT_ONCE):
            seen = network.inside(some.to(device))
            parts.append([_numbers(h) for h in seen.hidden])
            choices.append(seen.logits.argmax(dim=-1).cpu().numpy())
    return [
        np.concatenate(layer) for layer in zip(*parts, strict=True)
    ], np.concatenate(choices)


def _numbers(states: Tensor) -> FloatArray:
    wide = states if states.dtype.itemsize >= 4 else states.float()
    return np.asarray(wide.cpu().numpy())


# Pairs of words for interchange interventions, with a Program's predictions.


Positions = Literal["all", "one"]
UNDEFINED = -1


@dataclass(frozen=True, eq=False)
class Pairs:
    """Base words, source words, and where a variable of the base becomes the source's.

    Attributes:
        words: ``(words, length)`` letter indices.
        first: ``(count,)`` which word is the base.
        second: ``(count,)`` which is the source.
        where: ``(count, length)``.
    """

    words: IntArray
    first: IntArray
    second: IntArray
    where: BoolArray

    @property
    def base(self) -> IntArray:
        """``(count, length)``."""
        return np.asarray(self.words[self.first])

    @property
    def source(self) -> IntArray:
        """``(count, length)``."""
        return np.asarray(self.words[self.second])

    def __len__(self) -> int:
        return len(self.first)

    def some(self, chosen: IntArray | slice) -> "Pairs":
        """A few of them."""
        return Pairs(
            self.words, self.first[chosen], self.second[chosen], self.where[chosen]
        )


def draw_pairs(
    words: IntArray,
    among: IntArray,
    count: int,
    rng: np.random.Generator,
    positions: Positions = "all",
) -> Pairs:
    """Different words of a sample, two and two.

    Args:
        words: ``(words, length)``.
        among: Indices of the words to take, at least two.
        count: How many pairs.
        rng: Draws them.
        positions: ``"all"`` exchanges the variable all along the word, so that later
            readers read the same; ``"one"`` at one position that is drawn.
    """
    base = rng.integers(len(among), size=count)
    source = (base + rng.integers(1, len(among), size=count)) % len(among)
    where = np.ones((count, words.shape[1]), dtype=bool)
    if positions == "one":
        chosen = rng.integers(words.shape[1], size=(count, 1))
        where = np.arange(words.shape[1]) == chosen
    return Pairs(words, among[base], among[source], where)


def counterfactual(home: VariableLocation, pairs: Pairs) -> IntArray:
    """The answers of a derived network, ``(count, length)``, by running its Program.

    The channels of the variable have the values of the source where `pairs.where` says,
    and of the base elsewhere; all others are computed from the base word and these.
    `UNDEFINED` where the Program has no answer for such values.
    """
    try:
        return _answers(home, pairs)
    except Refused:  # a table without such a row, in one of the words at least
        each = (pairs.some(slice(i, i + 1)) for i in range(len(pairs)))
        return np.concatenate([_alone(home, pair) for pair in each])


def _answers(home: VariableLocation, pairs: Pairs) -> IntArray:
    base, source = (interpret(home.program, w) for w in (pairs.base, pairs.source))
    bos = np.zeros((len(pairs), 1), dtype=bool)
    where = np.concatenate([bos, pairs.where], axis=1)
    patches = {
        name: Held(np.where(where, source[name], base[name])) for name in home.channels
    }
    return states(home.program, pairs.base, patches)


def _alone(home: VariableLocation, pair: Pairs) -> IntArray:
    try:
        return _answers(home, pair)
    except Refused:
        return np.full_like(pair.base, UNDEFINED)


# How often a network, with something exchanged, answers as a Program says it would.


@dataclass(frozen=True, eq=False)
class Cases:
    """Positions of pairs that count.

    Attributes:
        predicted: ``(pairs, length)``: the Program's answers after the exchange.
        before: The network's answers on the base without it.
        other: Its answers on the source.
        counted: Where the network is right on both words, and the Program has an answer.
    """

    predicted: IntArray
    before: IntArray
    other: IntArray
    counted: BoolArray

    @property
    def changing(self) -> BoolArray:
        """Where the Program's answer changes: without an exchange, all are missed."""
        return np.asarray(self.counted & (self.predicted != self.before))

    @property
    def decisive(self) -> BoolArray:
        """Where it is neither the base's nor the source's: no whole state says this."""
        return np.asarray(self.changing & (self.predicted != self.other))

    @property
    def staying(self) -> BoolArray:
        """Where the Program's answer does not change."""
        return np.asarray(self.counted & (self.predicted == self.before))


@dataclass(frozen=True)
class Agreement:
    """How often a network answers as the Program says.

    Attributes:
        changed: Of the cases in which the Program's answer changes.
        error: The standard error of this, from the spread over pairs.
        kept: Of those in which it stays; 1 if there are none.
        decided: Of those in which it is neither word's; None if there are none.
    """

    changed: float
    error: float
    kept: float
    decided: float | None

    @property
    def mean_share(self) -> float:
        """The mean of both kinds of cases; by it, subspaces are chosen."""
        return (self.changed + self.kept) / 2


def agreement(cases: Cases, said: IntArray) -> Agreement:
    """The agreement of answers ``(pairs, length)`` with the predictions."""
    right = said == cases.predicted
    changed, error = _ratio(right, cases.changing)
    kept = float(right[cases.staying].mean()) if cases.staying.any() else 1.0
    decisive = cases.decisive
    decided = float(right[decisive].mean()) if decisive.any() else None
    return Agreement(changed, error, kept, decided)


def cases_of(
    predicted: IntArray,
    said: tuple[IntArray, IntArray],
    right: tuple[IntArray, IntArray],
    asked: BoolArray,
) -> Cases:
    """The cases of some pairs.

    Args:
        predicted: ``(pairs, length)`` by the Program, after the exchange.
        said: By the network of base and source as they are.
        right: The labels of both.
        asked: Where the answer counts.
    """
    known = (said[0] == right[0]) & (said[1] == right[1])
    return Cases(predicted, *said, asked & known & (predicted != UNDEFINED))


def _ratio(right: BoolArray, among: BoolArray) -> tuple[float, float]:
    """A share of cases, and its standard error if pairs, not cases, are independent."""
    hits, cases = (right & among).sum(axis=1), among.sum(axis=1)
    total, count = int(cases.sum()), int((cases > 0).sum())
    if not total:
        return 0.0, 0.0
    share = hits.sum() / total
    spread = ((hits - share * cases) ** 2).sum() * count / max(count - 1, 1)
    return float(share), float(np.sqrt(spread) / total)


# Running a network on one word with a part of its hidden state from another one.


def exchange(
    network: Network, pairs: Pairs, layer: int, basis: Tensor, device: torch.device
) -> Tensor:
    """Logits ``(count, length, classes)`` for base words, with a part of the source.

    At the positions of `pairs.where`, the component of the base's output of `layer` in a
    subspace is replaced by the source's; everything after it is run.

    Args:
        network: In evaluation mode.
        pairs: The words.
        layer: Index into ``hidden``: 0 is the embedding.
        basis: ``(width, dimensions)`` orthonormal; gradients flow through it.
        device: Where the network is.

    Raises:
        KrohnError: If the network has a scratchpad.
    """
    base, source = (torch.from_numpy(w).to(device) for w in (pairs.base, pairs.source))
    where = torch.from_numpy(pairs.where).to(device)[..., None]
    with torch.no_grad():
        other = network.inside(source).hidden[layer]
    projector = (basis @ basis.T).to(other)

    def swap(module: object, arguments: object, states: Tensor) -> Tensor:
        if states.shape != other.shape:
            raise KrohnError(
                "hidden states can be exchanged only in networks that read all words in "
                "one pass, letter by letter; one with a scratchpad does not"
            )
        return states + where * ((other - states) @ projector)

    handle = network.layers()[layer].register_forward_hook(swap)
    try:
        logits: Tensor = network(base)
    finally:
        handle.remove()
    return logits


def answers(network: Network, pairs: Pairs, layer: int, basis: FloatArray) -> IntArray:
    """The classes ``(count, length)`` that the largest of these logits choose."""
    device = next(network.parameters()).device
    choices = []
    with evaluation_mode(network), torch.no_grad():
        for start in range(0, len(pairs), WORDS_AT_ONCE):
            part = pairs.some(slice(start, start + WORDS_AT_ONCE))
            logits = exchange(network, part, layer, torch.from_numpy(basis), device)
            choices.append(logits.argmax(dim=-1).cpu().numpy())
    return np.concatenate(choices)


# Pairs of words and hidden states, prepared for interchange interventions.


PAIRS = 128
"""With words of 32 letters 4,096 positions, of which a tenth or more usually change."""

RANDOMS = 5
"""Random subspaces of each kind, of which the one that does best is the control."""


@dataclass(frozen=True, eq=False)
class ProbedNetwork:
    """A network with words to test it on.

    Attributes:
        network: The network for interventions.
        words: ``(count, length)``.
        labels: Their labels, and where they are asked for.
        states: By layer, ``(count, length, width)``.
        said: ``(count, length)`` its answers as it is.
        parts: Which words serve what.
        positions: Where variables are exchanged.
    """

    network: Network
    words: IntArray
    labels: Batch
    states: Sequence[FloatArray]
    said: IntArray
    parts: Split
    positions: Positions = "all"

    def pairs(self, among: IntArray, rng: np.random.Generator) -> Pairs:
        """Pairs of some of the words."""
        return draw_pairs(self.words, among, PAIRS, rng, self.positions)

    def cases(self, home: VariableLocation, pairs: Pairs) -> Cases:
        """The predictions of a derived network for an exchange in pairs of words.

        Answers that no word of the task has are left out: if only legal words are drawn,
        no network could learn to say that one is illegal.
        """
        first, second = pairs.first, pairs.second
        labels = self.labels.labels
        predicted = counterfactual(home, pairs)
        learnable = np.isin(predicted, labels[self.labels.asked])
        return cases_of(
            np.where(learnable, predicted, UNDEFINED),
            (self.said[first], self.said[second]),
            (labels[first], labels[second]),
            self.labels.asked[first],
        )


@dataclass(frozen=True, eq=False)
class Trial:
    """An exchange that can be tried with any subspace.

    Attributes:
        bench: The network and its words.
        layer: Where.
        pairs: The words that are paired.
        cases: What should happen.
    """

    bench: ProbedNetwork
    layer: int
    pairs: Pairs
    cases: Cases

    def __call__(self, basis: FloatArray) -> Agreement:
        """How well a subspace does."""
        choices = answers(self.bench.network, self.pairs, self.layer, basis)
        return agreement(self.cases, choices)

    def control(self, draw: Callable[[], FloatArray]) -> Agreement:
        """How well the best of a few random subspaces does."""
        agreements = [self(draw()) for _ in range(RANDOMS)]
        return max(agreements, key=lambda random: random.mean_share)

    def best(self, bases: Mapping[str, FloatArray]) -> tuple[str, float]:
        """The name of the subspace that does best, and how well."""
        does = {name: self(basis).mean_share for name, basis in bases.items()}
        name = max(does, key=lambda n: does[n])
        return name, does[name]


def probed_network(
    network: Network,
    task: Task,
    words: IntArray,
    parts: Split,
    positions: Positions = "all",
) -> ProbedNetwork:
    """A network with its states and answers on words ``(count, length)``."""
    states, choices = hidden_states(network, words)
    return ProbedNetwork(
        network, words, task.label(words), states, choices, parts, positions
    )
