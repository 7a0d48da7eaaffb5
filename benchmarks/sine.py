"""Counters that read their sums from a circle, beside those with a table of steps.

For every machine the sizes at one T with either activation, and for every number format
the longest T that is certified (searched as in longest.py).
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from longest import DTYPES, PARAMETERS, Job, probe, search
from report import Row, Table, each, parser, publish

import krohn

CASES = (
    *(("C2", "counter"), ("C5", "counter"), ("C8", "counter")),
    *(("S4", "cascade"), ("Grid9", "corridor")),
)
ACTIVATIONS = ("relu", "sine")
SIZES = "sizes, by activation"


@dataclass(frozen=True)
class Model:
    """A network whose sizes are wanted."""

    machine: str
    construction: str
    activation: str
    length: int


def sizes(wanted: Model) -> Row:
    """The sizes of a certified network."""
    built = krohn.compile(
        wanted.machine,
        wanted.length,
        wanted.construction,
        activation=wanted.activation,
    )
    assert built.proof is not None
    shape, found = built.file.header["architecture"], built.summary()
    return {
        "machine": wanted.machine,
        "construction": wanted.construction,
        "activation": wanted.activation,
        "T": wanted.length,
        "depth": found["depth"],
        "d_model": found["d_model"],
        "MLP widths": ", ".join("·".join(map(str, b["mlp"])) for b in shape["blocks"]),
        "parameters": found["parameters"],
        "without positions": found["parameters"]
        - shape["positions"] * shape["d_model"],
        "nonzero": found["nonzero"],
        "proof s": built.proof.seconds,
    }


def again(printed: Mapping[str, str]) -> Row:
    """A row of the first table, made anew."""
    wanted = (printed[c] for c in ("machine", "construction", "activation"))
    return sizes(Model(*wanted, int(printed["T"])))


def longest(job: Job) -> Row:
    """The longest T certified, with the time that its proof takes."""
    low, high = search(partial(probe, job))
    open_end = high is None or high.certified is None
    return {
        "machine": job.machine,
        "dtype": job.dtype,
        "activation": job.activation,
        "longest T": f"{'≥ ' if open_end else ''}{low.length if low else 0}",
        "proof s": low.seconds if low else None,
    }


AGAIN = {SIZES: again}


def main() -> None:
    """Measure, and print the tables."""
    found = parser(__doc__)
    found.add_argument("--length", type=int, default=100, help="T of the sizes")
    found.add_argument("--parameters", type=int, default=PARAMETERS)
    found.add_argument("--jobs", type=int, default=1, help="processes")
    options: argparse.Namespace = found.parse_args()
    models = [Model(m, c, a, options.length) for m, c in CASES for a in ACTIVATIONS]
    jobs = [
        Job(m, c, d, options.parameters, activation=a)
        for m, c in CASES
        for d in DTYPES
        for a in ACTIVATIONS
    ]
    tables = [
        Table(SIZES, each(sizes, models)),
        Table("longest T certified, by activation", each(longest, jobs, options.jobs)),
    ]
    publish(tables, options)


if __name__ == "__main__":
    main()
