"""How often small Transformers misread a flip-flop, over 25 seeds and with remedies.

    python benchmarks/glitches.py

The quantiles and remedies of the thesis (section 3.5.4) at a smaller size than the desk's:
two layers of width 64, words of 32 letters, 2,000 batches of 32. Each network
has a row in results/glitches once it is trained.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from experiment import options, trained
from glitch_rate import glitches
from report import Row, Table, publish

from krohn.instruments.compare.measures import simulator
from krohn.instruments.compare.models import Gpt
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training.presets import gpt
from krohn.instruments.compare.training.recipe import Sharpening
from krohn.instruments.compare.training.run import (
    Cell,
    Run,
)
from krohn.instruments.compare.training.sweep import Result

STEPS, LENGTH, READS = 2000, 32, 10_000
UNSEEN = 1 << 20
MANY, FEW = 25, 5
QUANTILES = {"least": 0, "25 %": 25, "median": 50, "75 %": 75, "most": 100}
MANY_SEEDS = ("FFL(0.8)", "mixture")
"""The arms with `MANY` seeds: the thesis's usual words, and words of all three kinds."""


def arms() -> dict[str, Cell]:
    """The networks that are trained, with seed 0."""
    usual, mixed = task("flip-flop"), task("flip-flop, mixed")
    shape, recipe = gpt("desk", usual)
    recipe = replace(recipe, steps=STEPS, length=LENGTH)
    plain = Cell(usual, shape, recipe, 0)

    def built(**changes: Any) -> Cell:
        assert isinstance(shape, Gpt)
        return replace(plain, architecture=replace(shape, **changes))

    def sharpened(weight: float) -> Cell:
        return replace(plain, recipe=replace(recipe, sharpening=Sharpening(weight)))

    return {
        "FFL(0.8)": plain,
        "mixture": replace(plain, task=mixed),
        "sharpening, entropy × 0.01": sharpened(0.01),
        "sharpening, entropy × 0.1": sharpened(0.1),
        "dropout 0.1": built(dropout=0.1),
        "embedding dropout 0.5": built(embedding_dropout=0.5),
        "learned positions": built(positions="learned"),
        "linear positions": built(positions="linear"),
        "ALiBi": built(positions="alibi"),
        "rotary positions": built(positions="rope"),
        "no positions": built(positions="none"),
    }


def seeds(arm: str) -> range:
    """The seeds of an arm."""
    return range(MANY if arm in MANY_SEEDS else FEW)


def cells() -> Iterator[Cell]:
    """Every arm with its seeds, the first seeds of all arms first."""
    found = arms()
    for seed in range(MANY):
        for arm, cell in found.items():
            if seed in seeds(arm):
                yield replace(cell, seed=seed)


def measure(run: Run) -> Any:
    """Glitches on sparse words, on those of training, and on dense ones."""
    model = simulator(run.network, run.task)
    rng = np.random.default_rng(UNSEEN)
    found = glitches(model, run.task, rng, run.recipe.length, reads=READS)
    return [g.to_object() for g in found]


def rows(results: Sequence[Result]) -> Iterator[Row]:
    """The quantiles of each arm over its seeds."""
    known = {result.cell.name: result for result in results}
    for arm, cell in arms().items():
        names = [replace(cell, seed=seed).name for seed in seeds(arm)]
        own = [known[name].measured_values for name in names if name in known]
        for i, ignored in enumerate(g["ignore"] for g in (own[0] if own else ())):
            rates = [100 * found[i]["rate"] for found in own]
            yield {
                "trained on, or with": arm,
                "read": f"FFL({ignored:g})",
                "seeds": len(rates),
                **{k: f"{np.percentile(rates, q):.2f}" for k, q in QUANTILES.items()},
                "without an error": sum(rate == 0 for rate in rates),
            }


def main() -> None:
    """Train what is missing, and print the table."""
    chosen: argparse.Namespace = options(__doc__).parse_args()
    results = trained("glitches", cells(), measure, chosen)
    note = (
        f"Wrong reads in percent of about {READS:,}, quantiles over seeds; words of "
        f"{LENGTH} letters, {STEPS:,} batches of 32, width 64, two layers. All "
        "but the mixture are trained on FFL(0.8) with sinusoidal positions if nothing "
        "else is said."
    )
    publish([Table("Glitches over seeds", list(rows(results)), note)], chosen)


if __name__ == "__main__":
    main()
