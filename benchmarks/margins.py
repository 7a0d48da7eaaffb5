"""How much noise the tables of compiled networks take, as z3 decides it.

For each network the largest noise of a list at which every table gives outputs no further
off than its inputs were, and the tables that fail at the next larger one.
"""

from dataclasses import dataclass
from fractions import Fraction

from report import Row, Table, each, parser, publish

import krohn
from krohn.compiled_model import CompiledModel
from krohn.instruments.smt.gadgets import decide
from krohn.instruments.smt.steps import gadgets

NOISES = tuple(Fraction(1, n) for n in (4, 8, 16, 64))
LENGTH = 8


@dataclass(frozen=True)
class Job:
    """A network of short words."""

    machine: str
    construction: str
    strict: bool = False


CASES = (
    Job("C3", "counter"),
    Job("C3", "counter", strict=True),
    Job("C3", "scan"),
    Job("C3", "scan", strict=True),
    Job("S3", "scan"),
    Job("FlipFlop", "scan"),
    Job("Dyck2,1", "window"),
    Job("FFL2", "window"),
    Job("Grid4", "gridworld"),
    Job("Grid4", "corridor"),
)


def compiled(job: Job) -> CompiledModel:
    """The network; it need not be proved to be asked about."""
    return krohn.compile(
        job.machine, LENGTH, job.construction, strict=job.strict, proof=False
    )


def measure(job: Job) -> Row:
    """The row of one network."""
    asked = list(gadgets(compiled(job).file))
    row: Row = {
        "machine": job.machine,
        "construction": job.construction + (", strict" if job.strict else ""),
        "tables": len(asked),
        "rows": sum(len(table.cases) for table in asked),
        "all hold at": "none",
    }
    failing: list[str] = []
    for noise in NOISES:
        wrong = [t.name for t in asked if decide(t, noise, noise).verdict != "verified"]
        if not wrong:
            return row | {"all hold at": str(noise), "fail at the next": _few(failing)}
        failing = wrong
    return row | {"fail at the next": _few(failing)}


def _few(names: list[str]) -> str | None:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more or None


def again(printed: dict[str, str]) -> Row:
    """The row of a network, made anew."""
    name, _, form = printed["construction"].partition(", ")
    return measure(Job(printed["machine"], name, form == "strict"))


TITLE = f"noise that tables take, T = {LENGTH}"
AGAIN = {TITLE: again}


def main() -> None:
    """Decide, and print the table."""
    options = parser(__doc__).parse_args()
    note = (
        "Inputs within the noise of their codes give outputs within the same noise of "
        "theirs. Noises that were asked about: " + ", ".join(map(str, NOISES)) + "."
    )
    publish([Table(TITLE, each(measure, CASES), note)], options)


if __name__ == "__main__":
    main()
