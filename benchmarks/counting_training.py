"""Counting programs: networks trained on short words beside compiled ones.

    python benchmarks/counting_training.py

A Transformer like GPT-2 is trained on words of 32 letters and tested on longer ones; the
positions of all these are trained, as each batch begins at a position by chance. Results
are in results/counting_training, one row for each network; what is there is not done
again, and what was begun goes on. ``--seconds 0`` only shows what is there.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from experiment import options, trained
from report import Row, Table, publish

import krohn
from krohn.algebra.automaton import Automaton
from krohn.instruments.compare.measures import simulator
from krohn.instruments.compare.measures.accuracy import right
from krohn.instruments.compare.models import Gpt
from krohn.instruments.compare.tasks.catalogue import Surviving
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training.recipe import Recipe
from krohn.instruments.compare.training.run import (
    Cell,
    Run,
)
from krohn.instruments.compare.training.sweep import Result
from krohn.kinds.counting.commands_machines import unroll_program
from krohn.kinds.counting.source import find_by_name
from krohn.verify.testing.counterexample import Simulator

PROGRAMS = ("Dyck1", "AnBnCn", "Majority", "MoreAThanB")
SEEDS = (0, 1)
TRAINED, LENGTHS = 32, (32, 64, 128, 256, 512)
PROVED = 1000
"""Up to how many letters the compiled network is proved."""
WORDS, UNSEEN = 128, 1 << 20
"""How many words of each length are tested; their seed, above those of runs."""
MODEL = Gpt(depth=2, width=64, heads=4, inner=128)
RECIPE = Recipe(
    steps=1500,
    batch=32,
    length=TRAINED,
    longest=LENGTHS[-1],
    shift=LENGTHS[-1] - TRAINED,
    stop_at=0.9999,
    every=250,
)
TITLE = "counting programs: trained on words of 32 letters, and compiled"


@cache
def machine(name: str, length: int) -> Automaton:
    """A program on words of up to so many letters."""
    return unroll_program(find_by_name(name), length)


@cache
def task(name: str, length: int) -> Task:
    """The task of a network, on words of a length."""
    return Task(name, machine(name, length), Surviving(), "outputs")


def cells() -> Iterator[Cell]:
    """The networks, one seed after the other."""
    for seed in SEEDS:
        for name in PROGRAMS:
            yield Cell(task(name, TRAINED), MODEL, RECIPE, seed)


def shares(model: Simulator, name: str) -> dict[str, dict[str, float]]:
    """For each length the share of right answers to yes and to no, and of right words."""
    found = {}
    for length in LENGTHS:
        asked = task(name, length)
        batch = asked.batch(np.random.default_rng(UNSEEN), WORDS, length)
        good = right(model, asked, batch)
        yes = batch.labels == 1
        found[str(length)] = {
            "yes": float(good[yes].mean()),
            "no": float(good[~yes].mean()),
            "words": float(good.all(axis=1).mean()),
        }
    return found


def measure(run: Run) -> Any:
    """Measure a network that was trained."""
    assert isinstance(run.task, Task)
    return shares(simulator(run.network, run.task), run.task.name)


def row(name: str, network: str, found: Sequence[Mapping[str, Any]]) -> Row:
    """Mean of the shares where the answer is yes and where it is no, and of right words."""
    line: Row = {"program": name, "network": network}
    for length in LENGTHS:
        at = [each[str(length)] for each in found]
        if at:
            even = np.mean([(x["yes"] + x["no"]) / 2 for x in at])
            words = np.mean([x["words"] for x in at])
            line[f"{length} letters"] = f"{100 * even:.1f} ({100 * words:.0f})"
    return line


def compiled(name: str) -> Row:
    """The row of the compiled network."""
    model = krohn.compile(find_by_name(name), length=PROVED)
    verdict = model.summary()["verdict"]
    about = f"compiled, {verdict} for all words of up to {PROVED} letters"
    net = simulator(model.model, task(name, TRAINED), PROVED)
    return row(name, about, [shares(net, name)])


def rows(results: Sequence[Result]) -> Iterator[Row]:
    """Both rows of each program."""
    for name in PROGRAMS:
        own = [r.measured_values for r in results if r.cell.task.name == name]
        yield row(name, f"GPT-2, {len(own)} seeds", own)
        yield compiled(name)


def main() -> None:
    """Train what is missing, and print the table."""
    chosen = options(__doc__).parse_args()
    results = trained("counting_training", cells(), measure, chosen)
    note = (
        "Percent: the mean of what is right where the answer is yes and where it is no; in "
        f"brackets, of {WORDS} words those in which every answer is right. "
        f"{MODEL.description}; "
        f"{RECIPE.steps:,} batches of {RECIPE.batch} words of {TRAINED} letters."
    )
    publish([Table(TITLE, list(rows(results)), note)], chosen)


if __name__ == "__main__":
    main()
