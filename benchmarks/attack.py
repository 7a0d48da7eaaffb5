"""Attacks on proofs: how close words, orders and kernels come to every bound.

    nice python benchmarks/attack.py --dtype float32 --store results.json [--positions 1e8]

One model of every family of constructions, each at the first of its lengths that is
certified in the number format. Every number that a network stores is held against its
bound (`krohn.instruments.attack`), and the tightest one is shown for each operation.
What is finished stands in the store and is not run again: an interrupted run goes on with
the next model.
"""

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

import torch
from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.architectures.generator.build import Freedom
from krohn.compiled_model import CompiledModel
from krohn.instruments.attack.campaign import (
    Attack,
    Extent,
    attack,
)
from krohn.machines import read
from krohn.network.precision import PRECISIONS

POSITIONS = 1e8
SEED = 0


@dataclass(frozen=True)
class Job:
    """A model that is attacked.

    Attributes:
        machine: As `krohn compile` takes it.
        construction: How it is compiled; ``elman`` is an RNN, ``balanced`` a generator.
        lengths: T: the first of them that is certified.
        weight: Its share of all positions, relative to the others.
        compiled: Whether it is run through ``torch.compile`` as well.
        options: Further options of `krohn.compile`.
    """

    machine: str
    construction: str
    lengths: tuple[int, ...]
    weight: float = 1.0
    compiled: bool = False
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def title(self) -> str:
        """The model in a few words."""
        more = "".join(f" {name}" for name, _ in self.options)
        return f"{self.machine} {self.construction}{more}"

    def build(self, length: int, dtype: str) -> CompiledModel:
        """The model, proved.

        Raises:
            KrohnError: If it is not certified.
        """
        if self.construction == "balanced":
            third = Fraction(1, 3)
            return krohn.compile_generator(
                self.machine, length, Freedom(), opening=third, dtype=dtype
            )
        if self.construction == "elman":
            return krohn.compile(read(self.machine), arch="rnn", dtype=dtype)
        machine, options = read(self.machine), dict(self.options)
        return krohn.compile(machine, length, self.construction, dtype=dtype, **options)


SEEN = (("observe", "outputs"),)
JOBS = (
    Job("Grid4", "scan", (16,), 0.2),
    Job("Grid4", "scan", (5,), 0.1, options=(("strict", True),)),
    Job("C5", "counter", (16, 4, 3), 3),
    Job("C5", "counter", (16, 4, 3), 2, options=(("activation", "sine"),)),
    Job("C2", "counter", (512, 18, 6), 0.05),
    Job("C2xC3", "product", (12, 4, 2), 2),
    Job("Memory5", "memory", (64,), 14),
    Job("Memory5", "memory", (64,), 14, options=(("uniform", True),)),
    Job("Parity8@2,3,7", "parity-selected", (8,), 3, compiled=True, options=SEEN),
    Job("ParityTree2,2", "parity-tree", (8,), 0.5, options=SEEN),
    Job("FFLTracker2", "window", (32,), 2),
    Job("regex:(a|b)*ab", "definite", (16,), 1),
    Job("regex:b*ab*ab*", "content", (12, 4), 2),
    Job("Grid4", "gridworld", (16, 1), 0.2),
    Job("Grid9", "corridor", (16, 4), 0.08),
    Job("Dyck4,2", "dyck", (12, 2), 0.2),
    Job("S4", "cascade", (12, 6, 3), 0.05),
    Job("Grid4", "cascade", (31,), 0.2),
    Job("D6", "elman", (64,), 3),
    Job("Dyck3,2", "balanced", (16,), 3),
)


@dataclass(frozen=True)
class Task:
    """A job in a number format, and for how many positions.

    Attributes:
        job: The model.
        dtype: The format.
        positions: How many positions of words.
        store: Where results are kept.
    """

    job: Job
    dtype: str
    positions: float
    store: Path

    @property
    def key(self) -> str:
        """The key that its result is kept under."""
        return f"{self.dtype} {self.job.title}"


@cache
def certified(job: Job, dtype: str) -> tuple[CompiledModel, int] | None:
    """The model at the first length that is certified, if one is."""
    for length in job.lengths:
        try:
            return job.build(length, dtype), length
        except KrohnError:
            continue
    return None


def measure(task: Task) -> Row:
    """Attack one model, or look up what came of that before."""
    known = _load(task.store)
    if task.key not in known:
        began, found = monotonic(), certified(task.job, task.dtype)
        assert found is not None
        built, length = found
        assert built.proof is not None
        extent = Extent(positions=task.positions)
        machine = seen(task.job)
        result = attack(
            built.file, machine, built.proof, extent, SEED, task.job.compiled
        )
        known[task.key] = row(task, length, result) | {"seconds": monotonic() - began}
        task.store.write_text(json.dumps(known, indent=1))
    found_row: Row = known[task.key]
    return found_row


