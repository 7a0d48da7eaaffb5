"""The longest T that is certified, by machine, construction and number format.

T is doubled until it is not certified, and the last step is bisected until the bounds are
1 % apart. Every probe compiles and proves. That a longer T is harder is assumed, not
proved: the result is a T that is certified, next to one that is not. A network of more
parameters than ``--parameters`` ends the search: the longest T certified until then is
shown with ≥.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import monotonic

from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.errors import KrohnError
from krohn.verify.proof import prove

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
FIRST, LAST = 16, 2**11
PARAMETERS = 2_000_000


@dataclass(frozen=True)
class Job:
    """A search for the longest T.

    Attributes:
        machine: A name of the zoo.
        construction: A construction.
        dtype: The number format.
        parameters: The most parameters of a network that is proved.
        activation: ``relu`` or ``sine``.
    """

    machine: str
    construction: str
    dtype: str
    parameters: int
    activation: str = "relu"


@dataclass(frozen=True)
class Probe:
    """The result of compiling and proving at one T.

    Attributes:
        length: T.
        certified: Whether it was certified; None if the network was too large to try.
        seconds: Of the proof if it was certified, of everything if not.
        reason: Why it was not.
    """

    length: int
    certified: bool | None
    seconds: float
    reason: str = ""


def probe(job: Job, length: int) -> Probe:
    """Compile and prove at one T."""
    began = monotonic()
    try:
        model = krohn.compile(
            job.machine,
            length,
            job.construction,
            dtype=job.dtype,
            activation=job.activation,
            proof=False,
        )
        size = model.summary()["parameters"]
        if size > job.parameters:
            return Probe(length, None, 0.0, f"{size:.1e} parameters")
        proof = prove(model.file, krohn.zoo(job.machine))
    except KrohnError as error:
        return Probe(length, False, monotonic() - began, str(error))
    certified = proof.verdict == "verified"
    return Probe(length, certified, proof.seconds, proof.reason)


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
    """The row of a search."""
    low, high = search(partial(probe, job))
    open_end = high is None or high.certified is None
    return {
        "machine": job.machine,
        "construction": job.construction,
        "dtype": job.dtype,
        "longest T": f"{'≥ ' if open_end else ''}{low.length if low else 0}",
        "proof s": low.seconds if low else None,
        "next T": high.length if high else None,
        "why not": high.reason if high else "not tried",
    }


def at_one(machine: str, construction: str, dtype: str, length: int) -> Row:
    """The row of one T that is asked for."""
    found = probe(Job(machine, construction, dtype, PARAMETERS), length)
    return {
        "machine": machine,
        "construction": construction,
        "dtype": dtype,
        "T": length,
        "verdict": "verified" if found.certified else "not certified",
        "proof s": found.seconds,
        "reason": found.reason,
    }


def again(printed: Mapping[str, str]) -> Row:
    """A row of one T, or of a search, made anew."""
    wanted = (printed["machine"], printed["construction"], printed["dtype"])
    if "longest T" in printed:
        return measure(Job(*wanted, PARAMETERS))
    return at_one(*wanted, int(printed["T"].replace(",", "")))


AGAIN = {"T of interest": again, "longest T certified": again}


def main() -> None:
    """Search, and print the tables."""
    found = parser(__doc__)
    found.add_argument("--parameters", type=int, default=PARAMETERS)
    found.add_argument("--jobs", type=int, default=1, help="processes")
    found.add_argument("--quick", action="store_true", help="no search")
    options: argparse.Namespace = found.parse_args()
    tables = [Table("T of interest", [at_one(*case) for case in NAMED])]
    searched = [Job(m, c, d, options.parameters) for m, c in CASES for d in DTYPES]
    if not options.quick:
        rows = each(measure, searched, options.jobs)
        tables.append(Table("longest T certified", rows))
    publish(tables, options)


if __name__ == "__main__":
    main()
