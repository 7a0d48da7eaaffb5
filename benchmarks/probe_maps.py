"""Which algorithm did training find? Probes and exchanges in networks of four machines.

    python benchmarks/probe_maps.py

Transformers of the desk that answer well: C2, Grid9 and Dyck4,2, a cascade of memories, on
words of 32 letters in two layers, and D8 on words of 12 letters in four. What a network
holds and uses of the variables of derived networks is in results/probe_maps, one file for
each network; docs/which-algorithm.md says how it is found and what it shows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from experiment import options, trained
from report import Row, Table, publish

from compare.models import build
from compare.probes import Survey, survey
from compare.tasks.catalogue import task
from compare.training.cells import Cell
from compare.training.presets import gpt
from compare.training.run import Run
from compare.training.sweep import Result

SEEDS = (0, 1)
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


def probed(cell: dict[str, Any]) -> str:
    """What a probe reads; in brackets the same before training, and the control task."""
    trained, before = cell["trained"], cell["untrained"] or {}
    if trained["accuracy"] is None:
        return f"R² {shown(trained['explained'])} ({shown(before.get('explained'))})"
    control = shown(trained["control"])
    return f"{shown(trained['accuracy'])} ({shown(before.get('accuracy'))}, {control})"


def shown(share: float | None) -> str:
    """A share in per cent."""
    return "–" if share is None else f"{100 * share:.0f}"


def row(found: dict[str, Any], layers: Sequence[str]) -> Row:
    """A variable: layers, then what exchanging it does."""
    cells = zip(layers, found["cells"], strict=True)
    table: Row = {"variable": found["names"][0], "verdict": found["verdict"]}
    table |= {layer: probed(cell) for layer, cell in cells}
    if found["exchanged"]:
        best = max(found["exchanged"], key=lambda t: t["found"]["changed"])
        table["exchanged at"] = layers[best["layer"]]
        table["changes as derived"] = f"{100 * best['found']['changed']:.0f} %"
        controls = [
            best[name] for name in ("random", "varying", "answer") if best[name]
        ]
        table["controls"] = f"{100 * max(c['changed'] for c in controls):.0f} %"
    return table


def table(result: Result) -> Table:
    """The variables of a network of which most can be said."""
    found = result.measured
    order = ("used", "partly used", "readable", "not readable", "free")
    rows = sorted(
        (r for r in found["rows"] if r["kind"] != "reference"),
        key=lambda r: (order.index(r["verdict"]), -max(c["gain"] for c in r["cells"])),
    )
    title = f"{found['machine']}: {result.cell.architecture.said}, seed {found['seed']}"
    kept = [row(r, found["layers"]) for r in rows[:SHOWN]]
    share = f"{100 * found['accuracy']:.1f} % of its answers are right."
    return Table(title, kept, f"{found['conclusion']} {share}")


def overview(results: Sequence[Result]) -> Table:
    """What each network was shown to use on the way to its answer."""
    return Table("Over seeds", [said(result.measured) for result in results])


def said(found: dict[str, Any]) -> Row:
    """One network in a row."""
    on_the_way = [r for r in found["rows"] if r["kind"] not in ("reference", "answer")]
    row = {"machine": found["machine"], "seed": found["seed"]}
    row["right"] = f"{100 * found['accuracy']:.1f} %"
    for verdict in ("used", "partly used"):
        names = [r["names"][0] for r in on_the_way if r["verdict"] == verdict]
        row[verdict] = ", ".join(names) or "–"
    return row


def main() -> None:
    """Train what is missing, look inside, and print a table for each network."""
    chosen = options(__doc__).parse_args()
    results = trained("probe_maps", cells(), measure, chosen)
    publish([overview(results), *map(table, results)], chosen)


if __name__ == "__main__":
    main()
