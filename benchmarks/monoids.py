"""How long it takes to enumerate transformation monoids, beside libsemigroups.

Every row is measured in a process of its own, so that its peak of memory is its own. The
column of libsemigroups (in C++) is empty where its Python bindings are not installed.
"""

import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from multiprocessing import get_context
from statistics import median
from time import process_time

import numpy as np
from report import Row, Table, each, parser, publish

from krohn.algebra import zoo
from krohn.algebra.automaton import IntArray
from krohn.algebra.green import green
from krohn.algebra.monoid import TransformationMonoid

RUNS = 3
ORACLE = "libsemigroups_pybind11"


@dataclass(frozen=True)
class Job:
    """A monoid to enumerate.

    Attributes:
        name: ``T7`` (all maps of 7 points), ``random 6 3 0`` (states, letters, seed),
            ``cycles 4 9`` (one permutation), or a name of the zoo.
    """

    name: str


def generators(name: str) -> IntArray:
    """The letters of a machine of the zoo, of a full monoid, or drawn at random."""
    kind, *numbers = name.split()
    if kind == "random":
        states, letters, seed = map(int, numbers)
        return np.random.default_rng(seed).integers(states, size=(letters, states))
    if kind == "cycles":
        return disjoint_cycles([int(n) for n in numbers])
    if kind[0] == "T":
        return full(int(kind[1:]))
    return zoo.machine(name).transitions


def full(n: int) -> IntArray:
    """A cycle, a transposition and a merging map: they generate all maps."""
    points = np.arange(n)
    swap, merge = points.copy(), points.copy()
    swap[:2], merge[1] = [1, 0], 0
    return np.stack([(points + 1) % n, swap, merge])


def disjoint_cycles(lengths: list[int]) -> IntArray:
    """One permutation with these cycles: as many words as their common multiple."""
    ends = np.cumsum([0, *lengths])
    parts = [np.roll(np.arange(a, b), -1) for a, b in pairwise(ends)]
    return np.concatenate(parts)[None]


def seconds(work: Callable[[], object]) -> float:
    """The median CPU time of some runs."""
    times = []
    for _ in range(RUNS):
        began = process_time()
        work()
        times.append(process_time() - began)
    return median(times)


def ours(name: str) -> Row:
    """Size, time and peak memory of this process."""
    rows = generators(name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    took = seconds(lambda: TransformationMonoid.enumerate(rows))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    monoid = TransformationMonoid.enumerate(rows)
    began = process_time()
    classes = len(green(monoid).d_sizes)
    return {
        "monoid": name,
        "|S¹|": monoid.size,
        "longest word": int(monoid.length.max()),
        "rules": monoid.rules,
        "D-classes": classes,
        "s": took,
        "Green s": process_time() - began,
        "peak MiB": peak / 1024,
        "of that for it": (peak - before) / 1024,
    }


def theirs(name: str) -> float | None:
    """The time of libsemigroups, if it is there."""
    if find_spec(ORACLE) is None:
        return None
    import libsemigroups_pybind11 as other

    guard = other.ReportGuard(False)
    maps = [other.Transf(row) for row in generators(name).tolist()]
    took = seconds(lambda: other.FroidurePin(maps).run())
    del guard
    return took


def measure(job: Job) -> Row:
    """One row; each side has a process of its own."""
    context = get_context("spawn")
    with context.Pool(1) as pool:
        row: Row = pool.apply(ours, (job.name,))
    with context.Pool(1) as pool:
        other = pool.apply(theirs, (job.name,))
    ratio = None if other is None else row["s"] / other
    return {**row, "libsemigroups s": other, "ratio": ratio}


CASES = (
    *("T5", "T6", "T7", "Grid16", "Grid64", "Dyck4,2", "S7", "random 5 2 0"),
    *("random 6 3 1", "random 8 2 2", "random 8 2 4", "cycles 4 9 5 7 11"),
)


def main() -> None:
    """Measure all cases, or those that are named, and print the table."""
    found = parser(__doc__)
    found.add_argument("cases", nargs="*", help="names of monoids; all by default")
    options = found.parse_args()
    rows = each(measure, [Job(name) for name in options.cases or CASES])
    versions = f"numpy {np.__version__}, Python {sys.version[:4]}"
    note = f"CPU time, the median of {RUNS} runs; {versions}"
    title = "seconds to enumerate transformation monoids"
    publish([Table(title, rows, note)], options)


if __name__ == "__main__":
    main()
