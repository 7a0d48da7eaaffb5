"""A census: which hidden Markov models become networks, by each way in.

python benchmarks/hidden_markov_census.py [--models N] [--length T] [--within E] [--jobs N]

Models are drawn anew by the seeds 0, 1, …: 2 to 8 states, 2 to 6 letters, with a
probability of 0, 0.5, 0.8 or 0.95 to stay in a state, with and without zeros. Rows of laws
are numbers uniform in (0, 1), divided by their sum. Each entry of a model with zeros is 0
with probability 0.3, but for the largest of its row. Models that people bring follow.

Each model and way in has a row in results/hidden_markov_census; what is there is not done
again, and the tables are made of the rows.
"""

import os
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
import torch
from bad_words import largest_errors
from brought_models import WAYS, Case, drawn, known
from experiment import RESULTS
from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.compiled_model import CompiledModel
from krohn.instruments.compare.training.provenance import content_name
from krohn.instruments.compare.training.run_table import RunTable

FOLDER = RESULTS / "hidden_markov_census"
ONE = "arrays, `.npz`"
"""The way in of the models that people bring."""
LEAST = 1e-15
"""Smaller errors are those of the reference filter, too."""
Errors = tuple[float, float | None]
SIZE = ("format", "states")
KEY = ("model", "way", "T", "within")
"""The columns that say which row it is."""


def tried(length: int, within: float, job: tuple[Case, Sequence[str]]) -> Row:
    """The rows of a model, one for each way in."""
    torch.set_num_threads(1)
    case, ways = job
    found: dict[bytes, Errors] = {}
    rows = [_row(case, way, length, within, found) for way in ways]
    told = {"model": case.name, "kind": case.kind, "states": len(case.start)}
    networks = {str(row["network"]) for row in rows}
    told |= {"ways": len(rows), "networks": ", ".join(sorted(networks))}
    return told | {"CPU s": sum(row["CPU_s"] for row in rows), "rows": rows}


def _row(
    case: Case,
    way: str,
    length: int,
    within: float,
    found: dict[bytes, Errors],
) -> Row:
    """What became of a model by a way in.

    Args:
        case: The model.
        way: The way in.
        length: T.
        within: The error that is asked for.
        found: The largest errors that were found of each network, which grows.
    """
    row: Row = {"model": case.name, "kind": case.kind, "way": way}
    row |= {"T": length, "within": within, "states": len(case.start)}
    began = process_time()
    with tempfile.TemporaryDirectory() as folder:
        source = WAYS[way](case, Path(folder))
        try:
            model = krohn.compile(source, length, within=within)
        except KrohnError as reason:
            seconds = process_time() - began
            return row | {"network": None, "CPU_s": seconds, "why_not": str(reason)}
    seconds, sizes = process_time() - began, model.summary()
    said = _tensors(model)
    if said not in found:
        found[said] = largest_errors(model)
    return row | {
        "network": model.construction,
        "CPU_s": seconds,
        "format": sizes["dtype"],
        "parameters": sizes["parameters"],
        "proved": model.file.header["claim"]["error"],
        "found": found[said][0],
        "in_bad_orders": found[said][1],
    }


def _tensors(model: CompiledModel) -> bytes:
    """The same for networks with the same tensors: ways in differ in names only."""
    tensors = sorted(model.file.tensors.items())
    return b"".join(name.encode() + array.tobytes() for name, array in tensors)


def summed(rows: Sequence[Row], keys: Sequence[str]) -> list[Row]:
    """A line for each way in, or kind of model: shares and medians."""
    found = list[Row]()
    for key in dict.fromkeys(tuple(row.get(k) for k in keys) for row in rows):
        of = [row for row in rows if tuple(row.get(k) for k in keys) == key]
        made = [row for row in of if row["network"]]
        networks = [row["network"] for row in made]
        counts = {
            name: networks.count(name) for name in dict.fromkeys(sorted(networks))
        }
        ratios = [r["proved"] / r["found"] for r in made if r["found"] > LEAST]
        worst = [max(r["found"], r.get("in_bad_orders") or 0) for r in made]
        allowed = [
            r["proved"] / e for r, e in zip(made, worst, strict=True) if e > LEAST
        ]
        found.append(
            {
                **dict(zip(keys, key, strict=True)),
                "models": len(of),
                "compiled": f"{len(made) / len(of):.1%}",
                "parameters": _median([row["parameters"] for row in made]),
                "CPU s": _median([row["CPU_s"] for row in of]),
                "proved": _median([row["proved"] for row in made]),
                "found": _median([row["found"] for row in made]),
                "proved / found": _median(ratios),
                "in bad orders": _median(allowed),
                "networks": ", ".join(f"{name} {n}" for name, n in counts.items()),
            }
        )
    return found


def _median(numbers: Sequence[float]) -> float | None:
    return float(np.median(numbers)) if numbers else None


def kept(
    asked: Sequence[tuple[Case, Sequence[str]]], length: int, within: float, jobs: int
) -> list[Row]:
    """The rows of all models and their ways in, after those that are missing were made."""
    table = RunTable(FOLDER)
    there = table.read()

    def name(case: Case, way: str) -> str:
        return content_name(
            dict(zip(KEY, (case.name, way, length, within), strict=True))
        )

    def keep(row: Row) -> None:
        new = {content_name({k: r[k] for k in KEY}): r for r in row["rows"]}
        table.add(new)
        there.update(new)

    left = [
        (case, [way for way in ways if name(case, way) not in there])
        for case, ways in asked
    ]
    FOLDER.mkdir(parents=True, exist_ok=True)
    each(partial(tried, length, within), [job for job in left if job[1]], jobs, keep)
    return [there[name(case, way)] for case, ways in asked for way in ways]


def main() -> None:
    """Print the tables of docs/kinds/hidden_markov.md."""
    asked = parser(__doc__)
    asked.add_argument("--models", type=int, default=200, help="how many are drawn")
    asked.add_argument("--first", type=int, default=0, help="the first seed")
    asked.add_argument("--ways", nargs="*", default=list(WAYS), help="ways in")
    asked.add_argument("--length", type=int, default=64, help="T")
    asked.add_argument("--within", type=float, default=1e-3, help="the error")
    asked.add_argument(
        "--jobs", type=int, default=1, help="processes, of a thread each"
    )
    options = asked.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # of processes that are started
    seeds = range(options.first, options.first + options.models)
    how = options.length, options.within, options.jobs
    rows = kept([(drawn(seed), options.ways) for seed in seeds], *how)
    brought = kept([(case, [ONE]) for case in known()], *how)
    by_size = sorted(rows, key=lambda row: [str(row.get(key)) for key in SIZE])
    about = f"T = {options.length}, within {options.within:g}"
    tables = [
        Table(f"Models drawn anew, by way in: {about}", summed(rows, ("way",))),
        Table(f"The same by kind: {about}", summed(rows, ("kind",))),
        Table(f"The same by states and format: {about}", summed(by_size, SIZE)),
        Table(
            f"Models that people bring, by arrays: {about}", list(map(short, brought))
        ),
    ]
    publish(tables, options)


SHOWN = ("model", "states", "network", "format", "parameters", "proved", "found")


def short(row: Row) -> Row:
    """A row of a known model, without what all of them have in common."""
    shown = {key: row.get(key) for key in SHOWN}
    shown |= {"in bad orders": row.get("in_bad_orders"), "CPU s": row["CPU_s"]}
    reason = str(row.get("why_not", "")).rpartition("in float64: ")[2]
    return shown | ({"why not": reason} if reason else {})


if __name__ == "__main__":
    main()
