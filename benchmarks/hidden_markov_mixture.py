"""Which model is it? One of several hidden Markov models, and words are all that is seen.

    python benchmarks/hidden_markov_mixture.py

The benchmark of Hao et al. 2025, section 2, scaled down twice: 4 models of 3 states with 3
letters, words of 16 letters, 2 blocks of width 32; and 64 models of 8 states with 8
letters, words of 64 letters, 4 blocks of width 64. There: 8,192 models of 128 states, 16
letters, 16 blocks of width 1,024 with rotary positions, whose exact law of the next letter
takes a million states. Results are in results/hidden_markov_mixture; ``--seconds 0`` only
shows them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from experiment import options, spent, trained
from report import Row, Table, publish

from krohn.algebra.automaton import IntArray
from krohn.instruments.compare.comparison.belief_comparison import (
    MEASURED,
    PROBED,
    rules,
)
from krohn.instruments.compare.comparison.belief_result import over_seeds
from krohn.instruments.compare.measures.beliefs import scores
from krohn.instruments.compare.models.architecture import Positions
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
from krohn.instruments.compare.tasks.beliefs import BeliefTask, belief_task
from krohn.instruments.compare.training.beliefs import outputs
from krohn.instruments.compare.training.presets import preset
from krohn.instruments.compare.training.run import (
    Cell,
    Run,
)
from krohn.instruments.compare.training.sweep import Result

SEEDS, DESK = (0, 1, 2), preset("desk")
POSITIONS: tuple[Positions, ...] = ("learned", "rope")


@dataclass(frozen=True)
class Size:
    """A mixture, and the Transformers that learn it.

    Attributes:
        models: How many, each as likely.
        states: Of each.
        letters: Of all.
        length: Of words.
        depth: Of Transformers.
        width: Of Transformers.
    """

    models: int
    states: int
    letters: int
    length: int
    depth: int
    width: int

    @property
    def task(self) -> BeliefTask:
        """The next letter of one of the models."""
        last = self.models - 1
        found = belief_task(f"mixture:RanHMM{self.states},{self.letters}@0..{last}")
        assert found is not None
        return BeliefTask(found.source, "next")

    @property
    def parts(self) -> IntArray:
        """For each state, the number of its model."""
        return np.arange(self.models * self.states) // self.states

    @property
    def title(self) -> str:
        """In titles of tables."""
        return f"{self.models} models"

    def cells(self, seed: int) -> Iterator[Cell]:
        """Transformers with learned and with rotary positions, and an RNN."""
        recipe = replace(DESK.recipe, length=self.length)
        made = replace(
            DESK.transformer, depth=self.depth, width=self.width, inner=4 * self.width
        )
        for positions in POSITIONS:
            yield Cell(self.task, replace(made, positions=positions), recipe, seed)
        yield Cell(self.task, DESK.recurrent, recipe, seed)


SIZES = (Size(4, 3, 3, 16, 2, 32), Size(64, 8, 8, 64, 4, 64))


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
    assert isinstance(run.task, BeliefTask)
    asked, network, length = run.task, run.network, run.recipe.length
    (size,) = (size for size in SIZES if size.task.name == asked.name)
    found = scores(lambda w: outputs(network, asked, w), asked, length, MEASURED)
    probes = layer_probes(network, asked, length, PROBED)
    return {
        "scores": asdict(found),
        "probes": [asdict(probe) for probe in probes],
        "models": part_probes(network, asked, size.parts, length, PROBED),
    }


def errors(found: Sequence[Sequence[float | None]]) -> Row:
    """Mean errors after some letters, twice as many each time."""
    places = [2**i for i in range(len(found[0]).bit_length())]
    return {
        f"after {t}": over_seeds([each[t - 1] for each in found], 2) for t in places
    }


def tables(size: Size, every: Sequence[Result]) -> Iterator[Table]:
    """Errors by the number of letters read, and what is read in which layer."""
    rows, read = list[Row](), list[Row]()
    results = [r for r in every if r.cell.task.name == size.task.name]
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
    for model in rules(size.task, size.length)[::-1]:
        found = model.ones[0].scores
        row = {"network": f"{model.title} ({model.about})", **errors([found.errors])}
        rows.append({**row, "nats above the floor": over_seeds([found.excess])})
    floor = found.floor or 0.0
    note = (
        f"Total variation from the law of the next letter; floor {floor:.3f} nats. "
        f"{spent(results, len(SEEDS) * (len(POSITIONS) + 1))}"
    )
    yield Table(f"One of {size.title}, by letters read", rows, note)
    said = "Likeliest model; belief; letters. Held out."
    yield Table(f"What can be read of {size.title}", read, said)


def main() -> None:
    """Train what is missing, and print the tables."""
    chosen = options(__doc__).parse_args()
    cells = [cell for size in SIZES for seed in SEEDS for cell in size.cells(seed)]
    results = trained("hidden_markov_mixture", cells, measure, chosen)
    publish([table for size in SIZES for table in tables(size, results)], chosen)


if __name__ == "__main__":
    main()
