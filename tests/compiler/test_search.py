"""Planning finds what pricing everything would find, with less work."""

import tracemalloc
from dataclasses import fields, replace
from functools import partial
from math import ceil, log

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.errors import KrohnError
from krohn.compiler import CompileError
from krohn.compiler.constructions.registry import construct, radix_of
from krohn.compiler.cost import Bound, latency
from krohn.compiler.pipeline import Options
from krohn.compiler.planning import MOST_CHOSEN, planning, plans, scans
from krohn.compiler.search import FRONT, SIZES_TO_MINIMISE, Plan, Search, front, sizes
from krohn.network.precision import FLOAT32

OPTIONS = Options(FLOAT32)
NAMES = ("C3", "D6", "Grid4", "abab", "FlipFlop", "S4")


@st.composite
def machines(draw: st.DrawFn) -> Automaton:
    letters, size = draw(st.integers(1, 2)), draw(st.integers(1, 4))
    row = st.lists(st.integers(0, size - 1), min_size=size, max_size=size)
    table = draw(st.lists(row, min_size=letters, max_size=letters))
    names = tuple("ab"[:letters]), tuple("pqrs"[:size])
    return Automaton(Semiautomaton(np.array(table), *names))


def everything(search: Search) -> list[Plan]:
    """All plans; each has cost at least what every bound on its way said."""
    said = {rank: [branch.bound] for rank, branch in search.branches.items()}
    while search.branches:
        rank, branch = next(iter(search.branches.items()))
        after = search.advance(rank)
        for led in after:
            said[led] = (
                [*said[rank], search.branches[led].bound]
                if led in search.branches
                else said[rank]
            )
        assert after or branch.name in search.reasons
    for rank, found in search.found.items():
        for bound in said[rank]:
            for size in (f.name for f in fields(Bound)):
                least, cost = getattr(bound, size), getattr(found.cost, size)
                assert least <= cost + 1e-6, (found.construction, size)
    return list(search.found.values())


@pytest.mark.slow
@settings(max_examples=4)
@given(machines(), st.integers(1, 9), st.booleans())
def test_bounds_are_not_above_what_follows(
    machine: Automaton, length: int, strict: bool
) -> None:
    known = planning(machine, length, replace(OPTIONS, strict=strict))
    assert everything(known.search)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", NAMES)
def test_the_best_is_the_best_of_all(name: str) -> None:
    machine = replace(zoo.machine(name), output=None)
    every = everything(planning(machine, 12, OPTIONS).search)
    for minimise in SIZES_TO_MINIMISE:
        known = planning(machine, 12, OPTIONS)
        best = next(known.best_first(minimise))
        key = partial(sizes, minimise=minimise)
        tried = [p for p in every if p.construction in known.eligible(minimise)]
        assert key(best.cost) == min(key(p.cost) for p in tried)


@pytest.mark.slow
def test_the_rest_comes_in_order() -> None:
    machine = zoo.machine("D6")
    found = list(planning(machine, 12, OPTIONS).best_first("parameters"))
    ordered = [sizes(p.cost, "parameters") for p in found]
    assert ordered == sorted(ordered)
    every = everything(planning(machine, 12, OPTIONS).search)
    assert {(p.construction, p.cost) for p in found} == {
        (p.construction, p.cost) for p in every
    }


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", NAMES)
def test_the_front_is_that_of_all(name: str) -> None:
    machine = replace(zoo.machine(name), output=None)
    every = everything(planning(machine, 12, OPTIONS).search)
    values = {tuple(getattr(p.cost, n) for n in FRONT) for p in every}
    beaten = {
        v
        for v in values
        for w in values
        if w != v and all(a <= b for a, b in zip(w, v, strict=True))
    }
    known = planning(machine, 12, OPTIONS)
    next(known.best_first())
    found = [tuple(getattr(p.cost, n) for n in FRONT) for p in known.front(Budget())]
    assert sorted(found) == sorted(values - beaten)


