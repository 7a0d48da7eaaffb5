"""Random machines by every construction that serves them: proved, and run from every start.

Machines of 2 to 5 states whose monoids have at most 2,000 elements, solvable or not. Each
is compiled and proved at T with `auto` and with every construction that applies; for a
small length each of these networks is also compiled for every start state, and all words
up to that length are run through it.
"""

import argparse
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np
import torch
from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.monoid import TransformationMonoid
from krohn.compiler import CompileError
from krohn.compiler.constructions.registry import (
    CONSTRUCTIONS,
    ON_REQUEST,
)
from krohn.network.model import Model
from krohn.verify.testing.exhaustive import exhaustive

LARGEST_MONOID = 2_000
# Without an upper bound on what they cost on machines that they are not meant for.
LEFT_OUT = ("chunked", "memorising", "scan10")


@dataclass(frozen=True, eq=False)
class Job:
    """A machine, and how far it is compiled and run.

    Attributes:
        number: Which of the random machines.
        machine: The machine.
        length: T of the proofs.
        words: The length of the words that are run.
        seconds: How long a construction may take.
    """

    number: int
    machine: Automaton
    length: int
    words: int
    seconds: float


class TooSlow(Exception):
    """A construction took longer than it may."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Give up after so many seconds of computation.

    Raises:
        TooSlow: Where it is then.
    """

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def machines(count: int, seed: int) -> Iterator[Automaton]:
    """Random machines of 2 to 5 states and 2 or 3 letters, in equal parts.

    Half of the letters are drawn among permutations, so that groups are not rare.
    """
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        states, letters = 2 + made % 4, 2 + int(rng.integers(2))
        rows = [
            rng.permutation(states)
            if rng.integers(2)
            else rng.integers(states, size=states)
            for _ in range(letters)
        ]
        table = np.array(rows, dtype=np.int64)
        names = tuple(f"q{q}" for q in range(states))
        base = Semiautomaton(table, tuple("abc"[:letters]), names)
        if TransformationMonoid.enumerate(base).size <= LARGEST_MONOID:
            yield Automaton(base, 0, name=f"random {made}")
            made += 1


def measure(job: Job) -> Row:
    """The result for one machine."""
    torch.set_num_threads(1)
    began = monotonic()
    row: Row = {"machine": job.number, "states": len(job.machine.states)}
    served: list[str] = []
    refused: list[str] = []
    slow: list[str] = []
    try:
        chosen = krohn.compile(job.machine, job.length)
    except KrohnError as error:
        return row | {"verdict": f"NOT COMPILED: {error}"}
    for name in [n for n in (*CONSTRUCTIONS, *ON_REQUEST) if n not in LEFT_OUT]:
        try:
            with at_most(job.seconds):
                krohn.compile(job.machine, job.length, name)
            served.append(name)
        except TooSlow:
            slow.append(name)
        except KrohnError as error:
            if "cannot be certified" in str(error):
                refused.append(name)
    verdicts = [v for name in ("auto", *served, *refused) for v in _run(job, name)]
    return row | {
        "auto": chosen.construction,
        "layers": chosen.summary()["layers"],
        "proved": len(served) + 1,
        "constructions": " ".join(served),
        "not certified": " ".join(refused),
        "too slow": " ".join(slow),
        "networks run": len(verdicts),
        "wrong": verdicts.count(False),
        "seconds": round(monotonic() - began, 1),
    }


def _run(job: Job, name: str) -> Iterator[bool]:
    """For each start that a construction serves, whether all short words are right."""
    for start in range(len(job.machine.states)):
        machine = replace(job.machine, start=start)
        try:
            built = krohn.compile(machine, job.words, name, proof=False)
        except CompileError:
            continue
        yield exhaustive(Model(built.file), machine, job.words).has_passed


def tables(options: argparse.Namespace) -> Iterator[Table]:
    """How often each construction served, and the machines one by one."""
    found = list(machines(options.count, options.seed))
    jobs = [
        Job(i, m, options.length, options.words, options.seconds)
        for i, m in enumerate(found)
    ]
    rows = each(measure, jobs, options.jobs)
    kept = [row for row in rows if "verdict" not in row]
    served = Counter(name for row in kept for name in row["constructions"].split())
    refused = Counter(name for row in kept for name in row["not certified"].split())
    slow = Counter(name for row in kept for name in row["too slow"].split())
    chosen = Counter(row["auto"] for row in kept)
    yield Table(
        f"{len(rows)} random machines at T = {options.length} in float32",
        [
            {
                "construction": name,
                "proved": served[name],
                "not certified": refused[name],
                "too slow": slow[name],
                "chosen by auto": chosen[name],
            }
            for name in (*CONSTRUCTIONS, *ON_REQUEST)
            if served[name] or refused[name] or slow[name]
        ],
        f"Compiled and proved with auto: {len(kept)} of {len(rows)}. Beside that "
        f"{sum(row['networks run'] for row in kept):,} networks, one for each start state, "
        f"ran all words of up to {options.words} letters; wrong: "
        f"{sum(row['wrong'] for row in kept)}. Not certified: the construction applies, "
        "but its noise at this length is too large for float32, so nothing is written. "
        f"Too slow: it was given up after {options.seconds:.0f} s.",
    )
    if options.all or len(kept) < len(rows):
        yield Table(
            "One by one", rows if options.all else [r for r in rows if r not in kept]
        )


def main() -> None:
    """Measure and print."""
    found = parser(__doc__)
    found.add_argument("--count", type=int, default=200)
    found.add_argument("--seed", type=int, default=2026)
    found.add_argument("--length", "-T", type=int, default=64)
    found.add_argument("--words", type=int, default=6)
    found.add_argument("--seconds", type=float, default=20.0, help="per construction")
    found.add_argument("--jobs", type=int, default=1)
    found.add_argument("--all", action="store_true", help="a row for each machine too")
    options = found.parse_args()
    publish(tables(options), options)


if __name__ == "__main__":
    main()
