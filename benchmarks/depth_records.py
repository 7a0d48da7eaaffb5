"""The shallowest proved network of every machine, in each convention of depth.

Three numbers are called depth. *Attention layers* are the blocks that attend. *Layers* in
the convention of the thesis count every block, with at most one attention and one MLP of
two hidden layers. The *strict* form has one hidden layer in each MLP and plain residuals.
For each of them the plans of all constructions are proved in order until one holds.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from time import monotonic

from report import Row, Table, each, parser, publish

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.compiled_model import model_file
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import realise
from krohn.compiler.constructions.registry import (
    CONSTRUCTIONS,
    ON_REQUEST,
    construct,
)
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.planning import plans
from krohn.compiler.search import Plan
from krohn.network.precision import PRECISIONS
from krohn.verify.proof import prove

SLOW = ("sequential", "chunked", "memorising")
# The thesis has a theorem for each; all are built here as it builds them.
PRINTED = (
    *("counter", "memory", "product", "semidirect", "wreath", "series"),
    *("permutation-reset", "krohn-rhodes", "scan"),
)
THEOREM_12 = 2
LENGTH, PARAMETERS = 100, 10_000_000


@dataclass(frozen=True)
class Job:
    """A machine, and what is tried on it.

    Attributes:
        machine: A name of the zoo.
        length: T.
        parameters: The most parameters that a network may have.
    """

    machine: str
    length: int
    parameters: int


def measure(job: Job) -> Row:
    """The records of one machine."""
    began = monotonic()
    usual, strict = list(_plans(job, strict=False)), list(_plans(job, strict=True))
    attends = _first_proved(job, sorted(usual, key=_by("depth", "layers")))
    layers = _first_proved(job, sorted(usual, key=_by("layers", "depth")))
    flat = _first_proved(job, sorted(strict, key=_by("layers", "depth")))
    return {
        "machine": job.machine,
        "attention layers": attends.cost.depth if attends else None,
        "by": _name(attends),
        "thesis, layers": _printed(job),
        "layers": layers.cost.layers if layers else None,
        "by ": _name(layers),
        "parameters": layers.cost.parameters if layers else None,
        "strict layers": flat.cost.layers if flat else None,
        "by  ": _name(flat),
        "parameters ": flat.cost.parameters if flat else None,
        "seconds": round(monotonic() - began, 1),
    }


def _plans(job: Job, strict: bool) -> Iterator[Plan]:
    options = Options(PRECISIONS["float32"], strict)
    machine = _machine(job)
    for name in [n for n in (*CONSTRUCTIONS, *ON_REQUEST) if n not in SLOW]:
        try:
            found = plans(name, machine, job.length, options)
        except CompileError:
            continue
        for plan in found:
            if plan.cost.parameters <= job.parameters:
                yield plan


def _by(*sizes: str) -> object:
    return lambda plan: (*(getattr(plan.cost, s) for s in sizes), plan.cost.parameters)


def _first_proved(job: Job, ordered: list[Plan]) -> Plan | None:
    machine = _machine(job)
    for plan in ordered:
        try:
            built = realise(plan)
            precision = plan.options.precision
            file = model_file(machine, built, job.length, precision, outputs=False)
            if prove(file, machine).verdict == "verified":
                return plan
        except KrohnError:
            continue
    return None


def _printed(job: Job) -> int | None:
    """The layers of the thesis' constructions, each look-up in a block of its own."""
    options = Options(PRECISIONS["float32"])
    found = [THEOREM_12] if job.machine.startswith("Grid") else []
    for name in PRINTED:
        try:
            program = construct(name, _machine(job), job.length)
            layout, _ = arrange(optimise(program, options), options)
        except CompileError:
            continue
        found.append(layout.plan.blocks)
    return min(found, default=None)


def _machine(job: Job) -> Automaton:
    """The machine without outputs: its states are asked for."""
    return replace(zoo.machine(job.machine), output=None)


def _name(plan: Plan | None) -> str | None:
    return plan.construction if plan else None


def again(printed: Mapping[str, str]) -> Row:
    """The row of a machine, made anew."""
    return measure(Job(printed["machine"], LENGTH, PARAMETERS))


def tables(options: argparse.Namespace) -> Iterator[Table]:
    """One row for each machine."""
    names = options.machines or zoo.names()
    jobs = [Job(name, options.length, options.parameters) for name in names]
    yield Table(
        f"The shallowest proved networks at T = {options.length} in float32",
        each(measure, jobs, options.jobs),
        "Attention layers: blocks that attend; each Program has as few as its longest "
        "chain of attention operations, which no packing can beat. Layers: all blocks, "
        "each with an attention and an MLP of two hidden layers, as the thesis counts. "
        "Strict: one hidden layer in each MLP, plain residuals. 'thesis, layers' is the "
        "least that its own constructions need as built here (counter, memory, "
        "direct, semidirect and wreath products, composition series, permutation-reset, "
        "Krohn-Rhodes, scan; for grids the 2 of Theorem 12). All networks are "
        f"proved and have at most {options.parameters:,} parameters.",
    )


AGAIN = {"The shallowest proved networks at T = 100 in float32": again}


def main() -> None:
    """Measure and print."""
    found = parser(__doc__)
    found.add_argument("machines", nargs="*", help="names of the zoo; all if none")
    found.add_argument("--length", "-T", type=int, default=LENGTH)
    found.add_argument("--parameters", type=int, default=PARAMETERS)
    found.add_argument("--jobs", type=int, default=1)
    options = found.parse_args()
    publish(tables(options), options)


if __name__ == "__main__":
    main()
