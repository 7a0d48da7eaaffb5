"""How deep must a trained Transformer be? The thesis's Figures 3.15 and 3.16.

    python benchmarks/in_distribution.py

Every network is trained on fresh words of 32 letters and measured on 2,048 others; with
``--preset paper --device cuda`` on words of 100 letters, at the thesis's sizes. Groups that
do not commute are tried with 6 and 8 layers, too, and S5, which no network of this size
learns, on words of 12 letters. Cheap networks come first. Results
are in results/in_distribution, one row for each network; what is there is not done again,
and what was begun goes on. ``--seconds 0`` only shows what is there. Beside them stand the
same machines compiled and proved, LSTMs, and the best table of the last n letters.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from experiment import RESULTS, options, spent, trained
from report import Row, Table, publish

import krohn
from krohn.instruments.compare.measures import (
    Spread,
    simulator,
    spread,
)
from krohn.instruments.compare.measures.accuracy import (
    WORDS,
    accuracy,
)
from krohn.instruments.compare.measures.baselines import baselines
from krohn.instruments.compare.models import (
    Gpt,
    Lstm,
)
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training.presets import (
    gpt,
    lstm,
)
from krohn.instruments.compare.training.run import (
    Cell,
    Run,
)
from krohn.instruments.compare.training.sweep import Result
from krohn.network.model import Model

FIRST = ("C2", "Grid9", "Dyck4,2", "D8", "A4", "S5")
MACHINES = (
    *("Dyck4,2", "Grid4", "Grid9", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C2xC2"),
    *("C2xC2xC2", "D6", "D8", "Q8", "A4", "A5", "S4", "S5"),
)
DEPTHS, DEEPER = (2, 4, 1), (6, 8)
DEEP = ("Q8", "A4", "A5", "S4")
SHORT, LETTERS = "S5", 12
SEEDS = (0, 1)
UNSEEN = 1 << 20
"""The seed of the words that networks are measured on; runs have small ones."""


def cells(preset: str) -> Iterator[Cell]:
    """The networks, cheap ones first, and those of which the table says most."""
    rest = tuple(machine for machine in MACHINES if machine not in FIRST)
    groups = (
        (FIRST, DEPTHS, None),
        (rest, DEPTHS, None),
        ((SHORT,), (*DEPTHS, *DEEPER), LETTERS),
        (DEEP, DEEPER, None),
    )
    for machines, _, length in groups[:3]:
        for seed, machine in product(SEEDS, machines):
            yield Cell(task(machine), *lstm(preset, task(machine), length), seed)
    for machines, depths, length in groups:
        for seed, depth, machine in product(SEEDS, depths, machines):
            yield transformer(preset, machine, depth, seed, length)


def transformer(
    preset: str, machine: str, depth: int, seed: int, length: int | None = None
) -> Cell:
    """A Transformer of some depth."""
    return Cell(task(machine), *gpt(preset, task(machine), depth, length), seed)


def measure(run: Run) -> Any:
    """Accuracy on fresh words of the training length."""
    model = simulator(run.network, run.task)
    rng = np.random.default_rng(UNSEEN)
    return accuracy(model, run.task, rng, run.recipe.length).to_object()


@cache
def thesis() -> Any:
    """The printed numbers."""
    return json.loads((RESULTS / "thesis.json").read_text())


def rates(found: Sequence[Result]) -> Spread | None:
    """Token accuracies of runs that differ in their seeds."""
    return (
        spread([r.measured_values["tokens"]["value"] for r in found]) if found else None
    )


def deep(result: Result, depth: int) -> bool:
    """Whether it is a Transformer of this depth."""
    made = result.cell.architecture
    return isinstance(made, Gpt) and made.depth == depth


def recurrent(result: Result) -> bool:
    """Whether it is an LSTM."""
    return isinstance(result.cell.architecture, Lstm)


def cell(found: Sequence[Result]) -> str | None:
    """Maximum and median in percent, and of how many runs."""
    some = rates(found)
    if some is None:
        return None
    return f"{100 * some.most:.1f} / {100 * some.median:.1f} ({len(found)})"


def printed(machine: str, depth: int) -> str:
    """Maximum and median that the thesis prints."""
    column = thesis()["depths"].index(depth)
    pair = (thesis()[which][machine][column] for which in ("maximum", "median"))
    return " / ".join("?" if x is None else f"{x:.1f}" for x in pair)


def row(machine: str, results: Sequence[Result], length: int) -> Row:
    """All that is known of a machine, on words of a length."""
    own = [
        r
        for r in results
        if r.cell.task.name == machine and r.cell.recipe.length == length
    ]
    found: Row = {"machine": machine, "letters": length}
    for depth in sorted((*DEPTHS, *DEEPER)):
        these = [r for r in own if deep(r, depth)]
        found[f"depth {depth}"] = cell(these)
        found[f"thesis, depth {depth}"] = printed(machine, depth)
    found["LSTM"] = cell([r for r in own if recurrent(r)])
    words = task(machine)
    ngram = baselines(words, np.random.default_rng(UNSEEN + 1), length)[-1]
    rng = np.random.default_rng(UNSEEN)
    share = accuracy(ngram.model, words, rng, length).tokens.value
    found["n-gram"] = f"{100 * share:.1f} ({ngram.about})"
    compiled = krohn.compile(machine, length)
    right = accuracy(Model(compiled.file), words, np.random.default_rng(UNSEEN), length)
    found["compiled"] = f"{100 * right.words.value:.1f} of words, proved"
    return found


def main() -> None:
    """Train what is missing, and print the table."""
    own = options(__doc__)
    own.add_argument("--preset", choices=("desk", "paper"), default="desk")
    chosen = own.parse_args()
    asked = {cell.name: cell for cell in cells(chosen.preset)}.values()
    results = trained("in_distribution", asked, measure, chosen)
    made, recipe = gpt(chosen.preset, task(MACHINES[0]))
    note = (
        f"Token accuracy in percent on {WORDS:,} words: maximum / median over seeds (runs)."
        f" {chosen.preset.capitalize()}: width {made.width}, "
        f"{made.heads} heads, inner {made.inner}, at most {recipe.steps:,} batches of "
        f"{recipe.batch}. Thesis: T = 100, width 512, 8 heads, 20 runs. "
        f"{spent(results, len(asked))}"
    )
    rows = [row(machine, results, recipe.length) for machine in MACHINES]
    rows.append(row(SHORT, results, LETTERS))
    publish([Table("Accuracy in distribution", rows, note)], chosen)


if __name__ == "__main__":
    main()
