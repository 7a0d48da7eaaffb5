"""Mutation score of the proof: models of every construction changed in every way.

    python benchmarks/mutation.py [--each N] [--seconds N] [--seed N] [--model TEXT]
        [--checker evidence]

A mutant is a model with a weight, a part, a claim or its machine changed
(benchmarks/mutants). The checker judges it, and then it is run: on all words up to T where
there are few enough, else on all short words, on drawn ones, and on those at which the
model as compiled is nearest to a tie. A mutant that is accepted and wrong is a hole.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import torch
from mutants import claims, statements, structure, weights
from mutants.runner import (
    Outcome,
    by_evidence,
    by_proof,
    grind,
    reason_class,
    score,
)
from mutants.subject import Subject
from report import Row, Table, parser, publish

import krohn
from krohn.algebra.formats import json_format
from krohn.compiler import CompileError
from krohn.compiler.constructions.registry import (
    CONSTRUCTIONS,
    ON_REQUEST,
)
from krohn.network.modelfile import ModelFile
from krohn.program.errors import Refused
from krohn.verify.errors import Rejected

EACH = 4
FAMILIES = {
    "weights": weights.KINDS,
    "parts": structure.KINDS,
    "claims and machine": claims.KINDS,
    "Program": statements.KINDS,
}


@dataclass(frozen=True)
class Job:
    """A model that is to be changed.

    Attributes:
        machine: What `krohn.read` takes.
        construction: How it is compiled; ``elman`` is an RNN, ``balanced`` a generator.
        length: T.
        how: Further arguments of the compilation.
    """

    machine: str
    construction: str
    length: int
    how: tuple[tuple[str, Any], ...] = ()

    @property
    def title(self) -> str:
        """The model in a few words."""
        options = " ".join(v if isinstance(v, str) else k for k, v in self.how)
        title = f"{self.machine} {self.construction} T={self.length} {options}"
        return title.strip()


def job(machine: str, construction: str, length: int, **how: Any) -> Job:
    """A model with further arguments of the compilation."""
    return Job(machine, construction, length, tuple(how.items()))


JOBS = (
    job("C3", "counter", 6),
    job("C2", "counter", 11, strict=True),
    job("C5", "counter", 4, activation="sine"),
    job("C2", "counter", 6, dtype="bfloat16"),
    job("C2", "counter", 11, dtype="float16"),
    job("FlipFlop", "memory", 6),
    job("Memory5", "memory", 12, uniform=True),
    job("FlipFlop", "memory", 6, dtype="float16"),
    job("FFLTracker2", "window", 4),
    job("C2xC2", "product", 5),
    job("C6", "product", 4, dtype="float64"),
    job("regex:a*b*c*", "piecewise", 6),
    job("regex:(a|b)*c(a|c)*b(b|c)*", "departures", 6),
    job("Grid4", "gridworld", 10),
    job("Grid4", "gridworld", 4, strict=True),
    job("Grid5", "corridor", 8),
    job("Dyck2,2", "dyck", 5),
    job("Dyck2,2", "dyck", 5, observe="stack-top"),
    job("regex:(a|b)*a(a|b)", "definite", 9),
    job("C3", "content", 6),
    job("S3", "cascade", 6),
    job("Grid3", "cascade", 7),
    job("PermReset2", "cascade", 5, strict=True),
    job("Parity8@2,3,7", "parity-selected", 8),
    job("Parity8@2,3,7", "parity", 8),
    job("Parity8@2,3,7", "parity-table", 8),
    job("Parity8@2,3,7", "parity-sawtooth", 8),
    job("ParityTree2,2", "parity-tree", 4),
    job("D6", "semidirect-car", 8),
    job("A4", "wreath", 8),
    job("Grid4", "scan", 8),
    job("D6", "scan", 8),
    job("Grid4", "scan", 5, strict=True),
    job("Grid4", "scan", 8, dtype="bfloat16"),
    job("S3", "scan", 5, observe="first-chair"),
    job("FlipFlop", "scan", 40),
    job("Grid4", "sequential", 6),
    job("D6", "scan3", 8),
    job("C2", "scan5", 8),
    job("C2", "scan10", 8),
    job("D6", "semidirect", 8),
    job("D8", "series", 8),
    job("PermReset3", "permutation-reset", 3),
    job("Grid3", "krohn-rhodes", 7),
    job("D6", "chunked", 6),
    job("Grid3", "memorising", 5),
    job("Grid4", "elman", 0),
    job("C33", "elman", 0),
    job("D6", "elman", 0, dtype="bfloat16"),
    job("Dyck2,2", "balanced", 5, dtype="float64"),
    job("Dyck1,2", "balanced", 6),
    job("regex:(a|b)*c(a|c)*b(b|c)*", "departures", 6),
    job("regex:a*b*c*d*", "piecewise", 6),
)


def compiled(job: Job, length: int) -> ModelFile:
    """The model as it should be, proved."""
    how = dict(job.how)
    if job.construction == "elman":
        return krohn.compile(job.machine, arch="rnn", **how).file
    if job.construction == "balanced":
        return krohn.compile_generator(job.machine, length, **how).file
    return krohn.compile(job.machine, length, job.construction, **how).file


def subject(job: Job) -> Subject:
    """The model with its machine, and the same for another length if there is one."""
    file = compiled(job, job.length)
    machine = json_format.from_object(file.header["machine"])
    try:
        return Subject(file, machine, compiled(job, 2 * job.length))
    except CompileError:
        return Subject(file, machine)


def ground(
    job: Job, each: int, seed: int, seconds: float, small: bool = False
) -> list[Outcome]:
    """The outcomes of the mutants of a model; progress is printed on stderr."""
    began = monotonic()
    seeds = (seed, JOBS.index(job))
    right = subject(job)
    try:
        checker = by_evidence(right.file, right.machine) if small else by_proof
    except (Refused, Rejected) as error:
        print(f"{job.title}: no evidence ({error})", file=sys.stderr)
        return []
    found = list(grind(right, checker, each, seeds, seconds=seconds))
    passed = monotonic() - began
    print(f"{job.title}: {score(found)}, {passed:.1f} s", file=sys.stderr)
    return found


def rows(
    outcomes: Iterable[tuple[str, Outcome]], column: str, order: Sequence[str]
) -> list[Row]:
    """A row of counts for each name, in a given order."""
    by: dict[str, list[Outcome]] = {name: [] for name in order}
    for name, outcome in outcomes:
        by.setdefault(name, []).append(outcome)
    return [{column: name} | _counts(found) for name, found in by.items() if found]


def _counts(outcomes: Sequence[Outcome]) -> Row:
    found = score(outcomes)
    # Where not all words are run, harmless only means that no wrong one was found.
    certain = score(o for o in outcomes if o.exact)
    return {
        "mutants": found.mutants,
        "harmful rejected": found.harmful_rejected,
        "harmless accepted": found.harmless_accepted,
        "harmless rejected": found.harmless_rejected,
        "harmful accepted": found.holes,
        "share of harmless rejected": certain.strictness,
    }


def reasons(outcomes: Iterable[Outcome], most: int = 30) -> list[Row]:
    """Why mutants were rejected that do no harm, the most frequent reasons first."""
    found: Counter[str] = Counter()
    families: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        if not outcome.harm and not outcome.judgement.accepted:
            why = reason_class(outcome.judgement.reason)
            found[why] += 1
            families.setdefault(why, Counter())[family(outcome.kind)] += 1
    return [
        {"reason": why, "mutants": n, "of": ", ".join(sorted(families[why]))}
        for why, n in found.most_common(most)
    ]


def family(kind: str) -> str:
    """The family of a kind of mutation."""
    return next((name for name, kinds in FAMILIES.items() if kind in kinds), kind)


def tables(by_model: dict[str, list[Outcome]]) -> list[Table]:
    """All that is published."""
    every = [o for found in by_model.values() for o in found]
    models = [(title, o) for title, found in by_model.items() for o in found]
    kinds = [kind for found in FAMILIES.values() for kind in found]
    holes = [
        {"model": title, "kind": o.kind, "where": o.where, "harm": o.harm}
        for title, o in models
        if o.hole
    ]
    note = (
        "Harmful: wrong on some word. Share of harmless rejected: among the models of "
        "which all words up to T were run."
    )
    return [
        Table("Mutants", [_counts(every)], note),
        Table(
            "By what is changed",
            rows(((family(o.kind), o) for o in every), "changed", list(FAMILIES)),
        ),
        Table("By kind", rows(((o.kind, o) for o in every), "kind", kinds)),
        Table("By model", rows(models, "model", list(by_model))),
        Table("Harmless and rejected", reasons(every)),
        Table("Holes: accepted and wrong", holes),
    ]


def check_complete() -> None:
    """Every construction has a model."""
    missing = (CONSTRUCTIONS | ON_REQUEST).keys() - {j.construction for j in JOBS}
    if missing:
        sys.exit(f"no model of {', '.join(sorted(missing))} is mutated")


def main() -> None:
    """Grind all models, and print how mutants came out; exit code 1 if there is a hole."""
    options = parser(__doc__)
    options.add_argument("--each", type=int, default=EACH, help="mutants of each kind")
    options.add_argument("--seconds", type=float, default=float("inf"), help="in all")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument(
        "--checker",
        default="proof",
        choices=["proof", "evidence"],
        help="what is put to the test; evidence: the small checker",
    )
    options.add_argument("--model", default="", help="only models with this in a title")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    check_complete()
    jobs = [j for j in JOBS if chosen.model in j.title]
    ends = monotonic() + chosen.seconds
    by_model = {}
    for done, each_job in enumerate(jobs):
        share = (ends - monotonic()) / (len(jobs) - done)
        small = chosen.checker == "evidence"
        found = ground(each_job, chosen.each, chosen.seed, share, small)
        by_model[each_job.title] = found
    publish(tables(by_model), chosen)
    if any(o.hole for found in by_model.values() for o in found):
        sys.exit(1)


if __name__ == "__main__":
    main()
