"""Functions of the position that repeat themselves, folded."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import krohn
from algebra.semiautomaton import IntArray
from network.modelfile import pack
from verify.clocks import clock
from verify.evidence.find import find
from verify.recheck.meaning import part
from verify.recheck.model import Machine, Refused
from verify.recheck.network import recheck
from verify.recheck.program import Program, parse


def folded(columns: list[tuple[int, ...]]) -> list[int]:
    """The position that stands for each."""
    found = [0]
    for _ in columns[0][1:]:
        found.append(clock(columns).after(found[-1]))
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


def test_positions_that_all_differ_are_counted() -> None:
    assert folded([tuple(range(7))]) == list(range(7))
    assert clock([]).after(3) == 4


PATTERN, LENGTH = "regex:(a|b)*c(ab)*", 12


def test_a_clock_is_explored_once_round() -> None:
    """Departures of a line of period two: as many pairs at every length."""
    pairs = []
    for length in (LENGTH, 2 * LENGTH):
        proof = krohn.compile(PATTERN, length, "departures").proof
        assert proof is not None
        pairs.append(proof.evidence[0]["program"]["pairs"])
    assert pairs[0] == pairs[1]


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
                if odd and states[other] == states[target]:
                    row[letter], tried = other, tried + 1
                    with pytest.raises(Refused, match="too early"):
                        recheck(
                            pack(file.header, file.tensors), json.dumps(found).encode()
                        )
                    row[letter] = target
    assert tried


def test_both_checkers_fold_alike() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        length = int(rng.integers(1, 12))
        values = rng.integers(0, 2, length + 1)
        if rng.random() < 0.5:
            values = np.resize(values[: int(rng.integers(1, 4))], length + 1)
        token = {"name": "token", "op": "token", "domain": [0, 1, 2]}
        stated = {"name": "p", "op": "position", "domain": [0, 1]}
        stated |= {"values": values.tolist()}
        rest: dict[str, Any] = {"features": {}, "outputs": ["p"], "decode": []}
        program = parse({"channels": [token, stated], **rest}, 2, length)
        told = told_apart(program)
        assert told.tolist() == folded([tuple(values.tolist())])


def told_apart(program: Program) -> IntArray:
    """What the small checker makes of its one function of the position."""
    said = {
        "length": program.length,
        "outputs": ["p"],
        "states": [0],
        "depths": [0],
        "follow": [[0, 0]],
        "assumed": {},
        "cells": {},
        "reduced": [],
        "split": [],
    }
    machine = Machine(0, np.zeros((2, 1), np.int64), np.zeros(1, np.int64))
    return part(program, machine, {}, [], said).told