def seen(job: Job) -> Any:
    """The machine of a job, with the outputs that the network says."""
    return read(job.machine)


def row(task: Task, length: int, found: Attack) -> Row:
    """The record of an attack."""
    return {
        "model": task.job.title,
        "dtype": task.dtype,
        "T": length,
        "positions": found.positions,
        "violations": len(found.violations),
        **found.to_object(),
    }


def _load(store: Path) -> dict[str, Row]:
    known: dict[str, Row] = json.loads(store.read_text()) if store.exists() else {}
    return known


def by_operation(rows: list[Row]) -> list[Row]:
    """Bound / observed of every operation and format, over all models."""
    found = []
    for operation in sorted({name for row in rows for name in row["numbers"]}):
        closest = {d: _closest(rows, operation, d) for d in _formats(rows)}
        ratios = {d: _ratio(worst) for d, worst in closest.items()}
        at = max(closest.values(), key=_share)
        count = sum(row["numbers"].get(operation, 0) for row in rows)
        violations = [v for row in rows for v in row["violations"]]
        beyond = sum(v["operation"] == operation for v in violations)
        told = f"{at['model']}, {at['way']}" if _share(at) else None
        found.append(
            {"bounds of": operation, "numbers": count, "violations": beyond}
            | ratios
            | {"closest": told}
        )
    return found


def _formats(rows: list[Row]) -> list[str]:
    return [d for d in PRECISIONS if any(row["dtype"] == d for row in rows)]


def _closest(rows: list[Row], operation: str, dtype: str) -> Row:
    """The number closest to the bounds of an operation in a format; empty if none."""
    tried = [r for r in rows if r["dtype"] == dtype and operation in r["numbers"]]
    worst = [
        w | {"model": row["model"]}
        for row in tried
        for w in [{"share": 0.0}, *row["tightest"]]
        if w.get("operation", operation) == operation
    ]
    return max(worst, key=_share, default={})


def _share(worst: Row) -> float:
    share = worst.get("share", 0.0)
    return float("inf") if share is None else float(share)


def _ratio(worst: Row) -> float | str | None:
    if not worst:
        return None
    share = _share(worst)
    return 1 / share if share else "never off"


def by_model(rows: list[Row]) -> list[Row]:
    """How many positions of each model, by format, and its length there."""
    cells = {
        (row["model"], row["dtype"]): f"{row['positions']:,} (T = {row['T']})"
        for row in rows
    }
    named = [
        {"model": model} | {d: cells.get((model, d)) for d in _formats(rows)}
        for model in dict.fromkeys(row["model"] for row in rows)
    ]
    total = {d: _total(rows, d, "positions") for d in _formats(rows)}
    beyond = {d: _total(rows, d, "violations") for d in _formats(rows)}
    return [*named, {"model": "all"} | total, {"model": "violations"} | beyond]


def _total(rows: list[Row], dtype: str, of: str) -> int:
    chosen = [row[of] for row in rows if row["dtype"] == dtype]
    return sum(n if isinstance(n, int) else len(n) for n in chosen)


def by_way(rows: list[Row]) -> list[Row]:
    """How many positions were run in each way, by format."""
    names = dict.fromkeys(_grouped(way) for row in rows for way in row["ways"])
    return [
        {"way": name}
        | {
            d: sum(
                n
                for row in rows
                for way, n in row["ways"].items()
                if (row["dtype"], _grouped(way)) == (d, name)
            )
            for d in _formats(rows)
        }
        for name in names
    ]


def _grouped(way: str) -> str:
    return "other orders" if way.startswith("order") else way


def main() -> None:
    """Attack all models in one or all formats, and print the tables."""
    options = parser(__doc__)
    options.add_argument("--dtype", choices=list(PRECISIONS), help="one format only")
    options.add_argument("--positions", type=float, default=POSITIONS)
    options.add_argument("--store", type=Path, default=Path("attack.json"))
    options.add_argument("--model", default="", help="models with this in their names")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    formats = [chosen.dtype] if chosen.dtype else list(PRECISIONS)
    tasks = [t for dtype in formats for t in tasks_of(dtype, chosen)]
    rows = each(measure, tasks)
    publish(
        [
            Table("bound / observed", by_operation(rows), NOTE),
            Table("positions by model", by_model(rows)),
            Table("positions by way", by_way(rows)),
        ],
        chosen,
    )


NOTE = (
    "Never off: each number was exactly right, whatever the bound. For a margin it is "
    "observed / bound. All orders, batches and kernels are counted together."
)


def tasks_of(dtype: str, chosen: Any) -> list[Task]:
    """The models that are certified in a format, with their shares of the positions."""
    jobs = [j for j in JOBS if chosen.model in j.title and certified(j, dtype)]
    whole = sum(job.weight for job in jobs)
    return [
        Task(job, dtype, chosen.positions * job.weight / whole, chosen.store)
        for job in jobs
    ]


if __name__ == "__main__":
    main()
