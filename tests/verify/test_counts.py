"""Programs that count letters: sums that nothing tells apart are one state."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton
from krohn.program.errors import Refused
from krohn.program.statement import Statement, parse
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.refinement import check
from krohn.verify.errors import WrongWord
from krohn.verify.proof import prove
from krohn.verify.search.refinement import find

Read = Callable[[int, int], int]
LENGTH = 40


def table(name: str, inputs: list[str], rows: list[list[int]]) -> dict[str, Any]:
    domain = sorted({row[-1] for row in rows})
    fields = {"op": "map", "function": "table", "inputs": inputs, "rows": rows}
    return {"name": name, "domain": domain, **fields}


def two_sums(
    steps: Sequence[tuple[int, int]], moduli: tuple[int, int], read: Read
) -> tuple[Statement, Machine]:
    """Two sums of letters, each modulo a number, a function of both, and their machine."""
    letters = len(steps)
    channels: list[dict[str, Any]] = [
        {"name": "token", "op": "token", "domain": [*range(letters + 1)]}
    ]
    for i, modulus in enumerate(moduli):
        adds = [step[i] for step in steps]
        sums = range(LENGTH * max(adds) + 1)
        channels += [
            table(f"step{i}", ["token"], [[a, x] for a, x in enumerate([*adds, 0])]),
            {"name": f"sum{i}", "op": "prefix-sum", "source": f"step{i}"}
            | {"domain": [*sums]},
            table(f"rest{i}", [f"sum{i}"], [[s, s % modulus] for s in sums]),
        ]
    pairs = [*product(*map(range, moduli))]
    rows = [[u, v, read(u, v)] for u, v in pairs]
    channels.append(table("shown", ["rest0", "rest1"], rows))
    decode = [[[v], v] for v in channels[-1]["domain"]]
    rest = {"features": {}, "outputs": ["shown"], "decode": decode}
    moved = [
        [pairs.index(((u + a) % moduli[0], (v + b) % moduli[1])) for u, v in pairs]
        for a, b in steps
    ]
    shows = np.array([read(u, v) for u, v in pairs])
    program = parse({"channels": channels, **rest}, letters, LENGTH)
    return program, Machine(0, np.array(moved), shows)


def classes(program: Statement, machine: Machine) -> int:
    """How many states the counting machine of the evidence has; 0 if there is none."""
    evidence = find(program, machine)
    check(program, evidence, machine)
    first = evidence["parts"][0]
    return len(first["machine"]["transitions"][0]) if "machine" in first else 0


@settings(max_examples=5)
@given(st.integers(2, 6))
def test_only_the_difference_matters(n: int) -> None:
    walk = [(1, 0), (0, 1)]
    assert classes(*two_sums(walk, (n, n), lambda u, v: (u - v) % n)) == n
    assert classes(*two_sums(walk, (n, n), lambda u, v: u * n + v)) == 0
    assert classes(*two_sums(walk, (n, n), lambda u, v: 0)) == 1


def test_what_only_later_letters_tell_apart_is_kept_apart() -> None:
    # Shown is only whether u is 0; that it is 1 or 2 shows after one more letter.
    assert classes(*two_sums([(1, 0), (0, 1)], (3, 2), lambda u, v: int(u == 0))) == 3


@pytest.mark.slow
@settings(max_examples=12)
@given(st.data())
def test_what_sums_show_is_right_and_nothing_else(data: st.DataObject) -> None:
    moduli = data.draw(st.tuples(st.integers(2, 4), st.integers(2, 4)))
    step = st.tuples(st.integers(0, 2), st.integers(0, 2))
    steps = [*data.draw(st.lists(step, min_size=1, max_size=3)), (1, 1)]
    values = data.draw(st.lists(st.integers(0, 2), min_size=16, max_size=16))
    program, machine = two_sums(steps, moduli, lambda u, v: values[4 * u + v])
    classes(program, machine)
    after = machine.transitions[
        data.draw(st.integers(0, len(steps) - 1)), machine.start
    ]
    shows = machine.shows.copy()
    shows[after] += 1
    with pytest.raises(WrongWord) as caught:
        find(program, machine._replace(shows=shows))
    assert len(caught.value.word) == 1


def test_a_counting_machine_that_is_damaged_is_refused() -> None:
    program, machine = two_sums([(1, 0), (0, 1)], (4, 4), lambda u, v: (u - v) % 4)
    evidence = find(program, machine)
    at = evidence["parts"][0]["machine"]
    tried = []
    for letter, state in product(range(2), range(4)):
        for to in ((at["transitions"][letter][state] + 1) % 4, 4, -1):
            damaged = deepcopy(evidence)
            damaged["parts"][0]["machine"]["transitions"][letter][state] = to
            tried.append(damaged)
    for start in ((at["start"] + 1) % 4, 4, -1):
        tried.append(deepcopy(evidence))
        tried[-1]["parts"][0]["machine"]["start"] = start
    tried += [deepcopy(evidence) for _ in range(4)]
    tried[-1]["parts"][0]["machine"]["transitions"].pop()
    tried[-2]["parts"][1]["assumed"] = {"shown": 1}
    tried[-3]["parts"][1]["length"] = LENGTH
    tried[-3]["parts"][0]["length"] = LENGTH - 1
    tried[-4]["final"] = [0]
    for damaged in tried:
        with pytest.raises((Refused, IndexError)):
            check(program, damaged, machine)


def test_a_class_that_shows_two_things_proves_neither() -> None:
    """One class of all sums is a machine too; beside it everything is shown."""
    program, machine = two_sums([(1, 0), (0, 1)], (2, 2), lambda u, v: (u - v) % 2)
    evidence = find(program, machine)
    first, last = evidence["parts"]
    first["machine"] = {"start": 0, "transitions": [[0], [0]]}
    first["states"] = [0] * len(first["states"])
    last["cells"] = {"shown": [[[0]], [[0]] * len(last["states"])]}
    with pytest.raises(Refused, match="is decoded wrongly"):
        check(program, evidence, machine)


@pytest.mark.sample(1)
@pytest.mark.parametrize("cells", [2, 4, 9])
def test_a_gridworld_has_as_many_states_as_walks_and_windows(cells: int) -> None:
    built = krohn.compile(f"Grid{cells}", 100, "gridworld")
    assert built.proof is not None
    # Of ups and downs 4·n² pairs, and then 2·n² of walks and windows.
    assert built.proof.evidence[0]["program"]["states"] <= 6 * cells**2


@pytest.mark.slow
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
