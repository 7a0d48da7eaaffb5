"""A Program is proved by one that remembers less, if its channels are shown to be equal."""

from copy import deepcopy
from typing import Any

import pytest
from kernel_files import data_of, evidence_of, status, with_kernel

from krohn.verify.checker.network import open_model
from krohn.verify.checker.transformer import read_program
from krohn.verify.kernel.counterparts import remembering_less

PIECEWISE = ("(a|b)*ab(a|b)*", "a+b+", "(a|b)*c(a|c)*b(b|c)*", "(a*b*)(c|d)")


def through(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Evidence by another Program, and the part of it about that."""
    evidence = evidence_of(data)
    return evidence, evidence["through"]


@with_kernel
@pytest.mark.sample(1)
@pytest.mark.parametrize("pattern", PIECEWISE)
def test_a_flag_after_a_flag_is_one_bit(pattern: str) -> None:
    data = data_of(f"regex:{pattern}", 40)
    evidence, other = through(data)
    assert status(data, evidence) == 0
    assert len(other["invariant"]["qs"]) < 40
    assert not other["invariant"]["exact"]


@with_kernel
@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_what_is_not_equal_is_no_counterpart(step: int) -> None:
    data = data_of("regex:a+b+", 12)
    evidence, other = through(data)
    changes = []
    for i, (name, *given) in enumerate(other["program"]):
        for row in range(len(given[1])) if name == "Table" else ():
            changed = deepcopy(evidence)
            changed["through"]["program"][i][2][row][1] ^= 1
            changes.append(changed)
        if name == "Shift":
            for by in (0, 2):
                changed = deepcopy(evidence)
                changed["through"]["program"][i][2] = by
                changes.append(changed)
    for i, place in enumerate(other["kept"]):
        changed = deepcopy(evidence)
        changed["through"]["kept"][i] = 0 if place is None else place + 1
        changes.append(changed)
    assert len(changes) > 30
    assert {status(data, changed) for changed in changes[::step]} <= {1, 2}


@with_kernel
def test_positions_of_another_length_are_no_test() -> None:
    data = data_of("regex:(a|b)*ab(a|b)*", 12)
    evidence, _ = through(data)
    tables = [x for x in evidence["program"] if x[0] == "Table" and len(x[2]) == 23]
    assert tables
    tables[0][2][12][1] = 0
    assert status(data, evidence) in (1, 2)


def test_there_may_be_nothing_to_be_remembered_less_of() -> None:
    model = open_model(data_of("FlipFlop", 8))
    program = read_program(model, len(model.machine.transitions))
    assert remembering_less(model.program, program) is None
    model = open_model(data_of("regex:a+b+", 8))
    program = read_program(model, len(model.machine.transitions))
    other = remembering_less(model.program, program)
    assert other is not None
    ops = {c["op"] for c in other["channels"]}
    assert ops == {"token", "map", "shift", "earliest"}
    taken = deepcopy(model.program)
    names = {c["name"] for c in other["channels"]} - set(program.channels)
    new = next(c for c in other["channels"] if c["name"] in names)
    taken["channels"].append({**new, "inputs": ["token"]})
    assert remembering_less(taken, program) is None
