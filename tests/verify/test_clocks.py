"""Functions of the position that repeat themselves, folded."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import krohn
from krohn.network.modelfile import pack
from krohn.program.errors import Refused
from krohn.program.statement import parse
from krohn.verify.checker.invariant import steps
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.network import recheck
from krohn.verify.checker.refinement import part
from krohn.verify.search.find import find
from krohn.verify.search.lemmas import clock


def folded(columns: list[tuple[int, ...]]) -> list[int]:
    """The position that stands for each."""
    token = {"name": "token", "op": "token", "domain": [0, 1, 2]}
    stated: list[dict[str, Any]] = [
        {"name": f"p{i}", "op": "position", "domain": [0, 1], "values": list(column)}
        for i, column in enumerate(columns)
    ]
    outputs = [entry["name"] for entry in stated]
    rest: dict[str, Any] = {"features": {}, "outputs": outputs, "decode": []}
    program = parse({"channels": [token, *stated], **rest}, 2, len(columns[0]) - 1)
    none: dict[str, Any] = {"assumed": {}, "cells": {}, "reduced": [], "split": []}
    state = {"states": [0], "depths": [0], "follow": [[0, 0]]}
    said = {"length": program.length, "outputs": outputs, **state, **none}
    machine = Machine(0, np.zeros((2, 1), np.int64), np.zeros(1, np.int64))
    said["repeats"] = clock(steps(program, {}, outputs))
    found: list[int] = part(program, machine, {}, [], said).first_alike.tolist()
    return found


def fewest(values: list[tuple[int, ...]]) -> int:
    """How many positions a clock needs, by trying all of them."""
    last, count = len(values), len(values)
    for start in range(last):
        for period in range(1, last - start):
            same = (
                values[t] == values[t + period] for t in range(start, last - period)
            )
            if all(same):
                count = min(count, start + period)
    return count


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=9)
)
def test_folded_positions_show_the_same_and_are_fewest(
    values: list[tuple[int, int]],
) -> None:
    columns = [tuple(column) for column in zip(*values, strict=True)]
    places = folded(columns)
    assert [values[t] for t in places] == values
    assert len(set(places)) == fewest(list(values))


@given(st.data())
def test_what_does_not_repeat_itself_is_refused(data: st.DataObject) -> None:
    """Whatever a part accepts, positions that are folded together have the same values."""
    length = data.draw(st.integers(1, 6))
    column = data.draw(st.lists(st.integers(0, 1), min_size=length, max_size=length))
    start, period = (data.draw(st.integers(least, 8)) for least in (0, 1))
    token = {"name": "token", "op": "token", "domain": [0, 1]}
    clocked = {"name": "p", "op": "position", "domain": [0, 1], "values": [0, *column]}
    rest: dict[str, Any] = {"features": {}, "outputs": ["p"], "decode": []}
    program = parse({"channels": [token, clocked], **rest}, 1, length)
    said = {
        "length": 1,
        "outputs": ["p"],
        "states": [0],
        "depths": [0],
        "follow": [[0]],
    }
    none = {"assumed": {}, "cells": {}, "reduced": [], "split": []}
    machine = Machine(0, np.zeros((1, 1), np.int64), np.zeros(1, np.int64))
    one = part(program, machine, {}, [], {**said, **none, "repeats": [start, period]})
    try:
        one.prove()
    except Refused as reason:
        if "does not repeat" in str(reason):
            return
    assert [[0, *column][t] for t in one.first_alike] == [0, *column]


PATTERN, LENGTH = "regex:(a|b)*c(ab)*", 12


def test_a_clock_is_explored_once_round() -> None:
    """Departures of a line of period two: as many abstract states at every length."""
    states = []
    for length in (LENGTH, 2 * LENGTH):
        proof = krohn.compile(PATTERN, length, "departures").proof
        assert proof is not None
        states.append(proof.evidence[0]["program"]["states"])
    assert states[0] == states[1]


@pytest.mark.slow
def test_evidence_that_confuses_positions_of_a_clock_is_refused() -> None:
    """States an odd number of letters apart do not stand for each other."""
    file = krohn.compile(PATTERN, LENGTH, "departures").file
    found = find(pack(file.header, file.tensors))
    first = found["program"]["parts"][0]
    tried, states, depths = 0, first["states"], first["depths"]
    for row in first["follow"]:
        for letter, target in enumerate(row):
            for other in range(1, len(states)):
                odd = (depths[other] - depths[target]) % 2
                if odd and states[other] == states[target] and tried < 12:
                    row[letter], tried = other, tried + 1
                    with pytest.raises(Refused, match="too early"):
                        recheck(
                            pack(file.header, file.tensors), json.dumps(found).encode()
                        )
                    row[letter] = target
    assert tried
