"""Cases hold every combination of values that occurs after BOS, each with its value."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.program.errors import Refused
from krohn.program.statement import Channel, Statement, parse
from krohn.verify.checker.cases import read_cases
from krohn.verify.search import cases as search
from krohn.verify.search.cases import Split

LETTERS = 3
Json = dict[str, Any]
Rows = Mapping[Any, int]


def table(name: str, inputs: list[str], rows: Rows) -> Json:
    listed = [[*row, value] for row, value in rows.items()]
    return mapped("table", name, inputs, sorted(set(rows.values()))) | {"rows": listed}


def mapped(op: str, name: str, inputs: list[str], domain: list[int]) -> Json:
    said = {"name": name, "op": "map", "function": op}
    return {**said, "inputs": inputs, "domain": domain}


def shift(name: str, source: str, domain: list[int]) -> Json:
    return {"name": name, "op": "shift", "source": source, "by": 1, "domain": domain}


def stated(*channels: Json) -> Statement:
    token = {"name": "token", "op": "token", "domain": list(range(LETTERS + 1))}
    said = {
        "channels": [token, *channels],
        "features": {},
        "outputs": ["token"],
        "decode": [],
    }
    return parse(said, LETTERS, 3)


@dataclass(frozen=True)
class Cone:
    """Maps over some sources; the last one is decided."""

    program: Statement
    sources: tuple[str, ...]

    @property
    def top(self) -> Channel:
        return list(self.program.channels.values())[-1]

    def cases(self) -> list[tuple[Mapping[str, set[int]], int]]:
        """Each case, as the values of every source, with its value."""
        every = read_cases(self.program, self.sources, self.top, self.evidence())
        found = []
        for row, value in zip(every.each, every.values.tolist(), strict=True):
            sets = {}
            for i, name in enumerate(self.sources):
                inside = every.sets[i][row[i]]
                sets[name] = set(self.program.channels[name].later[inside].tolist())
            found.append((sets, value))
        return found

    def evidence(self) -> Json:
        split = Split(self.program, self.sources)
        split.of(self.top)
        return split.evidence()

    def occurring(self) -> Iterator[tuple[Mapping[str, int], int]]:
        """Joint values of the sources after BOS, with the value of the top."""
        channels = self.program.channels
        for row in product(*(channels[n].later.tolist() for n in self.sources)):
            values = dict(zip(self.sources, row, strict=True))
            yield values, self.value(self.top.name, values)

    def value(self, name: str, values: Mapping[str, int]) -> int:
        if name in values:
            return values[name]
        found = self.program.channels[name]
        if found.op == "select":
            index, *options = found.inputs
            return self.value(options[self.value(index, values)], values)
        read = [self.value(n, values) for n in found.inputs]
        if found.op == "sum":
            return sum(read)
        return int(found.table([np.array(value) for value in read]))


def cone(seed: int) -> Cone:
    """Two functions of the letter and two other channels, with a few maps over them."""
    rng = np.random.default_rng(seed)
    said = [
        table(f"e{i}", ["token"], {(t,): int(rng.integers(3)) for t in range(4)})
        for i in range(2)
    ]
    said += [shift(f"x{i}", f"e{i}", said[i]["domain"]) for i in range(2)]
    for i in range(rng.integers(1, 5)):
        said.append(inner(rng, f"m{i}", stated(*said)))
    return Cone(stated(*said), ("token", "x0", "x1"))


def inner(rng: np.random.Generator, name: str, program: Statement) -> Json:
    below = list(program.channels.values())[1:]
    read = [below[i] for i in rng.integers(len(below), size=rng.integers(1, 4))]
    names, kind = [c.name for c in read], rng.random()
    if kind < 0.3:
        most = max(read[0].bos, int(read[0].later.max()))
        chosen = [below[i] for i in rng.integers(len(below), size=most + 1)]
        domain = {v for c in chosen for v in (c.bos, *c.later.tolist())}
        chosen_names = [c.name for c in chosen]
        return mapped("select", name, [names[0], *chosen_names], sorted(domain))
    if kind < 0.45:
        most = sum(int(max(c.bos, c.later.max())) for c in read)
        return mapped("sum", name, names, list(range(most + 1)))
    rows = {*product(*(c.later.tolist() for c in read)), tuple(c.bos for c in read)}
    return table(name, names, {row: int(rng.integers(3)) for row in rows})


@given(st.integers(0, 2**32))
def test_what_occurs_lies_in_one_case_with_its_value(seed: int) -> None:
    drawn = cone(seed)
    found = drawn.cases()
    for values, value in drawn.occurring():
        held = [v for sets, v in found if all(values[n] in sets[n] for n in sets)]
        assert held == [value]


@given(st.integers(0, 2**32), st.data())
def test_damaged_evidence_is_refused_or_holds(seed: int, data: st.DataObject) -> None:
    """Whatever is accepted holds all that occurs, with its value in every case."""
    drawn = cone(seed)
    said = drawn.evidence()
    damage = data.draw(st.sampled_from(["drop", "change", "value", "move"]))
    if said["parts"]:
        part = data.draw(st.integers(0, len(said["parts"]) - 1))
        of, source, number = said["parts"][part]
        if damage == "drop":
            del said["parts"][part]
        elif damage == "change":
            said["parts"][part] = [of, source, (number + 1) % 3]
        elif damage == "move":
            said["parts"][part] = [data.draw(st.integers(0, part)), source, number]
        else:
            said["sets"][source][number - 1] = said["sets"][source][number - 1][1:]
    try:
        every = read_cases(drawn.program, drawn.sources, drawn.top, said)
    except (Refused, IndexError):
        return
    later = [drawn.program.channels[n].later for n in drawn.sources]
    for values, value in drawn.occurring():
        at = [v.tolist().index(values[n]) for n, v in zip(values, later, strict=True)]
        inside = [s[e, a] for s, e, a in zip(every.sets, every.each.T, at, strict=True)]
        held = every.values[np.all(inside, axis=0)]
        assert len(held)
        assert (held == value).all()


def three() -> Cone:
    """The largest of two channels with values 0 to 2."""
    letter = table("e", ["token"], {(t,): t % 3 for t in range(4)})
    rows = {(x, y): max(x, y) for x in range(3) for y in range(3)}
    shifts = [shift(n, "e", [0, 1, 2]) for n in ("x", "y")]
    return Cone(stated(letter, *shifts, table("m", ["x", "y"], rows)), ("x", "y"))


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([], "does not decide"),
        ([[0, 0, 1], [0, 0, 2]], "do not hold all"),
        ([[0, 0, 1], [0, 1, 1]], "no part of one before"),
        ([[1, 0, 1], [0, 0, 2]], "no part of one before"),
        ([[0, 0, 1], [0, 0, 2], [0, 0, 3]], "does not decide"),
    ],
)
def test_what_is_no_cover_is_refused(parts: list[list[int]], reason: str) -> None:
    drawn = three()
    said = {"sets": [[[0], [1], [2]], [[0], [1], [2]]], "parts": parts}
    with pytest.raises(Refused, match=reason):
        read_cases(drawn.program, drawn.sources, drawn.top, said)


def test_what_does_not_matter_is_not_asked() -> None:
    domain = list(range(3))
    letter = table("e", ["token"], {(t,): t % 3 for t in range(4)})
    rows = {(x, y): int(x == 2) for x in domain for y in domain}
    program = stated(
        letter,
        shift("x", "e", domain),
        shift("y", "e", domain),
        table("m", ["x", "y"], rows),
    )
    found = Cone(program, ("x", "y")).cases()
    every = set(domain)
    assert sorted(found, key=lambda case: case[1]) == [
        ({"x": {0, 1}, "y": every}, 0),
        ({"x": {2}, "y": every}, 1),
    ]


def test_one_letter_is_behind_all_functions_of_the_letter() -> None:
    """Two flags are both 1 at no letter, so that their conjunction is never 1."""
    program = stated(
        table("a", ["token"], {(0,): 0, (1,): 1, (2,): 0, (3,): 0}),
        table("b", ["token"], {(0,): 1, (1,): 0, (2,): 0, (3,): 0}),
        table("m", ["a", "b"], {(i, j): i & j for i in (0, 1) for j in (0, 1)}),
    )
    assert {value for _, value in Cone(program, ("token",)).cases()} == {0}


def test_what_is_no_source_and_no_map_is_refused() -> None:
    letter = table("e", ["token"], {(t,): t % 2 for t in range(4)})
    program = stated(
        letter, shift("x", "e", [0, 1]), table("m", ["x"], {(0,): 0, (1,): 1})
    )
    with pytest.raises(Refused, match="'x' is not there"):
        Cone(program, ("token",)).cases()


def test_more_cases_than_allowed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    letter = table("e", ["token"], {(t,): t % 3 for t in range(4)})
    shifts = [shift(n, "e", [0, 1, 2]) for n in ("x", "y")]
    rows = {(x, y): 3 * x + y for x in range(3) for y in range(3)}
    drawn = Cone(stated(letter, *shifts, table("m", ["x", "y"], rows)), ("x", "y"))
    assert len(drawn.cases()) == 9
    monkeypatch.setattr(search, "MOST_CASES", 8)
    with pytest.raises(Refused, match="too many cases"):
        drawn.cases()


def chain(times: int, twice: bool) -> Cone:
    """Tables, each of the one before it; perhaps each reads that one twice."""
    letter = table("e", ["token"], {(t,): t % 2 for t in range(4)})
    said = [letter, shift("x", "e", [0, 1])]
    rows = {row: max(row) for row in product((0, 1), repeat=1 + twice)}
    for i in range(times):
        said.append(table(f"m{i}", [said[-1]["name"]] * (1 + twice), rows))
    return Cone(stated(*said), ("x",))


def test_a_chain_of_tables_is_walked_once() -> None:
    found = chain(100, False).cases()
    assert sorted((min(sets["x"]), value) for sets, value in found) == [(0, 0), (1, 1)]


@pytest.mark.slow
def test_chains_that_would_take_forever_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "MOST_QUESTIONS", 1_000)
    with pytest.raises(Refused, match="too many questions"):
        chain(60, True).cases()
    with pytest.raises(Refused, match="nested too deeply"):
        chain(600, False).cases()
