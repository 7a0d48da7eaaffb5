"""Which model is it? One of several hidden Markov models, and words are all that is seen.

    python benchmarks/hidden_markov_mixture.py

The benchmark of Hao et al. 2025, section 2, scaled down: 4 models of 3 states instead of
8,192 of 128, 3 letters instead of 16, words of 16 letters, a Transformer of 2 blocks and
width 32 instead of 16 blocks and 1,024. Results are in results/hidden_markov_mixture.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from experiment import options, trained
from report import Row, Table, publish

from krohn.algebra.automaton import IntArray
from krohn.instruments.compare.comparison.belief_comparison import (
    MEASURED,
    PROBED,
    rules,
)
from krohn.instruments.compare.comparison.belief_result import over_seeds
from krohn.instruments.compare.measures.beliefs import scores
from krohn.instruments.compare.models.network import Network
from krohn.instruments.compare.probes.beliefs import (
    SPLITS,
    layer_probes,
    words_with_states,
)
from krohn.instruments.compare.probes.scores import (
    classifiers,
    whitening,
)
from krohn.instruments.compare.tasks.beliefs import BeliefTask
from krohn.instruments.compare.training.beliefs import outputs
from krohn.instruments.compare.training.presets import preset
from krohn.instruments.compare.training.run import (
    Cell,
    Run,
)
from krohn.instruments.compare.training.sweep import Result
from krohn.kinds.hidden_markov import source as hidden_markov
from krohn.kinds.hidden_markov.source import mixture

MODELS, STATES, LETTERS, SEEDS = 4, 3, 3, (0, 1)
DESK = preset("desk")
LENGTH = DESK.recipe.length
PLACES = (1, 2, 4, 8, 16)


def task() -> BeliefTask:
    """The next letter of one of the models, each as likely."""
    each = [
        hidden_markov.find_by_name(f"RanHMM{STATES},{LETTERS}@{i}")
        for i in range(MODELS)
    ]
    models = [model for model in each if model is not None]
    name = f"{MODELS} of RanHMM{STATES},{LETTERS}"
    return BeliefTask(mixture(name, models), "next")


def cells() -> Iterator[Cell]:
    """An RNN and a Transformer, for each seed."""
    for seed in SEEDS:
        for shape in (DESK.of_depth(2)[0], DESK.recurrent):
            yield Cell(task(), shape, DESK.recipe, seed)


def part_probes(
    network: Network, task: BeliefTask, parts: IntArray, length: int, seed: int
) -> tuple[float, ...]:
    """At how many positions the likeliest part is read, by layer, on fresh words.

    Args:
        network: In evaluation mode.
        task: Of the words.
        parts: For each state of the source, the number of its part: in a mixture of
            models, of its model, so that parts are tasks.
        length: Of the words.
        seed: Of the words.
    """
    asked, rng = BeliefTask(task.source), np.random.default_rng(seed)
    member = parts[:, None] == np.arange(parts.max() + 1)
    found = []
    fitted, chosen, tested = (
        words_with_states(network, asked, rng, count, length, 1) for count in SPLITS
    )
    right = [(w.beliefs @ member).argmax(axis=1) for w in (fitted, chosen, tested)]
    for layer in range(len(fitted.states)):
        white = whitening(fitted.states[layer])
        train, choose, test = (white(w.states[layer]) for w in (fitted, chosen, tested))
        (probe,) = classifiers(train, right[:1], (choose, right[1:2]))
        found.append(float((probe(test) == right[2]).mean()))
    return tuple(found)


def measure(run: Run) -> Any:
    """Scores, and what can be read of model, state and letters after each layer."""
    asked, network = task(), run.network
    found = scores(lambda w: outputs(network, asked, w), asked, LENGTH, MEASURED)
    parts = np.arange(MODELS * STATES) // STATES
    probes = layer_probes(network, asked, LENGTH, PROBED)
    return {
        "scores": asdict(found),
        "probes": [asdict(probe) for probe in probes],
        "models": part_probes(network, asked, parts, LENGTH, PROBED),
    }


def errors(found: Sequence[Sequence[float | None]]) -> Row:
    """Mean errors after some letters."""
    return {
        f"after {t}": over_seeds([each[t - 1] for each in found], 2) for t in PLACES
    }


def tables(results: Sequence[Result]) -> Iterator[Table]:
    """Errors by the number of letters read, and what is read in which layer."""
    rows, read = list[Row](), list[Row]()
    for name in dict.fromkeys(r.cell.architecture.description for r in results):
        same = [
            r.measured_values
            for r in results
            if r.cell.architecture.description == name
        ]
        excess = over_seeds([m["scores"]["excess"] for m in same])
        row = errors([m["scores"]["errors"] for m in same])
        rows.append({"network": name, **row, "nats above the floor": excess})
        for layer in range(len(same[0]["models"])):
            at = [m["probes"][layer] for m in same]
            back = {
                f"letter {k} before": over_seeds([p["letters"][k] for p in at], 2)
                for k in range(len(at[0]["letters"]))
            }
            line: Row = {"network": name, "layer": layer}
            line["model"] = over_seeds([m["models"][layer] for m in same], 2)
            line["belief, R²"] = over_seeds([p["belief"] for p in at], 2)
            read.append({**line, **back})
    for model in rules(task(), LENGTH)[::-1]:
        found = model.ones[0].scores
        row = {"network": f"{model.title} ({model.about})", **errors([found.errors])}
        rows.append({**row, "nats above the floor": over_seeds([found.excess])})
    floor = found.floor or 0.0
    note = f"Total variation from the law of the next letter; floor {floor:.3f} nats."
    yield Table(f"One of {MODELS} models, by letters read", rows, note)
    yield Table("What can be read", read, "Likeliest model; belief; letters. Held out.")


def main() -> None:
    """Train what is missing, and print the tables."""
    chosen = options(__doc__).parse_args()
    results = trained("hidden_markov_mixture", cells(), measure, chosen)
    publish(tables(results), chosen)


if __name__ == "__main__":
    main()
