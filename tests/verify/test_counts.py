"""Sums that nothing tells apart are one state, and no others."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import krohn
from algebra import zoo
from algebra.automaton import Automaton
from verify.proof import prove
from verify.statement import Channel, Statement, check_domains, parse
from verify.transducer import Transducer

Build = Callable[..., Any]


def channel(name: str, op: str, inputs: tuple[str, ...], **how: Any) -> Channel:
    fields: dict[str, Any] = {"by": 0, "table": {}, "domain": (0,), **how}
    where = {"one_hot": False, "dims": None, "born": -1, "dies": -1, "head": None}
    return Channel(name, op, inputs, **fields, **where)


def table(name: str, inputs: tuple[str, ...], rows: Mapping[Any, int]) -> Channel:
    domain = tuple(sorted(set(rows.values())))
    return channel(name, "table", inputs, table=dict(rows), domain=domain)


def two_sums(steps: list[tuple[int, int]], moduli: tuple[int, int], read: Any) -> Any:
    """Two sums of letters, each modulo a number, and a function of both."""
    length, letters = 40, len(steps)
    rows = [
        {(a,): step[i] for a, step in enumerate([*steps, (0, 0)])} for i in range(2)
    ]
    channels = [channel("token", "token", (), domain=tuple(range(letters + 1)))]
    for i, modulus in enumerate(moduli):
        most = length * max(s[i] for s in steps)
        sums = range(0, most + 1, 1)
        channels += [
            table(f"step{i}", ("token",), rows[i]),
            channel(f"sum{i}", "prefix-sum", (f"step{i}",), domain=tuple(sums)),
            table(f"rest{i}", (f"sum{i}",), {(s,): s % modulus for s in sums}),
        ]
    pairs = {(u, v): read(u, v) for u in range(moduli[0]) for v in range(moduli[1])}
    channels.append(table("shown", ("rest0", "rest1"), pairs))
    by_name = {c.name: c for c in channels}
    return Statement(by_name, {}, ("shown",), {}, letters, length)


def classes(statement: Statement) -> int:
    found = Transducer.of(statement, check_domains(statement)).counts
    assert found is not None
    return len(found.shown)


@given(st.integers(2, 6))
def test_only_the_difference_matters(n: int) -> None:
    walk = [(1, 0), (0, 1)]
    assert classes(two_sums(walk, (n, n), lambda u, v: (u - v) % n)) == n
    assert classes(two_sums(walk, (n, n), lambda u, v: u * n + v)) == n * n
    assert classes(two_sums(walk, (n, n), lambda u, v: 0)) == 1


def test_what_only_later_letters_tell_apart_is_kept_apart() -> None:
    # Shown is only whether u is 0; that it is 1 or 2 shows after one more letter.
    shown = two_sums([(1, 0), (0, 1)], (3, 2), lambda u, v: int(u == 0))
    assert classes(shown) == 3


@given(st.data())
def test_classes_show_what_the_sums_do(data: st.DataObject) -> None:
    moduli = data.draw(st.tuples(st.integers(2, 4), st.integers(2, 4)))
    step = st.tuples(st.integers(0, 2), st.integers(0, 2))
    steps = [*data.draw(st.lists(step, min_size=1, max_size=3)), (1, 1)]
    values = data.draw(st.lists(st.integers(0, 2), min_size=16, max_size=16))
    statement = two_sums(steps, moduli, lambda u, v: values[4 * u + v])
    transducer = Transducer.of(statement, check_domains(statement))
    word = data.draw(st.lists(st.integers(0, len(steps) - 1), max_size=20))
    memory = transducer.advance((), statement.letters)
    sums = np.zeros(2, dtype=int)
    for letter in [None, *word]:
        if letter is not None:
            memory = transducer.advance(memory, letter)
            sums += steps[letter]
        u, v = (sums % moduli).tolist()
        assert memory[0] == values[4 * u + v]


@pytest.mark.parametrize("cells", [2, 4, 9])
def test_a_gridworld_has_as_many_pairs_as_walks_and_windows(cells: int) -> None:
    built = krohn.compile(f"Grid{cells}", 100, "gridworld")
    assert built.proof is not None
    assert built.proof.evidence[0]["program"]["pairs"] <= 2 * cells**2


def test_a_walk_that_is_wrong_in_one_place_is_refuted() -> None:
    file = krohn.compile("Grid3", 40, "gridworld").file
    machine: Automaton = zoo.machine("Grid3")
    statement = parse(file.header["program"], len(machine.letters), 40)
    tables = [c for c in statement.channels.values() if len(c.inputs) == 2 and c.table]
    rng = np.random.default_rng(0)
    for changed in tables[:6]:
        program = {**file.header["program"]}
        entries = [dict(c) for c in program["channels"]]
        for entry in entries:
            if entry["name"] == changed.name:
                rows = [list(r) for r in entry["rows"]]
                row = rows[int(rng.integers(len(rows)))]
                row[-1] = next(v for v in entry["domain"] if v != row[-1])
                entry["rows"] = rows
        program["channels"] = entries
        wrong = replace(file, header={**file.header, "program": program})
        assert prove(wrong, machine).verdict != "verified"
