"""Sums that are lowered take few values, however long words are, and no others count."""

from typing import Any

import numpy as np
import pytest

import krohn
from krohn.algebra import zoo
from krohn.compiler.constructions.registry import construct
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.transformer import describe, lower
from krohn.network.precision import FLOAT32
from krohn.program.domains import ChannelDomain, PossibleValues
from krohn.program.errors import Refused
from krohn.program.functions import table
from krohn.program.statement import Statement, parse
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.refinement import check
from krohn.verify.search.find import machine_of
from krohn.verify.search.refinement import Search, find

Json = dict[str, Any]
LENGTH = 4


def counting() -> Statement:
    """Whether the number of letters, of which there is one kind, is odd."""
    channels: list[Json] = [
        {"name": "token", "op": "token", "domain": [0, 1]},
        _table("one", "token", [1, 0]),
        {
            "name": "count",
            "op": "prefix-sum",
            "source": "one",
            "domain": [0, 1, 2, 3, 4],
        },
        _table("odd", "count", [0, 1, 0, 1, 0]),
    ]
    decode = [[[0], 0], [[1], 1]]
    rest: Json = {"features": {}, "outputs": ["odd"], "decode": decode}
    return parse({"channels": channels, **rest}, 1, LENGTH)


def _table(name: str, source: str, values: list[int]) -> Json:
    rows = [[argument, value] for argument, value in enumerate(values)]
    said = {"name": name, "op": "map", "function": "table", "inputs": [source]}
    return {**said, "rows": rows, "domain": [0, 1]}


def machine(*after: int) -> Machine:
    """One letter leads from each state to the given one; each state shows itself."""
    return Machine(0, np.array([after]), np.arange(len(after)))


def named(names: list[int]) -> Json:
    """The lemma that shows the count beside a machine whose states are so named."""
    after = [0] * len(names)
    for count, name in enumerate(names):
        after[name] = names[min(count + 1, LENGTH)]
    sets = [[count] for count in range(LENGTH + 1)]
    return {
        **_part("count", names),
        "depths": list(range(LENGTH + 1)),
        "follow": [[min(count + 1, LENGTH)] for count in range(LENGTH + 1)],
        "cells": {"count": [sets, [[count] for count in range(LENGTH + 1)]]},
        "machine": {"start": names[0], "transitions": [after]},
    }


def _part(output: str, states: list[int]) -> Json:
    said: Json = {"outputs": [output], "length": LENGTH, "states": states}
    return {**said, "reduced": [], "repeats": [0, 1], "assumed": {}, "split": []}


def lowered(states: list[int], follow: list[int], sets: list[list[int]]) -> Json:
    """The part that shows the output from a count of which two are taken at a time."""
    return {
        **_part("odd", states),
        "depths": [0] * len(states),
        "follow": [[target] for target in follow],
        "cells": {"count": [sets, [[i] for i in range(len(sets))]]},
        "reduced": [[["count"], [2], [0]]],
    }


def told(*parts: Json) -> Json:
    return {
        "families": [],
        "ranks": [],
        "windows": {},
        "parts": parts,
        "final": [len(parts) - 1],
    }


def test_a_lowered_sum_shows_what_it_did() -> None:
    right = told(lowered([0, 1], [1, 0], [[0], [1]]))
    assert check(counting(), right, machine(1, 0)) == {(0,): 0, (1,): 1}
    with pytest.raises(Refused):
        check(counting(), told(lowered([0, 1], [1, 1], [[0], [1]])), machine(1, 1))


def test_a_cell_that_holds_states_is_not_lowered() -> None:
    """The cell of an assumed sum holds states of a machine, which numbers are not."""
    program, wrong = counting(), machine(1, 1)
    other = named([0, 2, 1, 3, 4])  # the state that is called 1 means a count of two
    part = {**lowered([0, 1], [1, 1], [[0], [1]]), "assumed": {"count": 0}}
    with pytest.raises(Refused, match="no such steps"):
        check(program, told(other, part), wrong)


def test_values_that_a_lowered_sum_never_has_change_nothing() -> None:
    program, right = counting(), machine(1, 0)
    for more in ([2], [3], [4], [2, 3, 4]):
        wide = lowered([0, 1], [1, 0], [[0, *more], [1, *more]])
        found = check(program, told(wide), right)
        assert found.items() >= {(0,): 0, (1,): 1}.items()


def test_rows_beyond_the_values_that_come_up_do_not_hide_others() -> None:
    rng = np.random.default_rng(0)
    rows = {(x, y): int(rng.integers(4)) for x in range(9) for y in range(7)}
    function, own = table(rows), ChannelDomain(np.arange(4), 0)
    for widths in [(1, 1), (2, 7), (9, 3), (4, 2)]:
        read = [PossibleValues(np.arange(n), rng.random((50, n)) < 0.5) for n in widths]
        found = function.step(own, read)
        for i, (x, y) in enumerate(zip(*(r.sets for r in read), strict=True)):
            values = {rows[p, q] for p in x.nonzero()[0] for q in y.nonzero()[0]}
            assert set(found[i].nonzero()[0].tolist()) == values


def program_of(name: str, construction: str, length: int) -> Statement:
    source = zoo.machine(name)
    options = Options(FLOAT32)
    program = optimise(construct(construction, source, length), options)
    layout, features = arrange(program, options)
    stated = describe(layout, lower(layout, features, strict=False))
    return parse(stated, len(source.letters), length)


@pytest.mark.parametrize(
    ("name", "construction"), [("C5", "counter"), ("C2xC3", "product")]
)
def test_lowered_sums_take_no_more_work_for_longer_words(
    name: str, construction: str
) -> None:
    own, work = machine_of(zoo.machine(name)), list[int]()
    for length in (20, 60):
        search = Search(program_of(name, construction, length), own)
        said = search.stated_part(list(search.program.outputs))
        work.append(search.start(said).work)
    assert work[0] == work[1]


@pytest.mark.slow
@pytest.mark.parametrize("construction", ["krohn-rhodes", "permutation-reset"])
def test_fifteen_sums_are_lowered_at_once(construction: str) -> None:
    source = zoo.machine("PermReset4")
    program = program_of("PermReset4", construction, 512)
    evidence = find(program, machine_of(source))
    assert len(check(program, evidence, machine_of(source))) == len(source.states)
    (part,) = evidence["parts"]
    assert len(part["reduced"]) == 15


@pytest.mark.slow
def test_the_network_with_fifteen_lowered_sums_is_proved() -> None:
    made = krohn.compile("PermReset4", 512, "krohn-rhodes")
    assert made.proof is not None
    assert made.proof.verdict == "verified"