@pytest.mark.slow
def test_what_cannot_win_is_not_laid_out() -> None:
    known = planning(zoo.machine("S5"), 100, OPTIONS)
    assert next(known.best_first()).construction == "scan"
    assert [p.construction for p in known.search.found.values()] == ["scan"]
    sequential = next(
        w for w in known.search.branches.values() if w.name == "sequential"
    )
    assert sequential.bound.depth == 99


@pytest.mark.slow
def test_what_takes_too_long_is_not_compared() -> None:
    known, budget = planning(zoo.machine("S5"), 100, OPTIONS), Budget(4_000)
    best = next(known.best_first())
    front = known.front(budget)
    assert best.construction in [plan.construction for plan in front]
    assert "networks of scan10 were not compared" in budget.cut
    assert "scan10" not in [plan.construction for plan in front]


def test_no_plan_no_front() -> None:
    assert front([]) == []


@pytest.mark.sample(5)
@pytest.mark.parametrize("length", [1, 2, 3, 9, 10, 11, 64, 100, 512, 1000])
def test_radixes_are_the_least_for_each_depth(length: int) -> None:
    radixes = [radix_of(name) for name in scans(length)]
    assert all(r is not None and r <= max(10, ceil(length**0.5)) for r in radixes)
    depths = [_depth(length, r) for r in (2, *(r for r in radixes if r))]
    assert depths == sorted(set(depths), reverse=True)
    for radix in radixes:
        assert radix is not None
        assert _depth(length, radix - 1) > _depth(length, radix)


def _depth(length: int, radix: int) -> int:
    depth = max(0, ceil(log(length, radix)) - 1)
    while radix**depth < length:
        depth += 1
    return depth


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "depth"), [("S4", 2), ("A5", 2), ("S5", 2)])
def test_least_depth_by_radix(name: str, depth: int) -> None:
    """These had 3, 7 and 7 once."""
    known = planning(zoo.machine(name), 100, OPTIONS)
    best = next(known.best_first("depth"))
    assert best.cost.depth == depth
    assert best.cost.parameters <= MOST_CHOSEN


@pytest.mark.slow
def test_scans_that_are_too_large_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("krohn.compiler.planning.MOST_CHOSEN", 60_000)
    known = planning(zoo.machine("S5"), 100, OPTIONS)
    best = next(known.best_first("depth"))
    assert (best.construction, best.cost.depth) == ("scan4", 4)
    (reason, *_) = known.search.reasons["scan10"]
    assert reason.startswith("scan10 would need at least")
    assert "and none above 6.0e+04 is chosen" in reason


@pytest.mark.parametrize("name", ["scan1", "scan0", "scan-3", "scan٣", "scan99999"])
def test_no_such_radix(name: str) -> None:
    with pytest.raises(CompileError, match="there is no construction"):
        construct(name, zoo.machine("C2"), 4)


@pytest.mark.slow
def test_any_radix_can_be_asked_for() -> None:
    (first, *_) = plans("scan7", zoo.machine("S3"), 49, OPTIONS)
    assert (first.cost.depth, first.cost.heads) == (2, 6)


def test_latency_grows_with_every_size() -> None:
    base = (2, 3, 1000, 2000, 10)
    for i in range(len(base)):
        more = tuple(n + (i == j) for j, n in enumerate(base))
        assert latency(*more) > latency(*base)


LONG = 10**8
ROOM = 64 * 2**20
"""Bytes: far fewer than there are positions."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "source", ["C2", "Grid4", "S5", "FlipFlop", "Dyck4,2", "abab", "program:reverse"]
)
def test_words_that_are_far_too_long_are_refused_with_little_memory(
    source: str,
) -> None:
    krohn.compile("C2", 2)  # what is imported is none of it
    tracemalloc.start()
    try:
        with pytest.raises(KrohnError):
            krohn.compile(source, LONG)
        assert tracemalloc.get_traced_memory()[1] < ROOM
    finally:
        tracemalloc.stop()


def test_a_length_that_no_file_can_state_is_refused_at_once() -> None:
    with pytest.raises(KrohnError, match="too long"):
        krohn.compile("C2", length=10**20)
