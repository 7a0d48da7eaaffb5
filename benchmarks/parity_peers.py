"""Parity, compiled and proved, beside what other compilers were measured to do.

The networks of Krohn are proved for every word of length up to T; those of the others were
run on samples of words, as `peers` states.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from peers import PARITY, Measurement
from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.errors import KrohnError

LENGTHS = (14, 16, 20, 32, 80, 160)


@dataclass(frozen=True)
class Job:
    """Parity for words up to a length by a construction."""

    length: int
    construction: str


def measure(job: Job) -> Row:
    """The row of one network; the first compilation is not counted."""
    row: Row = {"T": job.length, "construction": job.construction}
    try:
        krohn.compile("C2", job.length, job.construction)
        model = krohn.compile("C2", job.length, job.construction)
    except KrohnError as error:
        return row | {"verdict": str(error)}
    found = model.summary()
    return row | {
        "verdict": found["verdict"],
        "layers": found["layers"],
        "parameters": found["parameters"],
        "nonzero": found["nonzero"],
        "compile and prove s": model.seconds,
    }


def again(printed: Mapping[str, str]) -> Row:
    """A row of the first table, made anew."""
    return measure(Job(int(printed["T"]), printed["construction"]))


def beside(measured: Measurement) -> Row:
    """The row of a published measurement."""
    return {
        "tool": f"{measured.peer.name} ({measured.peer.commit})",
        "program": measured.program,
        "settings": measured.settings,
        "length": measured.length,
        "wrong": f"{measured.wrong} of {measured.words}" if measured.words else None,
        "parameters": measured.parameters,
        "nonzero": measured.nonzero,
        "compile s": measured.seconds,
    }


AGAIN = {"parity by Krohn, float32": again}


def main() -> None:
    """Compile, and print both tables."""
    options = parser(__doc__).parse_args()
    jobs = [Job(t, c) for t in LENGTHS for c in ("counter", "scan")]
    ours = Table("parity by Krohn, float32", each(measure, jobs))
    note = (
        "Random words of full length; wrong of so many shows that a network is wrong, not "
        "how often. Settings can be changed by their users. Seconds are upper ends of the "
        "ranges measured. The depth of seq_relative grows with the length."
    )
    theirs = Table("parity by other compilers", [beside(m) for m in PARITY], note)
    publish([ours, theirs], options)


if __name__ == "__main__":
    main()
