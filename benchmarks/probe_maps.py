"""Which algorithm did training find? Probes and exchanges in networks of four machines.

    python benchmarks/probe_maps.py

Transformers of the desk that answer well: C2, Grid9 and Dyck4,2, a cascade of memories, on
words of 32 letters in two layers, and D8 on words of 12 letters in four. What a network
holds and uses of the variables of derived networks is in results/probe_maps, one row for
each network; docs/which-algorithm.md says how it is found and what it shows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import report
from experiment import options, trained
from report import Table, publish

from krohn.instruments.compare.models import build
from krohn.instruments.compare.probes import (
    ProbeMap,
    Survey,
    survey,
)
from krohn.instruments.compare.probes.probe_map import (
    Cell as Probed,
    Row,
    conclusion,
)
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training.presets import gpt
from krohn.instruments.compare.training.run import (
    Cell,
    Run,
)
from krohn.instruments.compare.training.sweep import Result
from krohn.program.results import from_object

SEEDS = (0, 1, 2)
SHOWN = 8
"""Variables in each table; the files have all of them."""


def cells() -> Iterator[Cell]:
    """Every network, from every seed."""
    architecture, recipe = gpt("desk", task("D8"), depth=4, length=12)
    longer = replace(recipe, steps=8000)
    for seed in SEEDS:
        for machine in ("C2", "Grid9", "Dyck4,2"):
            yield Cell(task(machine), *gpt("desk", task(machine)), seed)
        yield Cell(task("D8"), architecture, longer, seed)


def measure(run: Run) -> Any:
    """The map of a network, beside the same one before training."""
    recipe, task = run.recipe, run.task
    sizes = len(task.letters), len(task.classes), recipe.reads
    untrained = build(run.architecture, *sizes, run.seed)
    how = Survey(length=recipe.length)
    return survey(run.network, task, untrained, how).to_object()


def probed(cell: Probed) -> str:
    """The score of a probe; in brackets those before training and of the control task."""
    trained, before = cell.trained, cell.untrained
    if trained.accuracy is None:
        return f"R² {shown(trained.explained)} ({shown(before and before.explained)})"
    control = shown(trained.control)
    return f"{shown(trained.accuracy)} ({shown(before and before.accuracy)}, {control})"


def shown(share: float | None) -> str:
    """A share in per cent."""
    return "–" if share is None else f"{100 * share:.0f}"


def line(row: Row, layers: Sequence[str]) -> report.Row:
    """A variable: layers, then what exchanging it does."""
    cells = zip(layers, row.cells, strict=True)
    found: report.Row = {"variable": row.name, "verdict": row.verdict}
    found |= {layer: probed(cell) for layer, cell in cells}
    if row.exchanged:
        best = max(row.exchanged, key=lambda t: t.found.changed)
        controls = [c for c in (best.random, best.varying, best.answer) if c]
        found["exchanged at"] = layers[best.layer]
        found["changes as predicted"] = f"{100 * best.found.changed:.0f} %"
        found["controls"] = f"{100 * max(c.changed for c in controls):.0f} %"
        found["read from the exchanged part"] = f"{100 * best.carried:.0f} %"
    return found


def table(result: Result) -> Table:
    """The variables of a network of which most can be said."""
    found = probe_map(result)
    order = ("used", "partly used", "readable", "not readable", "free")
    rows = sorted(
        (row for row in found.rows if row.kind != "reference"),
        key=lambda r: (order.index(r.verdict), -max(c.gain for c in r.cells)),
    )
    made = result.cell
    title = f"{found.machine}, seed {made.seed}: {made.architecture.description}"
    kept = [line(row, found.layers) for row in rows[:SHOWN]]
    share = f"{100 * found.accuracy:.1f} % of its answers are right."
    return Table(title, kept, f"{conclusion(found)} {share}")


def overview(results: Sequence[Result]) -> Table:
    """The variables that each network was shown to use on the way to its answer."""
    return Table("Over seeds", [said(result) for result in results])


def said(result: Result) -> report.Row:
    """One network in a row."""
    found = probe_map(result)
    on_the_way = [row for row in found.rows if row.intermediate]
    line: report.Row = {"machine": found.machine, "seed": result.cell.seed}
    line["right"] = f"{100 * found.accuracy:.1f} %"
    for verdict in ("used", "partly used"):
        names = [row.name for row in on_the_way if row.verdict == verdict]
        line[verdict] = ", ".join(names) or "–"
    return line


def probe_map(result: Result) -> ProbeMap:
    """The map that was measured."""
    return from_object(ProbeMap, result.measured_values, result.cell.description)


def main() -> None:
    """Train what is missing, look inside, and print a table for each network."""
    chosen = options(__doc__).parse_args()
    results = trained("probe_maps", cells(), measure, chosen)
    publish([overview(results), *map(table, results)], chosen)


if __name__ == "__main__":
    main()
