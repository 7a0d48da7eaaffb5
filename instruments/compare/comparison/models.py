"""The models of a comparison, what is smaller than in the thesis, and the headline."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from krohn.algebra.wording import count
from krohn.instruments.compare.comparison.derived import Derived
from krohn.instruments.compare.comparison.measurements import (
    FEWER,
    WORDS,
    MeasuredModel,
    MeasuredSeed,
    first_failure,
    measure,
)
from krohn.instruments.compare.comparison.pipeline import TrainedNetwork
from krohn.instruments.compare.comparison.result import (
    COMPILED,
    GPT,
    LSTM,
    MAJORITY,
    NGRAM,
    Comparison,
    ModelResult,
    Reduction,
    Size,
    Sweep,
)
from krohn.instruments.compare.comparison.trained_networks import RunMeasurements
from krohn.instruments.compare.measures.baselines import baselines
from krohn.instruments.compare.models import (
    Gpt,
    Network,
    cost,
    latencies,
)
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training import presets
from krohn.instruments.compare.training.presets import (
    GPT_RATES,
    LSTM_RATES,
)
from krohn.instruments.compare.training.recipe import Recipe
from krohn.instruments.compare.training.run import Cell

# The models of a comparison: the compiled network, trained ones, and baselines.


TITLES = {GPT: "Transformer", LSTM: "LSTM"}
"""The titles of trained networks in tables, pages and sentences."""
BASELINES = {NGRAM: "n-gram", MAJORITY: "majority"}
"""Titles of the baselines that are shown."""

MANY = 40_000
"""Words of the length of training, or as many letters, that a network is run on."""
OPERATIONS = 2e12
"""Multiplications and additions for all of them: two minutes on a busy core."""


def affordable(network: Network, length: int) -> float:
    """The share of the usual words that a network can be run on within `OPERATIONS`."""
    return min(1.0, OPERATIONS / (MANY * (cost(network, length).flops or 1)))


def measure_models(
    derived: Derived,
    trained: Sequence[MeasuredModel],
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
        _measure_compiled(derived, task, length, share),
        *trained,
        *_baselines(task, length),
    )


def _measure_compiled(
    derived: Derived, task: Task, length: int, share: float
) -> MeasuredModel:
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


def _baselines(task: Task, length: int) -> tuple[MeasuredModel, ...]:
    """The models that need no learning, measured."""
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


Trained = TrainedNetwork[RunMeasurements]


def best(trained: Sequence[Trained]) -> dict[str, Trained]:
    """The network of each kind with most right answers; of equals, the first seed."""
    keys = dict.fromkeys(one.key for one in trained)
    return {k: max((t for t in trained if t.key == k), key=_right) for k in keys}


def _right(one: Trained) -> float:
    return one.measured.measured.token.value


def open_networks(
    derived: Network, chosen: Mapping[str, Trained], device: str
) -> dict[str, Network]:
    """The networks themselves, the compiled one first."""
    trained = {key: one.result.run(device).network for key, one in chosen.items()}
    return {COMPILED: derived.to(device), **trained}


def with_sizes(
    models: Sequence[MeasuredModel], networks: Mapping[str, Network], length: int
) -> tuple[MeasuredModel, ...]:
    """The models with the cost and the time of their networks for a word."""
    taken, sizes = latencies(networks, length), {}
    for key, network in networks.items():
        network_cost = cost(network, length)
        sizes[key] = Size(
            network_cost.parameters,
            network_cost.depth,
            network_cost.flops,
            taken[key].seconds,
        )
    return tuple(replace(model, size=sizes.get(model.key)) for model in models)


# The numbers that are smaller here than in the thesis: sizes and recipes of its preset.


THESIS = "paper"
DEPTHS = "1 to 16"
SEEDS = "20"
RATES = {GPT: GPT_RATES, LSTM: LSTM_RATES}


def reductions(
    task: Task, wanted: dict[str, tuple[Cell, ...]]
) -> tuple[Reduction, ...]:
    """The differences from the thesis, row by row.

    Args:
        task: What is trained on.
        wanted: What is trained, by model.
    """
    simulates = presets.family(task) == "simulation"
    rows = [*_networks(task, wanted, simulates)]
    if simulates:
        rows.append(
            Reduction("networks of a kind", SEEDS, str(min(map(len, wanted.values()))))
        )
    rows.append(Reduction("words at each point of a curve", f"{WORDS:,}", f"{FEWER:,}"))
    return tuple(row for row in rows if row.thesis != row.here)


def _networks(
    task: Task, wanted: dict[str, tuple[Cell, ...]], simulates: bool
) -> Iterator[Reduction]:
    theirs = {GPT: presets.gpt(THESIS, task), LSTM: presets.lstm(THESIS, task)}
    for key, (architecture, recipe) in theirs.items():
        cell, name = wanted[key][0], TITLES[key]
        if isinstance(architecture, Gpt) and isinstance(cell.architecture, Gpt):
            yield from _sizes(architecture, cell.architecture, simulates)
        yield from _recipes(name, recipe, cell.recipe, RATES[key] if simulates else ())


def _sizes(theirs: Gpt, ours: Gpt, simulates: bool) -> Iterator[Reduction]:
    depth = DEPTHS if simulates else str(theirs.depth)
    yield Reduction("Transformer: layers", depth, str(ours.depth))
    yield Reduction("Transformer: width", str(theirs.width), str(ours.width))
    yield Reduction("Transformer: heads", str(theirs.heads), str(ours.heads))
    yield Reduction("Transformer: width of MLPs", str(theirs.inner), str(ours.inner))
    yield Reduction("Transformer: positions", theirs.positions, ours.positions)
    yield Reduction("Transformer: dropout", f"{theirs.dropout:g}", f"{ours.dropout:g}")


def _recipes(
    name: str, theirs: Recipe, ours: Recipe, rates: tuple[float, ...]
) -> Iterator[Reduction]:
    tried = " or ".join(f"{r:g}" for r in rates) or f"{theirs.rate:g}"
    yield Reduction(
        f"{name}: letters in training words", str(theirs.length), str(ours.length)
    )
    yield Reduction(f"{name}: words of a batch", str(theirs.batch), str(ours.batch))
    yield Reduction(f"{name}: words in all, at most", _words(theirs), _words(ours))
    yield Reduction(f"{name}: learning rate", tried, f"{ours.rate:g}")
    decay = f"{theirs.weight_decay:g}", f"{ours.weight_decay:g}"
    yield Reduction(f"{name}: weight decay", *decay)
    yield Reduction(f"{name}: training stops", _stops(theirs), _stops(ours))


def _words(recipe: Recipe) -> str:
    return f"{recipe.steps * recipe.batch:,}"


def _stops(recipe: Recipe) -> str:
    if recipe.stop_at is None:
        return "after all words"
    return f"once {100 * recipe.stop_at:g} % of answers to {recipe.probe:,} words are right"


# A comparison in two or three sentences, by rule from its numbers.


PERFECT = 0.99995
"""From here on four digits would be rounded up to 100 %."""
LEARNED = 0.9
"""The accuracy that a model must have had somewhere before it can be said to fall."""
FALL = 0.1
"""Token accuracy that is lost on other words and worth a sentence. It is the least of some
fifty places of 256 words each: a share of 0.9 of words has a standard error of 0.019, so
that chance alone does this at none of them (five standard errors)."""


def headline(found: Comparison) -> tuple[str, ...]:
    """The sentences on the proof, on what training reached, and on where it breaks."""
    trained = (*_of_trained(found), *_proved_or_not(found))
    return (_proof_sentence(found), *trained, *_falls(found))


def percent(share: float) -> str:
    """A share in per cent that says 100 % only of all of them."""
    if share >= 1:
        return "100 %"
    if share >= PERFECT:
        return "> 99.99 %"
    return f"{100 * share:.2f} %" if share > 0.99 else f"{100 * share:.1f} %"


def average(one: ModelResult) -> float:
    """Token accuracy, the mean over seeds."""
    return sum(o.token.value for o in one.ones) / len(one.ones)


def _proof_sentence(found: Comparison) -> str:
    compiled, proved = found.of(COMPILED), found.proved
    if proved.verdict != "verified":
        return f"The compiled network is not proved: {proved.covers}."
    size = compiled.size if compiled else None
    layers = f", {size.depth} layers deep" if size and size.depth else ""
    layers = ", 1 layer deep" if size and size.depth == 1 else layers
    network = (
        f"The network compiled for this comparison ({proved.construction}{layers})"
    )
    return f"{network} is proved: {proved.covers}."


def _of_trained(found: Comparison) -> Iterator[str]:
    accuracies = [
        f"the {_short(c)} gives {percent(average(c))} right answers"
        for c in map(found.of, (GPT, LSTM))
        if c is not None
    ]
    if accuracies:
        seeds = len(found.origin.seeds)
        mean = f", mean of {seeds} seeds" if seeds > 1 else ""
        yield (
            f"Trained on words of {count(found.length, 'letter')} and measured on fresh "
            f"ones, {' and '.join(accuracies)}{mean}."
        )


def _proved_or_not(found: Comparison) -> Iterator[str]:
    """Sentences about proofs of trained networks, and the command that repeats them."""
    for network in found.contestants:
        for one in network.ones:
            if one.proof is None:
                continue
            seed = "" if len(network.ones) == 1 else f" of seed {one.seed}"
            verdict = {
                "verified": f"proved: {one.proof.said}",
                "refuted": "wrong on some word",
            }.get(one.proof.verdict, f"undecided: {one.proof.said}")
            again = f" ({one.proof.again})" if one.proof.again else ""
            yield f"The {_short(network)}{seed} is {verdict}{again}."


def _falls(found: Comparison) -> Iterator[str]:
    """Where a trained network loses most, sweep by sweep."""
    for key in (GPT, LSTM):
        network = found.of(key)
        if network is None or average(network) < LEARNED:
            continue
        elsewhere = [s for s in found.sweeps if s.trained is not None]
        falls = [f for s in elsewhere if (f := _fall(s, key, average(network)))]
        if falls:
            yield (
                f"On other words the {_short(network)} gives fewer right answers: "
                f"{'; '.join(falls)}."
            )


def _fall(sweep: Sweep, key: str, usual: float) -> str | None:
    curve = next((c for c in sweep.curves if c.key == key), None)
    if curve is None:
        return None
    means = []
    for at, column in zip(sweep.at, zip(*curve.values, strict=True), strict=True):
        known = [v for v in column if v is not None]
        if known:
            means.append((sum(known) / len(known), at))
    lowest, at = min(means, default=(1.0, 0.0))
    if lowest > usual - FALL:
        return None
    return f"{percent(lowest)} {sweep.said.replace('{}', f'{at:g}')}"


def _short(network: ModelResult) -> str:
    return TITLES.get(network.key, network.title)
