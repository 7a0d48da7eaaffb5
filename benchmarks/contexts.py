"""Recurrent networks of contexts, for words of every length: sizes by error.

The error that is proved stands beside the largest one found, as in situations.py.
"""

from collections.abc import Iterator
from time import monotonic
from typing import NamedTuple

from report import Row
from situations import measured, show

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.hidden_markov.source_contexts import ROOM, grow_contexts


class Case(NamedTuple):
    """A network to be made."""

    name: str
    within: float
    arch: str = "rnn"
    dtype: str = "float32"


CASES = (
    *(Case("RanHMM5,5@3", e) for e in (0.1, 0.05, 0.01, 0.001)),
    Case("RanHMM5,5@3", 0.05, "lstm"),
    Case("RanHMM5,5@3", 0.05, "gru"),
    Case("RanHMM5,5@3", 0.001, "rnn", "float64"),
    *(Case("examples/weather.json", e) for e in (0.1, 0.05, 0.01, 0.001)),
    *(Case("Mess3", e) for e in (0.2, 0.1, 0.05, 0.031, 0.01)),
    Case("Mess3", 0.1, "lstm"),
    Case("Mess3", 0.1, "gru"),
    Case("GoldenMean", 0.01),
    Case("RRXOR", 0.01, "gru"),
)


def rows(steps: int) -> Iterator[Row]:
    """A row for each case."""
    for case in CASES:
        name, within, arch, dtype = case
        began = monotonic()
        row: Row = {
            "model": f"`{name}`",
            "network": arch,
            "format": dtype,
            "ε asked": within,
        }
        try:
            model = krohn.compile(name, arch=arch, within=within, dtype=dtype)
        except KrohnError:
            suffixes = grow_contexts(krohn.hidden_markov(name), within * ROOM)
            yield row | {"contexts": len(suffixes.leaves), "ε left": suffixes.error}
            continue
        seconds, claim = monotonic() - began, model.file.header["claim"]
        worst = measured(model, steps)
        contexts = None
        if "contexts" in model.file.header["program"]:
            suffixes = grow_contexts(krohn.hidden_markov(name), within * ROOM)
            contexts = len(suffixes.leaves)
        yield row | {
            "construction": model.construction,
            "contexts": contexts,
            "units": model.file.header["architecture"]["hidden"],
            "ε proved": claim["error"],
            "found": worst,
            "×": claim["error"] / worst if worst > 1e-15 else None,
            "s": seconds,
        }


if __name__ == "__main__":
    show(__doc__, "Contexts by error", rows)
