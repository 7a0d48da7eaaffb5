"""Runs with few departures: the depth of their networks, with and without following them.

Each machine is planned twice, by the constructions that follow departures and by all the
others, least depth first; plans are proved in order until one holds.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time

from machine_files import read_completed
from report import Row, Table, each, parser, publish

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import minimise
from krohn.compile_options import CompileOptions
from krohn.compiled_model import model_file
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import realise
from krohn.compiler.constructions.registry import CONSTRUCTIONS
from krohn.compiler.planning import plans
from krohn.compiler.search import Plan
from krohn.machines import read
from krohn.verify.proof import prove

LENGTH = 512
FOLLOWING = ("departures", "piecewise")
OTHERS = tuple(n for n in CONSTRUCTIONS if n not in (*FOLLOWING, "sequential"))
MACHINES = {
    "bccb(aa)*": "bccb(aa)*",
    "(ab)*c(a|b)*": "(ab)*c(a|b)*",
    "c*d(ab)*": "c*d(ab)*",
    "(ab)*c(abb)*da*": "(ab)*c(abb)*da*",
    "at least 5 a, then b": "(b*a){5}a*b(a|b)*",
    "at least 5 a, then 7 b": "(b*a){5}a*(ba*){7}(a|b)*",
    "the first of a, b after the first c is a": "(a|b)*cc*a(a|b|c)*",
    "even number of a after the first d": "(a|b)*d(b|d)*(a(b|d)*a(b|d)*)*",
    "a*b*c*d*": "a*b*c*d*",
} | {
    f"{'abcabcabca'[:k]} is a subsequence": "(a|b|c)*"
    + "".join(f"{letter}(a|b|c)*" for letter in "abcabcabca"[:k])
    for k in (3, 5, 8, 10)
}


@dataclass(frozen=True)
class Job:
    """A machine by a source that Krohn reads, its name in the table, and T."""

    source: str
    name: str
    length: int


def measure(job: Job) -> Row:
    """The row of one machine."""
    machine = _machine(job)
    others = _first_proved(machine, job.length, OTHERS)
    began = process_time()
    found = _first_proved(machine, job.length, FOLLOWING)
    return {
        "machine": job.name,
        "states": len(machine.states),
        "depth by others": others.cost.depth if others else None,
        "parameters by others": others.cost.parameters if others else None,
        "by": others.construction if others else None,
        "depth": found.cost.depth if found else None,
        "layers": found.cost.layers if found else None,
        "parameters": found.cost.parameters if found else None,
        "by ": found.construction if found else None,
        "s": round(process_time() - began, 2),
    }


def _machine(job: Job) -> Automaton:
    """The least machine that shows the states."""
    path = Path(job.source)
    found = read_completed(path)[0] if path.exists() else read(job.source)
    return replace(minimise(found), output=None)


def _first_proved(machine: Automaton, length: int, names: Iterable[str]) -> Plan | None:
    options = CompileOptions().options
    found: list[Plan] = []
    for name in names:
        try:
            found += plans(name, machine, length, options)
        except CompileError:
            continue
    sizes = ("depth", "layers", "parameters")
    for plan in sorted(found, key=lambda p: [getattr(p.cost, s) for s in sizes]):
        try:
            file = model_file(
                machine, realise(plan), length, options.precision, outputs=False
            )
            if prove(file, machine).verdict == "verified":
                return plan
        except KrohnError:
            continue
    return None


def again(printed: Mapping[str, str]) -> Row:
    """The row of a machine, made anew."""
    return measure(_of_regex(printed["machine"], LENGTH))


def _of_regex(name: str, length: int) -> Job:
    return Job(f"regex:{MACHINES[name]}", name, length)


def tables(options: argparse.Namespace) -> Iterator[Table]:
    """One row for each machine."""
    jobs = [_of_regex(name, options.length) for name in MACHINES]
    title = f"Departures at T = {options.length} in float32"
    if options.files:
        paths = sorted(p for p in options.files.iterdir() if p.is_file())
        jobs = [Job(str(p), p.stem, options.length) for p in paths]
        title = f"Departures in machine files at T = {options.length} in float32"
    yield Table(
        title,
        each(measure, jobs, options.jobs),
        "All networks are proved. Depth: blocks that attend. 'by others' is the "
        "shallowest network of all constructions but departures and piecewise; s is the "
        "CPU time of planning and proving with these two.",
    )


AGAIN = {f"Departures at T = {LENGTH} in float32": again}


def main() -> None:
    """Measure and print."""
    found = parser(__doc__)
    found.add_argument("--length", "-T", type=int, default=LENGTH)
    found.add_argument("--files", type=Path, help="a folder of machine files instead")
    found.add_argument("--jobs", type=int, default=1)
    options = found.parse_args()
    publish(tables(options), options)


if __name__ == "__main__":
    main()
