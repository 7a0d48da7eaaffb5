"""Transformers and LSTMs trained on fewer or other labels, and on rare counts.

    python benchmarks/supervision.py

Indirect supervision (Figure 3.18 of the thesis): a function of the state is taught.
Incomplete supervision (section 3.4.5.2.2): each label is revealed with a probability.
Counts (section 3.4.5.2.3): parity on words with an exact number of ones. All at desk
size; each network has a row in results/supervision once it is trained.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from experiment import options, trained
from report import Row, Table, publish

from krohn.instruments.compare.measures import (
    by_count,
    countable,
    simulator,
)
from krohn.instruments.compare.measures.accuracy import accuracy
from krohn.instruments.compare.tasks.catalogue import (
    INDIRECT,
    task,
)
from krohn.instruments.compare.training.presets import (
    gpt,
    lstm,
)
from krohn.instruments.compare.training.run import (
    Cell,
    Run,
)
from krohn.instruments.compare.training.sweep import Result

KINDS = {"Transformer": gpt, "LSTM": lstm}
REVEALED = (1.0, 0.3, 0.1, 0.03)
MACHINES = ("C2", "S3")
COUNTS = (0, 2, 4, 8, 12, 16, 20, 24, 28, 30, 32)
SHIFT = 400
"""Positions are shifted by up to so many in one arm (section 3.4.5.2.3)."""
WORDS = 512
UNSEEN = 1 << 20


def indirect(name: str, kind: str) -> Cell:
    """A network that is taught a function of the state."""
    found = task(name)
    return Cell(found, *KINDS[kind]("desk", found), 0)


def incomplete(machine: str, kind: str, reveal: float) -> Cell:
    """A network that sees only some of the labels."""
    found = task(machine, reveal=reveal)
    return Cell(found, *KINDS[kind]("desk", found), 0)


def counting(arm: str) -> Cell:
    """A network that learns parity."""
    found = task("C2")
    architecture, recipe = (lstm if arm == "LSTM" else gpt)("desk", found)
    shift = SHIFT if "shift" in arm else 0
    return Cell(found, architecture, replace(recipe, shift=shift), 0)


ARMS = ("Transformer", "Transformer, positions shifted", "LSTM")


def cells() -> Iterator[Cell]:
    """Every network of the three tables, each once."""
    found = [counting(arm) for arm in ARMS]
    found += [
        incomplete(machine, kind, reveal)
        for reveal in REVEALED
        for machine in MACHINES
        for kind in KINDS
    ]
    found += [indirect(name, kind) for name in INDIRECT for kind in KINDS]
    yield from {cell.name: cell for cell in found}.values()


def measure(run: Run) -> Any:
    """Accuracy on fresh words, and by the number of ones where words can have any."""
    model = simulator(run.network, run.task, run.recipe.longest)
    rng = np.random.default_rng(UNSEEN)
    length = run.recipe.length
    found = accuracy(model, run.task, rng, length, WORDS).to_object()
    if run.task.name != "C2" or not countable(run.task.machine):
        return {"accuracy": found}
    curve = by_count(model, run.task, rng, length, COUNTS, WORDS)
    return {"accuracy": found, "count": curve.to_object()}


def percent(value: float) -> str:
    """A share, in percent."""
    return f"{100 * value:.1f}"


def tables(results: Sequence[Result]) -> Iterator[Table]:
    """The three tables."""
    known = {result.cell.name: result.measured_values for result in results}

    def right(cell: Cell) -> str | None:
        found = known.get(cell.name)
        return percent(found["accuracy"]["tokens"]["value"]) if found else None

    desk = f"desk size, one seed, token accuracy in percent on {WORDS} fresh words"
    yield Table(
        "Indirect supervision",
        [
            {"what is taught": name} | {k: right(indirect(name, k)) for k in KINDS}
            for name in INDIRECT
        ],
        f"T = 32, {desk}. Thesis: T = 40, 8 layers of width 512 (16 for S5), the best of "
        "25 runs: 99.6 for S5, 99.9 for C4, else 100; LSTM 100 everywhere.",
    )
    yield Table(
        "Incomplete supervision",
        [
            {"machine": m, "network": k}
            | {f"p = {p:g}": right(incomplete(m, k, p)) for p in REVEALED}
            for m in MACHINES
            for k in KINDS
        ],
        f"Each label is revealed with probability p; T = 32, {desk}. Thesis: curves "
        "without numbers, for C2 and S5 at T = 100; S5 takes more than a desk has.",
    )
    yield Table(
        "Counts",
        [row for arm in ARMS for row in _counted(arm, known.get(counting(arm).name))],
        f"Parity of words with an exact number of ones; T = 32, {desk}. Shifted: a "
        f"number of up to {SHIFT}, drawn for each batch, is added to all positions.",
    )


def _counted(arm: str, found: Any) -> Iterator[Row]:
    if found:
        curve = found["count"]
        pairs = zip(curve["at"], curve["found"], strict=True)
        yield {"network": arm} | {
            f"{at:g} ones": percent(a["tokens"]["value"]) for at, a in pairs
        }


def main() -> None:
    """Train what is missing, and print the tables."""
    chosen: argparse.Namespace = options(__doc__).parse_args()
    publish(tables(trained("supervision", cells(), measure, chosen)), chosen)


if __name__ == "__main__":
    main()
