"""Do a scratchpad and a bias towards the recent make a Transformer recurrent?

    python benchmarks/scratchpads.py

The thesis's answer (section 3.4.5.2.3, Figure 3.9): both together do. Two layers of width
64, trained on words of 32 letters, measured on longer ones, and on words with another
share of ones or of opening brackets. Results are in results/scratchpads, one row each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from experiment import options, trained
from report import Row, Table, publish

from krohn.instruments.compare.measures import (
    by_bias,
    by_length,
    simulator,
    spread,
)
from krohn.instruments.compare.models.architecture import Positions
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training.presets import gpt
from krohn.instruments.compare.training.run import (
    Cell,
    Run,
)
from krohn.instruments.compare.training.sweep import Result

MACHINES = ("C2", "Dyck4,2")
SEEDS = (0, 1)
LENGTHS = (32, 48, 64, 96, 128)
BIASES = (0.1, 0.3, 0.5, 0.7, 0.9)
WORDS = 128
UNSEEN = 1 << 20
ARMS: dict[str, tuple[Positions, bool]] = {
    "neither": ("sinusoidal", False),
    "recency alone": ("alibi", False),
    "scratchpad alone": ("sinusoidal", True),
    "both": ("alibi", True),
}
"""Which positions, and whether with a scratchpad."""


def cell(machine: str, arm: str, seed: int) -> Cell:
    """A Transformer of the desk with what an arm adds."""
    positions, scratchpad = ARMS[arm]
    architecture, recipe = gpt("desk", task(machine))
    return Cell(
        task(machine),
        replace(architecture, positions=positions),
        replace(recipe, scratchpad=scratchpad),
        seed,
    )


def cells() -> Iterator[Cell]:
    """Every arm on every machine."""
    for seed in SEEDS:
        for machine in MACHINES:
            for arm in ARMS:
                yield cell(machine, arm, seed)


def measure(run: Run) -> Any:
    """Accuracy by length, and by the share of ones."""
    model = simulator(run.network, run.task, run.recipe.longest)
    rng = np.random.default_rng(UNSEEN)
    lengths = by_length(model, run.task, rng, LENGTHS, WORDS)
    biases = by_bias(model, run.task, rng, run.recipe.length, BIASES, WORDS)
    return {"length": lengths.to_object(), "bias": biases.to_object()}


def shares(found: Sequence[Result], over: str) -> Iterator[tuple[str, str]]:
    """At each number the mean over seeds, and the least."""
    name = {"length": "T", "bias": "Pr"}[over]
    for i, at in enumerate(found[0].measured_values[over]["at"]):
        rates = [r.measured_values[over]["found"][i]["tokens"]["value"] for r in found]
        some = spread(rates)
        yield f"{name} = {at:g}", f"{100 * some.mean:.1f} ({100 * some.least:.1f})"


def rows(results: Sequence[Result], over: str) -> Iterator[Row]:
    """The results of each arm."""
    for machine in MACHINES:
        for arm in ARMS:
            names = {cell(machine, arm, seed).name for seed in SEEDS}
            own = [
                r for r in results if r.cell.name in names and over in r.measured_values
            ]
            if own:
                yield {
                    "machine": machine,
                    "what is added": arm,
                    "runs": len(own),
                    **dict(shares(own, over)),
                }


def main() -> None:
    """Train what is missing, and print the tables."""
    chosen = options(__doc__).parse_args()
    results = trained("scratchpads", cells(), measure, chosen)
    note = (
        f"Token accuracy in percent, mean over seeds (least), on {WORDS} words each; "
        "trained on words of 32 letters, each legal letter alike. Pr is that of the letter "
        "1 in C2, and of opening in Dyck4,2 where both are legal (trained: 1/2 and 2/3). "
        "Recency is ALiBi, in place of sinusoidal positions: both change at once. A share "
        "of 128 words is known to 9 % at worst; the files have the intervals."
    )
    publish(
        [
            Table("Longer words", list(rows(results, "length")), note),
            Table("Another bias", list(rows(results, "bias")), note),
        ],
        chosen,
    )


if __name__ == "__main__":
    main()
