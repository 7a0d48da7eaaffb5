"""Programs that count letters: sums are followed as far as tables tell them apart."""

from dataclasses import replace

import numpy as np
import pytest

import krohn
from algebra import zoo
from algebra.automaton import Automaton
from verify.proof import prove
from verify.recheck.program import parse


@pytest.mark.parametrize("cells", [2, 4, 9])
def test_a_gridworld_has_no_more_states_at_more_letters(cells: int) -> None:
    for length in (25, 100):
        built = krohn.compile(f"Grid{cells}", length, "gridworld")
        assert built.proof is not None
        assert built.proof.evidence[0]["program"]["states"] <= 4 * cells**3


def test_a_walk_that_is_wrong_in_one_place_is_refuted() -> None:
    file = krohn.compile("Grid3", 40, "gridworld").file
    machine: Automaton = zoo.machine("Grid3")
    program = parse(file.header["program"], len(machine.letters), 40)
    tables = [
        c for c in program.channels.values() if c.op == "table" and len(c.inputs) == 2
    ]
    rng = np.random.default_rng(0)
    for changed in tables[:6]:
        stated = {**file.header["program"]}
        entries = [dict(c) for c in stated["channels"]]
        for entry in entries:
            if entry["name"] == changed.name:
                rows = [list(r) for r in entry["rows"]]
                row = rows[int(rng.integers(len(rows)))]
                row[-1] = next(v for v in entry["domain"] if v != row[-1])
                entry["rows"] = rows
        stated["channels"] = entries
        wrong = replace(file, header={**file.header, "program": stated})
        assert prove(wrong, machine).verdict != "verified"
