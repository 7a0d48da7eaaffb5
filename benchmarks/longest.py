"""The longest T that is certified, by machine, construction and number format.

T is doubled until it is not certified, and the last step is bisected until the bounds are
1 % apart. Every probe compiles and proves. That a longer T is harder is assumed, not
proved: the result is a T that is certified, next to one that is not. A probe that takes
longer than the cap ends the search: the longest T certified until then is shown with ≥.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import monotonic

from report import Row, Table, each, parser, publish

import krohn
from algebra.errors import KrohnError

CASES = (
    *(("Grid5", "scan"), ("S5", "scan")),
    *(("C2", "counter"), ("C5", "counter"), ("C8", "counter")),
    *(("FlipFlop", "memory"), ("Memory5", "memory"), ("FFLTracker2", "window")),
    *(("C2xC3", "product"), ("Grid9", "gridworld"), ("Grid9", "corridor")),
    *(("S4", "cascade"), ("PermReset4", "cascade"), ("Dyck4,2", "cascade")),
    *(("Dyck4,2", "dyck"), ("S5", "scan5")),
)
DTYPES = ("float64", "float32", "bfloat16", "float16")
NAMED = (
    *(("Grid5", "scan", "float32", t) for t in (1024, 4096)),
    *(("S5", "scan", "float32", t) for t in (1024, 4096)),
    *((m, "scan", d, 256) for m in ("Grid5", "S5") for d in ("bfloat16", "float16")),
)
FIRST, LAST = 16, 2**20


@dataclass(frozen=True)
class Job:
    """A search for the longest T.

    Attributes:
        machine: A name of the zoo.
        construction: A construction.
        dtype: The number format.
        cap: How many seconds a probe may take.
        length: Probe this T only; None to search.
        activation: ``relu`` or ``sine``.
    """

    machine: str
    construction: str
    dtype: str
    cap: float
    length: int | None = None
    activation: str = "relu"


@dataclass(frozen=True)
class Probe:
    """What came of compiling and proving at one T.

    Attributes:
        length: T.
        certified: Whether it was certified; None if it took too long.
        seconds: Of the proof if it was certified, of everything if not.
        reason: Why it was not.
    """

    length: int
    certified: bool | None
    seconds: float
    reason: str = ""


def probe(job: Job, length: int) -> Probe:
    """Compile and prove in a process of its own, which is ended at the cap."""
    context, began = get_context("spawn"), monotonic()
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_prove, args=(job, length, send))
    process.start()
    send.close()
    try:
        if receive.poll(job.cap):
            return _received(receive, length, monotonic() - began)
        return Probe(length, None, monotonic() - began, f"took over {job.cap:g} s")
    finally:
        process.kill()
        process.join()


def _received(receive: Connection, length: int, seconds: float) -> Probe:
    """What the process said; one that ended without a word ran out of memory."""
    try:
        found: Probe = receive.recv()
    except EOFError:
        return Probe(length, None, seconds, "ran out of memory")
    return found


def _prove(job: Job, length: int, send: Connection) -> None:
    began = monotonic()
    try:
        model = krohn.compile(
            job.machine,
            length,
            job.construction,
            dtype=job.dtype,
            activation=job.activation,
        )
        assert model.proof is not None
        found = Probe(length, True, model.proof.seconds)
    except KrohnError as error:
        found = Probe(length, False, monotonic() - began, str(error))
    except MemoryError:
        found = Probe(length, None, monotonic() - began, "ran out of memory")
    send.send(found)


def search(at: Callable[[int], Probe]) -> tuple[Probe | None, Probe | None]:
    """The longest T certified, and the shortest that was tried and is not."""
    low, high = None, None
    length = FIRST
    while high is None and length <= LAST:
        found = at(length)
        low, high = (found, None) if found.certified else (low, found)
        length *= 2
    if low is None and high is not None and high.certified is False:
        low = Probe(0, True, 0.0)
    while low and high and high.certified is False and _apart(low, high):
        found = at((low.length + high.length) // 2)
        low, high = (found, high) if found.certified else (low, found)
    return low, high


def _apart(low: Probe, high: Probe) -> bool:
    return high.length - low.length > max(1, low.length // 100)


def measure(job: Job) -> Row:
    """The row of a search, or of one T."""
    row: Row = {
        "machine": job.machine,
        "construction": job.construction,
        "dtype": job.dtype,
    }
    if job.length is not None:
        found = probe(job, job.length)
        verdict = {True: "verified", False: "not certified", None: "too long"}
        return row | {
            "T": job.length,
            "verdict": verdict[found.certified],
            "proof s": found.seconds,
            "reason": short(found.reason),
        }
    low, high = search(partial(probe, job))
    open_end = high is None or high.certified is None
    return row | {
        "longest T": f"{'≥ ' if open_end else ''}{low.length if low else 0}",
        "proof s": low.seconds if low else None,
        "next T": high.length if high else None,
        "why not": short(high.reason) if high else "not tried",
    }


def short(reason: str) -> str:
    """The reason itself, without what surrounds it in an error message."""
    inside = reason.partition("so nothing was written (")[2].rpartition("). Try")[0]
    return (inside or reason).partition(": ")[2] if inside else reason


def main() -> None:
    """Search, and print the tables."""
    found = parser(__doc__)
    found.add_argument("--cap", type=float, default=60.0, help="seconds per probe")
    found.add_argument("--jobs", type=int, default=1, help="processes")
    found.add_argument("--quick", action="store_true", help="no search")
    options: argparse.Namespace = found.parse_args()
    named = [Job(m, c, d, options.cap, t) for m, c, d, t in NAMED]
    searched = [Job(m, c, d, options.cap) for m, c in CASES for d in DTYPES]
    tables = [Table("T of interest", each(measure, named))]
    if not options.quick:
        rows = each(measure, searched, options.jobs)
        tables.append(Table("longest T certified", rows))
    publish(tables, options)


if __name__ == "__main__":
    main()
