"""Decompositions: levels, groups, proofs of covering and times, for many machines.

Each machine is decomposed by holonomy, down to primes, and by the cheapest method; each
covering is proved. *Lift* is the CPU time of holonomy alone, without a proof, the least of
some runs. The groups are held against an enumeration of the monoid, where that is possible:
the simple factors of the components must be those of the maximal subgroups.
Times of SgpDec 1.2.0 under GAP 4.16 were measured apart, on two cores, for skeleton and
lift of the letters, without a proof.
"""

import argparse
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic, process_time

import numpy as np
from report import Row, Table, each, parser, publish

from krohn.algebra import zoo
from krohn.algebra.automaton import Semiautomaton
from krohn.algebra.budget import Budget, BudgetExceeded, steps_of
from krohn.algebra.cascade import Cascade
from krohn.algebra.decomposition.diagrams import kind, levels
from krohn.algebra.decomposition.holonomy import holonomy
from krohn.algebra.decomposition.methods import Decomposition, decompose
from krohn.algebra.errors import KrohnError
from krohn.algebra.green import green
from krohn.algebra.groups.series import composition_factors
from krohn.algebra.monoid import TransformationMonoid
from krohn.machines import read

EXAMPLES = Path(__file__).parents[1] / "examples"
MOST_ELEMENTS, MOST_IMAGES = 50_000, 200_000
LIFTS = 5
DYCKS = [f"Dyck{depth},{types}" for depth in (1, 2, 3, 4) for types in (1, 2, 3)]
GRIDS = [f"Grid{n}" for n in (2, 3, 6, 12, 16, 20, 25, 30)]
SGPDEC = {
    **{"T_3": "0.003", "T_4": "0.02", "T_5": "0.05 (proof 79.8)", "T_6": "0.64"},
    **{"T_7": "10.96", "T_8": "> 270, killed"},
    **{"Černý 4": "0.007", "Černý 6": "0.43", "Černý 8": "206", "Černý 10": "> 4"},
}


@dataclass(frozen=True)
class Job:
    """A machine and how long it may take."""

    name: str
    machine: Semiautomaton
    steps: float


def full_transformations(n: int) -> Semiautomaton:
    """A cycle, a transposition and a collapse generate all maps of n states."""
    rows = [[*range(1, n), 0], [1, 0, *range(2, n)], [0, 0, *range(2, n)]]
    return numbered(np.array(rows))


def cerny(n: int) -> Semiautomaton:
    """The machine with the longest known shortest reset word, (n − 1)²."""
    return numbered(np.array([[*range(1, n), 0], [1, *range(1, n)]]))


def numbered(table: np.ndarray) -> Semiautomaton:
    """A machine with numbers for names."""
    letters, states = (tuple(map(str, range(size))) for size in table.shape)
    return Semiautomaton(table, letters, states)


def measure(job: Job) -> Row:
    """The row of one machine."""
    machine = job.machine
    row: Row = {
        "machine": job.name,
        "states": len(machine.states),
        "letters": len(machine.letters),
    }
    found: dict[str, Decomposition] = {}
    for method in ("holonomy", "prime", "auto"):
        began = monotonic()
        try:
            found[method] = decompose(machine, method, Budget(job.steps, MOST_IMAGES))
        except BudgetExceeded as reason:
            return row | {"levels": str(reason)}
        row[f"{method} s"] = monotonic() - began
    return row | facts(machine, found)


def lift(job: Job) -> float:
    """The seconds of holonomy alone."""
    times = []
    for _ in range(LIFTS):
        began = process_time()
        holonomy(job.machine, Budget(job.steps, MOST_IMAGES))
        times.append(process_time() - began)
    return min(times)


def facts(machine: Semiautomaton, found: dict[str, Decomposition]) -> Row:
    """The sizes of the decompositions, and whether the monoid agrees."""
    plain, prime, best = (found[m].cascade for m in ("holonomy", "prime", "auto"))
    size, agrees = agreement(machine, prime)
    return {
        "monoid": size,
        "levels": len(levels(plain)),
        "components": spelled(plain),
        "coordinates proved": str(found["holonomy"].covering.coordinates),
        "primes": spelled(prime),
        "best": f"{found['auto'].method}, {len(levels(best))} levels",
        "depth": found["auto"].cost.depth,
        "groups agree": agrees,
    }


