"""Pairs of words and hidden states, prepared for interchange interventions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from krohn.algebra.semiautomaton import IntArray
from krohn.compare.models.network import Network
from krohn.compare.probes.agreement import Agreement, Cases, agreement, cases_of
from krohn.compare.probes.exchange import answers
from krohn.compare.probes.hidden import hidden_states
from krohn.compare.probes.pairs import (
    UNDEFINED,
    Pairs,
    Positions,
    counterfactual,
    draw_pairs,
)
from krohn.compare.probes.scores import Split
from krohn.compare.probes.variable import VariableLocation
from krohn.compare.tasks.task import Batch, Task
from krohn.network.precision import FloatArray

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
        said = answers(self.bench.network, self.pairs, self.layer, basis)
        return agreement(self.cases, said)

    def control(self, draw: Callable[[], FloatArray]) -> Agreement:
        """How well the best of a few random subspaces does."""
        found = [self(draw()) for _ in range(RANDOMS)]
        return max(found, key=lambda random: random.mean_share)

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
    states, said = hidden_states(network, words)
    return ProbedNetwork(
        network, words, task.label(words), states, said, parts, positions
    )
