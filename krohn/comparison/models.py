"""The models of a comparison: the compiled network, trained ones, and baselines."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from krohn.compare.measures.baselines import baselines
from krohn.compare.models import Network, cost, latencies
from krohn.compare.tasks.task import Task
from krohn.comparison.derived import Derived
from krohn.comparison.measured_model import MeasuredModel, MeasuredSeed
from krohn.comparison.measurements import first_failure, measure
from krohn.comparison.model_results import COMPILED, GPT, LSTM, MAJORITY, NGRAM, Size
from krohn.comparison.trained_networks import TrainedNetwork

TITLES = {GPT: "Transformer", LSTM: "LSTM"}
"""What trained networks are called, everywhere."""
BASELINES = {NGRAM: "n-gram", MAJORITY: "majority"}
"""Baselines that are shown, by what `krohn.compare.measures.baselines` calls them."""

MANY = 40_000
"""Words of the length of training, or as many letters, that a network is run on."""
OPERATIONS = 2e12
"""Multiplications and additions for all of them: two minutes on a busy core."""


def affordable(network: Network, length: int) -> float:
    """The share of the usual words that a network can be run on within `OPERATIONS`."""
    return min(1.0, OPERATIONS / (MANY * (cost(network, length).flops or 1)))


def measured_models(
    derived: Derived,
    trained: Sequence[TrainedNetwork],
    task: Task,
    length: int,
    share: float,
) -> tuple[MeasuredModel, ...]:
    """All models, the compiled one first.

    Args:
        derived: The compiled network.
        trained: The trained ones.
        task: What is asked of them.
        length: Of the words that are trained on.
        share: Of the usual number of words, those that the compiled one is run on.
    """
    return (
        _compiled(derived, task, length, share),
        *_trained(trained),
        *_baselines(task, length),
    )


def _compiled(derived: Derived, task: Task, length: int, share: float) -> MeasuredModel:
    """The compiled network, measured like the others and searched for failing words."""
    entry = MeasuredSeed(
        None,
        measure(derived.model, task, length, share),
        first_failure(derived.model, task, length, share),
    )
    proved = derived.proved
    about = (
        f"construction {proved.construction}, for words of up to {proved.length} "
        f"letters, {proved.dtype}"
    )
    return MeasuredModel(COMPILED, "compiled", about, (entry,))


def _trained(trained: Sequence[TrainedNetwork]) -> tuple[MeasuredModel, ...]:
    """The networks of each kind that were trained."""
    models = []
    for key, title in TITLES.items():
        group = [t for t in trained if t.key == key]
        if group:
            about = group[0].result.cell.architecture.description
            models.append(
                MeasuredModel(key, title, about, tuple(t.entry for t in group))
            )
    return tuple(models)


def _baselines(task: Task, length: int) -> tuple[MeasuredModel, ...]:
    """What needs no learning."""
    known = {b.name: b for b in baselines(task, np.random.default_rng(0), length)}
    return tuple(
        MeasuredModel(
            key,
            name,
            known[name].about,
            (MeasuredSeed(None, measure(known[name].model, task, length)),),
        )
        for key, name in BASELINES.items()
    )


def best(trained: Sequence[TrainedNetwork]) -> dict[str, TrainedNetwork]:
    """The network of each kind with most right answers; of equals, the first seed."""
    keys = dict.fromkeys(one.key for one in trained)
    return {k: max((t for t in trained if t.key == k), key=_right) for k in keys}


def _right(one: TrainedNetwork) -> float:
    return one.entry.measured.token.value


def opened(
    derived: Network, chosen: Mapping[str, TrainedNetwork], device: str
) -> dict[str, Network]:
    """The networks themselves, the compiled one first."""
    trained = {key: one.result.run(device).network for key, one in chosen.items()}
    return {COMPILED: derived.to(device), **trained}


def sized(
    models: Sequence[MeasuredModel], networks: Mapping[str, Network], length: int
) -> tuple[MeasuredModel, ...]:
    """The same with what their networks cost for a word, timed in turn."""
    taken, sizes = latencies(networks, length), {}
    for key, network in networks.items():
        found = cost(network, length)
        sizes[key] = Size(
            found.parameters, found.depth, found.flops, taken[key].seconds
        )
    return tuple(replace(model, size=sizes.get(model.key)) for model in models)
