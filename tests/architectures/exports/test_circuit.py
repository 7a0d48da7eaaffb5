"""``circuit.csv`` says what ``circuit.json`` says, whatever names hold."""

import csv
import json
import re
from pathlib import Path

import pytest

import krohn
from krohn.architectures.exports.circuit import write

NAMES = ("a | b", "up or down", "end\\", "\\|", "x|")
MACHINES = {
    "names": {
        state: dict.fromkeys("st", NAMES[(i + 1) % len(NAMES)])
        | {"r": NAMES[0], "k": state}
        for i, state in enumerate(NAMES)
    },
    "turnstile": "examples/turnstile.dot",
}


def parts(cell: str) -> tuple[str, ...]:
    """The names in a cell, as docs/architectures/exports.md says that they are split."""
    found = cell.split(" | ") if cell else ()
    return tuple(re.sub(r"\\([\\|])", r"\1", name) for name in found)


@pytest.mark.sample(1)
@pytest.mark.parametrize("source", MACHINES)
def test_the_table_has_the_names_and_the_dimensions(
    source: str, tmp_path: Path
) -> None:
    write(krohn.compile(MACHINES[source], 8, proof=False).file, tmp_path)
    stated = json.loads((tmp_path / "circuit.json").read_text("utf-8"))["variables"]
    with open(tmp_path / "circuit.csv", encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    assert [row["variable"] for row in rows] == [v["variable"] for v in stated]
    for row, variable in zip(rows, stated, strict=True):
        first, last = int(row["first_dim"]), int(row["last_dim"])
        assert [first, last + 1] == variable["dims"]
        assert parts(row["values"]) == tuple(variable["values"])
    assert any("|" in row["values"] for row in rows)
