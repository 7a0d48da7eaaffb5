"""Cubes hold every combination of values that occurs, each with its one value."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify import cubes
from verify.cubes import Cube, Decider
from verify.errors import Rejected
from verify.statement import Channel, Statement

LETTERS = 3
Rows = dict[tuple[int, ...], int]


def channel(
    name: str, op: str, inputs: tuple[str, ...], domain: list[int], table: Rows
) -> Channel:
    return Channel(
        name, op, inputs, 0, table, tuple(domain), False, None, -1, -1, head=None
    )


def tabled(name: str, inputs: tuple[str, ...], table: Rows) -> Channel:
    return channel(name, "table", inputs, sorted(set(table.values())), table)


def selected(name: str, inputs: tuple[str, ...], domain: list[int]) -> Channel:
    return channel(name, "select", inputs, domain, {})


def leaf(name: str, domain: list[int]) -> Channel:
    return channel(name, "shift", ("token",), domain, {})


def stated(*channels: Channel) -> Statement:
    token = channel("token", "token", (), list(range(LETTERS + 1)), {})
    return Statement({c.name: c for c in (token, *channels)}, {}, (), {}, LETTERS, 3)


@dataclass(frozen=True)
class Cone:
    """Maps over some stored channels; the last one is decided."""

    statement: Statement
    stored: tuple[str, ...]

    @property
    def top(self) -> Channel:
        return list(self.statement.channels.values())[-1]

    def cubes(self) -> list[tuple[Cube, int]]:
        return Decider(self.statement, self.stored).cubes(self.top)

    def occurring(self) -> Iterator[tuple[Mapping[str, int], int]]:
        """Joint values of letter and stored channels, with the value of the top."""
        names = ["token", *self.stored]
        domains = [self.statement.channels[n].domain for n in names]
        for row in product(*domains):
            values = dict(zip(names, row, strict=True))
            try:
                if all(self.fits(n, values) for n in self.stored):
                    yield values, self.value(self.top.name, values)
            except LookupError:  # a row that a Program need not have
                continue

    def fits(self, name: str, values: Mapping[str, int]) -> bool:
        """Whether a stored channel has the value that the letter gives it."""
        found = self.statement.channels[name]
        by_letter = found.op == "table" and found.inputs == ("token",)
        return not by_letter or found.table[(values["token"],)] == values[name]

    def value(self, name: str, values: Mapping[str, int]) -> int:
        if name in values:
            return values[name]
        found = self.statement.channels[name]
        if found.op == "select":
            index, *options = found.inputs
            result = self.value(options[self.value(index, values)], values)
        else:
            result = found.table[tuple(self.value(n, values) for n in found.inputs)]
        if result not in found.domain:
            raise LookupError(name)
        return result


def cone(seed: int) -> Cone:
    """Two functions of the letter and two other channels, with a few Maps over them."""
    rng = np.random.default_rng(seed)
    channels = [
        tabled("a", ("token",), {(t,): int(rng.integers(3)) for t in range(4)}),
        tabled("b", ("token",), {(t,): int(rng.integers(3)) for t in range(4)}),
        leaf("x", [0, 1, 2]),
        leaf("y", [0, 2, 5]),
    ]
    for i in range(rng.integers(1, 5)):
        channels.append(inner(rng, f"m{i}", channels))
    return Cone(stated(*channels), ("a", "b", "x", "y"))


def inner(rng: np.random.Generator, name: str, below: list[Channel]) -> Channel:
    """A selection, or a table some of whose rows are missing."""
    read = [below[i] for i in rng.integers(len(below), size=rng.integers(1, 4))]
    if rng.random() < 0.3:
        options = [below[i] for i in rng.integers(len(below), size=read[0].domain[-1])]
        chosen = (read[0], *options, below[-1])
        domain = {v for c in chosen[1:] for v in c.domain if rng.random() < 0.9}
        return selected(name, tuple(c.name for c in chosen), sorted(domain | {0}))
    rows = list(product(*(c.domain for c in read)))
    kept = [row for row in rows if rng.random() < 0.9] or rows
    table = {row: int(rng.integers(3)) for row in kept}
    return tabled(name, tuple(c.name for c in read), table)


def within(values: Mapping[str, int], cube: Cube) -> bool:
    return all(values[name] in among for name, among in cube.items())


@given(st.integers(0, 2**32))
def test_what_occurs_lies_in_one_cube_with_its_value(seed: int) -> None:
    drawn = cone(seed)
    found = drawn.cubes()
    for values, value in drawn.occurring():
        assert [v for cube, v in found if within(values, cube)] == [value]


@given(st.integers(0, 2**32))
def test_cubes_hold_values_of_the_domains_only(seed: int) -> None:
    drawn = cone(seed)
    for cube, value in drawn.cubes():
        assert value in drawn.top.domain
        for name, among in cube.items():
            assert among
            assert among <= set(drawn.statement.channels[name].domain)


def test_what_does_not_matter_is_not_asked() -> None:
    rows = {(x, y): int(x == 5) for x in range(6) for y in range(6)}
    domain = list(range(6))
    statement = stated(
        leaf("x", domain), leaf("y", domain), tabled("m", ("x", "y"), rows)
    )
    found = Cone(statement, ("x", "y")).cubes()
    assert {value: dict(cube) for cube, value in found} == {
        0: {"x": frozenset(range(5))},
        1: {"x": frozenset([5])},
    }


def test_rows_that_are_missing_are_covered_by_nothing() -> None:
    """X = y in all rows: one question is enough, and two are not contradicted."""
    table = tabled("m", ("x", "y"), {(v, v): v for v in range(3)})
    statement = stated(leaf("x", [0, 1, 2]), leaf("y", [0, 1, 2]), table)
    found = Cone(statement, ("x", "y")).cubes()
    for v in range(3):
        assert [w for cube, w in found if within({"x": v, "y": v}, cube)] == [v]


def test_one_letter_is_behind_all_functions_of_the_letter() -> None:
    """Two flags are both 1 at no letter, so that their conjunction is never 1."""
    statement = stated(
        tabled("a", ("token",), {(0,): 0, (1,): 1, (2,): 0, (3,): 0}),
        tabled("b", ("token",), {(0,): 1, (1,): 0, (2,): 0, (3,): 0}),
        tabled("m", ("a", "b"), {(i, j): i & j for i in (0, 1) for j in (0, 1)}),
    )
    assert {value for _, value in Cone(statement, ("a", "b")).cubes()} == {0}


def test_a_selection_by_a_start_value_that_leads_nowhere_is_left_out() -> None:
    """The index is 2 only where a start value meets a later one: there is no third."""
    statement = stated(
        leaf("x", [0, 1]),
        leaf("y", [0, 1]),
        leaf("z", [0, 1, 2]),
        selected("i", ("x", "y", "z"), [0, 1]),
        selected("s", ("i", "x", "y"), [0, 1]),
    )
    decided = Cone(statement, ("x", "y", "z")).cubes()
    assert {value for _, value in decided} == {0, 1}
    assert all(2 not in cube.get("z", ()) for cube, _ in decided)


def test_what_is_not_stored_and_no_map_is_refused() -> None:
    statement = stated(leaf("x", [0, 1]), tabled("m", ("x",), {(0,): 0, (1,): 1}))
    with pytest.raises(Rejected, match="'x' is not there"):
        Cone(statement, ()).cubes()


def copies(times: int, twice: bool) -> Cone:
    """A chain of tables; each reads the one before it, perhaps twice."""
    channels, arity = [leaf("x", [0, 1])], 1 + twice
    rows = {row: max(row) for row in product((0, 1), repeat=arity)}
    for i in range(times):
        channels.append(tabled(f"m{i}", (channels[-1].name,) * arity, rows))
    return Cone(stated(*channels), ("x",))


def test_chains_of_tables_are_walked_once() -> None:
    assert sorted((min(cube["x"]), v) for cube, v in copies(100, False).cubes()) == [
        (0, 0),
        (1, 1),
    ]


@pytest.mark.parametrize(("times", "twice"), [(5000, False), (60, True)])
def test_chains_that_would_take_forever_are_refused(times: int, twice: bool) -> None:
    drawn = copies(times, twice)
    drawn.statement.effort.left = 200_000
    with pytest.raises(Rejected, match=r"nested too deep|takes more than"):
        drawn.cubes()


def test_more_cubes_than_allowed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {(x, y): (x + y) % 5 for x in range(5) for y in range(5)}
    domain = list(range(5))
    statement = stated(
        leaf("x", domain), leaf("y", domain), tabled("m", ("x", "y"), rows)
    )
    drawn = Cone(statement, ("x", "y"))
    assert len(drawn.cubes()) == 25
    monkeypatch.setattr(cubes, "MOST_CUBES", 24)
    with pytest.raises(Rejected, match="too many cases"):
        drawn.cubes()
