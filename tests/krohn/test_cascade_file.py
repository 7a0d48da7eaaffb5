"""Cascades written as data are the same cascades when they are read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn import decomposition
from krohn.algebra import zoo
from krohn.algebra.cascade import Cascade, prove
from krohn.algebra.decomposition.diagrams import Reading, common, merge_readings
from krohn.algebra.decomposition.methods import METHODS, decompose
from krohn.algebra.errors import KrohnError, MachineError


def cascade(name: str, method: str = "holonomy") -> Cascade:
    return decompose(zoo.machine(name).semiautomaton, method).cascade


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["Grid4", "abab", "S4", "Adder"])
def test_what_is_read_is_what_was_written(
    name: str, method: str, tmp_path: Path
) -> None:
    written = cascade(name, method)
    decomposition.save_cascade(written, tmp_path / "c.json")
    read = decomposition.load_cascade(tmp_path / "c.json")
    assert decomposition.to_object(read) == decomposition.to_object(written)
    machine = zoo.machine(name).semiautomaton
    assert prove(machine, read) == prove(machine, written)


def test_the_data_alone_follow_the_machine() -> None:
    machine = zoo.machine("abab")
    data = json.loads(json.dumps(decomposition.to_object(cascade("abab"))))
    rng = np.random.default_rng(7)
    for _ in range(20):
        state, at = machine.start, data["lift"][machine.start]
        for letter in rng.integers(len(machine.letters), size=12).tolist():
            at = step(data, at, letter)
            state = int(machine.transitions[letter, state])
            assert stands_for(data, at) == state


def step(data: dict[str, Any], at: list[int], letter: int) -> list[int]:
    node, after = data["wiring"]["entry"][letter], []
    layers = data["wiring"]["layers"]
    for value, part, layer in zip(at, data["components"], layers, strict=True):
        after.append(part["transitions"][layer["emit"][node]][value])
        node = layer["follow"][node][value]
    return after


def stands_for(data: dict[str, Any], at: list[int]) -> int:
    node = 0
    for value, follow in zip(at, data["projection"], strict=True):
        node = follow[node][value]
    return node


Change = Callable[[dict[str, Any]], Any]
CHANGES: dict[str, Change] = {
    "version": lambda data: data.update(version=2),
    "no lift": lambda data: data.pop("lift"),
    "a lift too short": lambda data: data["lift"].pop(),
    "a lift beyond": lambda data: data["lift"][0].__setitem__(0, 9),
    "a half": lambda data: data["lift"][0].__setitem__(0, 0.5),
    "a name": lambda data: data["lift"][0].__setitem__(0, "0"),
    "a node beyond": lambda data: data["wiring"]["entry"].__setitem__(0, 99),
    "a layer less": lambda data: data["projection"].pop(),
    "wiring": lambda data: data.update(wiring=None),
    "a component": lambda data: data["components"].pop(),
    "two alike": lambda data: data["components"][0].update(states=["0", "0"]),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_damaged_data_are_refused(change: Change) -> None:
    data = decomposition.to_object(cascade("Grid4"))
    change(data)
    with pytest.raises(MachineError):
        decomposition.from_object(data)


@pytest.mark.parametrize("text", ["", "[", "[]", "3", '{"format": "krohn-cascade"}'])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(KrohnError):
        decomposition.load_cascade(tmp_path / "c.json")


def test_no_key_is_twice(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    decomposition.save_cascade(cascade("Grid4"), path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"lift":', '"lift": [], "lift":'), encoding="utf-8")
    with pytest.raises(MachineError, match="the key 'lift' is there twice"):
        decomposition.load_cascade(path)


def reading(possible: str, *refined: str) -> Reading:
    rows = [[c == "1" for c in row] for row in (possible, *refined)]
    return Reading(np.array(rows[0]), np.array(rows[1:]))


def test_contexts_that_agree_become_one() -> None:
    found = merge_readings(
        [reading("1100", "1000", "0100"), reading("0011", "0010", "0001")]
    )
    assert len(found) == 1
    assert found[0].possible.tolist() == [True] * 4
    assert found[0].refined.tolist() == [[True, False] * 2, [False, True] * 2]


def test_contexts_that_disagree_on_a_state_stay_apart() -> None:
    both = [reading("1100", "1000", "0100"), reading("0110", "0100", "0010")]
    assert common(both) is None
    assert merge_readings(both) == tuple(both)


def test_values_that_cannot_occur_do_not_disagree() -> None:
    assert common([reading("110", "100", "010"), reading("011", "000", "011")])
    assert common([]) is None
    assert merge_readings([]) == ()


@given(st.data())
def test_what_a_value_leaves_can_be_read_off_the_common_reading(
    data: st.DataObject,
) -> None:
    row = st.text("01", min_size=4, max_size=4)
    contexts = data.draw(st.lists(st.tuples(row, row), min_size=1, max_size=3))
    readings = []
    for upper, lower in contexts:
        first, second = (np.array([c == "1" for c in r]) for r in (upper, lower))
        readings.append(Reading(first | second, np.stack([first, second])))
    found = common(readings)
    if found is None:
        return
    for one in readings:
        for value, left in enumerate(one.refined):
            if left.any():
                assert (left == (one.possible & found.refined[value])).all()