def spelled(cascade: Cascade) -> str:
    """The components, equal ones counted."""
    counts = Counter(kind(component) for component in cascade.components)
    return ", ".join(k if n == 1 else f"{n} × {k}" for k, n in counts.items())


def agreement(
    machine: Semiautomaton, cascade: Cascade
) -> tuple[int | None, bool | None]:
    """The size of the monoid, and whether the simple factors are the same."""
    try:
        monoid = TransformationMonoid.enumerate(machine, Budget(size=MOST_ELEMENTS))
    except BudgetExceeded:
        return None, None
    boxes = green(monoid).egg_boxes()
    intrinsic = {
        f for b in boxes if b.group is not None for f in composition_factors(b.group)
    }
    found = {f for c in cascade.components for f in composition_factors(c.group)}
    return monoid.size, intrinsic == found


def random_rows(count: int, steps: float) -> list[Row]:
    """Random machines of 2 to 7 states and 1 to 3 letters, by number of states."""
    rng = np.random.default_rng(2026)
    by_size: dict[int, list[Row]] = {}
    for _ in range(count):
        n, letters = int(rng.integers(2, 8)), int(rng.integers(1, 4))
        machine = numbered(rng.integers(0, n, (letters, n)))
        by_size.setdefault(n, []).append(measure(Job("random", machine, steps)))
    return [summary(n, rows) for n, rows in sorted(by_size.items())]


def summary(states: int, rows: list[Row]) -> Row:
    """Averages and the worst of the rows of one size."""
    times = [row["holonomy s"] + row["prime s"] + row["auto s"] for row in rows]
    compared = [row["groups agree"] for row in rows if row["groups agree"] is not None]
    return {
        "states": states,
        "machines": len(rows),
        "proved": sum("coordinates proved" in row for row in rows),
        "monoid compared": len(compared),
        "groups disagree": compared.count(False),
        "most levels": max(row["levels"] for row in rows),
        "mean levels": float(np.mean([row["levels"] for row in rows])),
        "mean best levels": float(
            np.mean([int(row["best"].split(", ")[1].split()[0]) for row in rows])
        ),
        "longest s": max(times),
        "total s": sum(times),
    }


def file_jobs(folder: Path, steps: float) -> list[Job]:
    """The machines that can be read from a folder, missing moves led to a sink."""
    jobs = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        try:
            machine = read(path, "sink").semiautomaton
        except KrohnError:
            continue
        jobs.append(Job(path.name, machine, steps))
    return jobs


def main() -> None:
    """Decompose, and print the tables."""
    found = parser(__doc__)
    found.add_argument("--random", type=int, default=500, help="random machines")
    found.add_argument("--files", type=Path, default=EXAMPLES, help="a folder")
    found.add_argument("--effort", default="high", help="as of krohn decompose")
    options: argparse.Namespace = found.parse_args()
    steps = steps_of(options.effort)
    job = partial(Job, steps=steps)
    names = [*zoo.names(), *DYCKS, *GRIDS]
    named = [job(n, zoo.machine(n).semiautomaton) for n in dict.fromkeys(names)]
    large = [job(f"T_{n}", full_transformations(n)) for n in range(2, 9)]
    large += [job(f"Černý {n}", cerny(n)) for n in (4, 6, 8, 10, 12, 14)]
    beside = [
        row | {"lift s": lift(job), "SgpDec s": SGPDEC.get(job.name)}
        for row, job in zip(each(measure, large), large, strict=True)
    ]
    publish(
        [
            Table("machines by name", each(measure, named)),
            Table("full transformation monoids and Černý's machines", beside),
            Table("random machines", random_rows(options.random, steps)),
            Table("machine files", each(measure, file_jobs(options.files, steps))),
        ],
        options,
    )


if __name__ == "__main__":
    main()
