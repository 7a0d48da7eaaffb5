"""Attacks on proofs: how close words, orders and kernels come to every bound.

    nice python benchmarks/attack.py --dtype float32 --store results.json [--positions 1e8]

One model of every family of constructions, each at the first of its lengths that is
certified in the number format. Every number that a network stores is held against its
bound (`verify.attack`), and the tightest one is shown for each operation. What is finished
stands in the store: an interrupted run goes on with the next model.
"""

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from time import monotonic
from typing import Any

import torch
from report import Row, Table, each, parser, publish

import krohn
from algebra.errors import KrohnError
from compiler.generator import Freedom
from krohn.compilation import CompiledModel
from krohn.sources import read
from network.precision import PRECISIONS
from verify.attack.campaign import Attack, Extent, attack

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


SEEN = (("observation", "outputs"),)
JOBS = (
    Job("Grid4", "scan", (16,), 0.4),
    Job("Grid4", "scan", (5,), 0.15, options=(("strict", True),)),
    Job("C5", "counter", (16, 4, 3), 3, compiled=True),
    Job("C5", "counter", (16, 4, 3), 3, options=(("activation", "sine"),)),
    Job("C2", "counter", (512, 18, 6), 0.05),
    Job("C2xC3", "product", (12, 4, 2), 3),
    Job("Memory5", "memory", (64,), 9),
    Job("Memory5", "memory", (64,), 9, options=(("uniform", True),)),
    Job("Parity8@2,3,7", "parity-selected", (8,), 3, compiled=True, options=SEEN),
    Job("ParityTree2,2", "parity-tree", (8,), options=SEEN),
    Job("FFLTracker2", "window", (32,), 4),
    Job("regex:(a|b)*ab", "definite", (16,), 2),
    Job("regex:b*ab*ab*", "content", (12, 4), 4),
    Job("Grid4", "gridworld", (16, 1), 0.4),
    Job("Grid9", "corridor", (16, 4), 0.15),
    Job("Dyck4,2", "dyck", (12, 2), 0.3),
    Job("S4", "cascade", (12, 6, 3), 0.08),
    Job("Grid4", "cascade", (31,), 0.4),
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
        """What its result is kept under."""
        return f"{self.dtype} {self.job.title} {self.positions:.0f}"


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
    """What is kept of an attack."""
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
    """The tightest bound of every operation over all models, by number format."""
    found: dict[tuple[str, str], Row] = {}
    for model in rows:
        for worst in model["tightest"]:
            operation, dtype = worst["operation"], model["dtype"]
            entry = found.setdefault(
                (operation, dtype),
                {"operation": operation, "dtype": dtype, "numbers": 0, "share": 0.0},
            )
            entry["numbers"] += model["numbers"].get(operation, 0)
            share = float("inf") if worst["share"] is None else worst["share"]
            if share >= entry["share"]:
                entry |= {
                    "share": share,
                    "bound": worst["bound"],
                    "observed": worst["observed"],
                    "model": model["model"],
                    "way": worst["way"],
                }
    return [_readable(found[key], rows) for key in sorted(found)]


def _readable(entry: Row, rows: list[Row]) -> Row:
    share = entry.pop("share")
    ratio = "exact" if share == 0 else 1 / share
    violations = sum(
        v["operation"] == entry["operation"]
        for model in rows
        if model["dtype"] == entry["dtype"]
        for v in model["violations"]
    )
    return entry | {"bound / observed": ratio, "violations": violations}


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
    models = [
        {k: r[k] for k in ("model", "dtype", "T", "positions", "seconds")} for r in rows
    ]
    publish(
        [
            Table("Models attacked", models),
            Table("Bounds and what came closest to them", by_operation(rows), NOTE),
        ],
        chosen,
    )


NOTE = (
    "exact: nothing was ever off. Observed: how far a number was off, or for a margin how "
    "far the right logit was ahead, for which the ratio is observed / bound."
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
