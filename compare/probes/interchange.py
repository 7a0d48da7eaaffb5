"""The causal test: does a network use a variable that it holds as a Program does?

Interchange interventions (Geiger et al., 2021): run a network on a base word, but with
the part of a layer's state that holds a variable taken from a source word. If the network
uses the variable there, it answers as the derived network's Program does when its channel
has the source's values. See docs/which-algorithm.md for what this shows and what not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from algebra.semiautomaton import IntArray
from compare.models.network import Network
from compare.probes.agreement import Agreement, Cases, agreement, cases_of
from compare.probes.exchange import answers
from compare.probes.hidden import hidden
from compare.probes.pairs import Pairs, Positions, counterfactual, paired
from compare.probes.scores import Split
from compare.probes.search import searched
from compare.probes.subspace import between_means, read_by_probe, uniform, varying
from compare.probes.variable import Home, Variable, joined
from compare.tasks.task import Batch, Task
from network.precision import FloatArray

PAIRS = 128
"""With words of 32 letters 4,096 positions, of which a tenth or more usually change."""

FEWEST = 50
"""Of changing cases: with fewer, a share has a standard error of up to 7 %."""

HOMES = 4
"""Derived networks that are compared with and predict different answers, small first."""

RANDOMS = 5
"""Random subspaces of each kind, of which the one that does best is the control."""


@dataclass(frozen=True)
class Interchange:
    """What exchanging a variable at a layer does, on words that decided nothing before.

    Attributes:
        construction: The derived network that it is compared with.
        layer: Index into ``hidden``; 0 is the embedding.
        dimensions: Of the subspace.
        subspace: How it was found: ``"probe"``, ``"means"`` or ``"search"``.
        cases: In how many the Program's answer changes.
        decisive: In how many of these it is neither the base's nor the source's.
        found: What the exchange does.
        random: The same in the best of five random subspaces of the same dimension.
        varying: The same if their directions are drawn as the states vary.
        whole: The same of the whole state.
    """

    construction: str
    layer: int
    dimensions: int
    subspace: str
    cases: int
    decisive: int
    found: Agreement
    random: Agreement
    varying: Agreement
    whole: Agreement


@dataclass(frozen=True, eq=False)
class Bench:
    """A network with words to test it on.

    Attributes:
        network: What is intervened in.
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
        return paired(self.words, among, PAIRS, rng, self.positions)

    def cases(self, home: Home, pairs: Pairs) -> Cases:
        """What a derived network says should happen to pairs."""
        first, second = pairs.first, pairs.second
        labels = self.labels.labels
        return cases_of(
            counterfactual(home, pairs),
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

    bench: Bench
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
        return max(found, key=lambda random: random.balanced)

    def best(self, bases: Mapping[str, FloatArray]) -> tuple[str, float]:
        """The name of the subspace that does best, and how well."""
        does = {name: self(basis).balanced for name, basis in bases.items()}
        name = max(does, key=lambda n: does[n])
        return name, does[name]


def bench_of(
    network: Network,
    task: Task,
    words: IntArray,
    parts: Split,
    positions: Positions = "all",
) -> Bench:
    """A network with its states and answers on words ``(count, length)``."""
    states, said = hidden(network, words)
    return Bench(network, words, task.label(words), states, said, parts, positions)


def interchange(
    bench: Bench, v: Variable, layer: int, seed: int = 0
) -> Interchange | None:
    """Exchange a variable at a layer; None if no Program says what should happen.

    The subspace, and which derived network to compare with, are chosen on words of their
    own; what is reported comes from others.

    Args:
        bench: The network and its words.
        v: A variable with few enough values to be told apart.
        layer: Index into ``hidden``.
        seed: Draws pairs and random subspaces.
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
    bases["search"] = searched(
        bench.network, fitted, bench.cases(home, fitted), layer, bases[start], rng
    )
    kind, _ = trial.best(bases)
    tested = bench.pairs(parts.test, rng)
    final = Trial(bench, layer, tested, bench.cases(home, tested))
    return _reported(final, home, kind, bases[kind], rng)


def _homes(
    bench: Bench, v: Variable, pairs: Pairs, layer: int
) -> list[tuple[Home, Trial]]:
    """The derived networks that say different things, and enough of them."""
    found: dict[bytes, tuple[Home, Trial]] = {}
    for home in (*joined(v.homes), *v.homes):
        cases = bench.cases(home, pairs)
        if len(found) < HOMES and cases.changing.sum() >= FEWEST:
            key = cases.predicted.tobytes()
            found.setdefault(key, (home, Trial(bench, layer, pairs, cases)))
    return list(found.values())


def _reported(
    trial: Trial, home: Home, kind: str, basis: FloatArray, rng: np.random.Generator
) -> Interchange | None:
    states = trial.bench.states[trial.layer]
    if not trial.cases.changing.any():
        return None
    words, width = trial.bench.parts.test, states.shape[2]
    k = basis.shape[1]
    return Interchange(
        home.construction,
        trial.layer,
        k,
        kind,
        int(trial.cases.changing.sum()),
        int(trial.cases.decisive.sum()),
        trial(basis),
        trial.control(lambda: uniform(width, k, rng)),
        trial.control(lambda: varying(states, k, words, rng)),
        trial(np.eye(width)),
    )
