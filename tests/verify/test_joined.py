"""Joined memories prove what all memories prove, and nothing that is wrong."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.observation import observe
from krohn.compiler.constructions.registry import construct
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.transformer import describe, lower
from krohn.network.precision import FLOAT32
from krohn.program import Map, Table
from krohn.program.errors import Refused
from krohn.program.interpreter import interpret
from krohn.program.statement import Statement as Stated, parse
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.refinement import check
from krohn.verify.errors import WrongWord
from krohn.verify.search import exploration
from krohn.verify.search.exploration import Effort, GivenUp, Mode, explore
from krohn.verify.search.find import machine_of
from krohn.verify.search.refinement import Search, find


def stated(machine: Automaton, construction: str, length: int) -> Stated:
    options = Options(FLOAT32)
    program = optimise(construct(construction, machine, length), options)
    layout, features = arrange(program, options)
    entry = describe(layout, lower(layout, features, strict=False))
    return parse(entry, len(machine.letters), length)


def explored(program: Stated, machine: Machine, mode: Mode) -> Any:
    """The readings and the number of abstract states, in one mode."""
    search = Search(program, machine)
    said = search.stated_part(list(dict.fromkeys(program.outputs)))
    allowed = search.allowed_values(said["outputs"])
    found, part = explore(search.start(said), mode, Effort(), allowed)
    return part.shown, len(found["states"])


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "construction", "length"),
    [("Dyck2,2", "dyck", 7), ("Dyck3,1", "dyck", 9), ("Grid4", "gridworld", 9)],
)
def test_joined_memories_show_what_each_shows(
    name: str, construction: str, length: int
) -> None:
    machine = zoo.machine(name)
    program, own = stated(machine, construction, length), machine_of(machine)
    joined, every = (explored(program, own, mode) for mode in ("joined", "all"))
    assert joined[0] == every[0]
    assert joined[1] <= every[1]


@pytest.mark.slow
@pytest.mark.parametrize("construction", ["dyck", "gridworld"])
def test_every_wrong_machine_within_reach_is_refused(construction: str) -> None:
    machine = zoo.machine({"dyck": "Dyck2,2", "gridworld": "Grid4"}[construction])
    program = stated(machine, construction, 6)
    for letter, state in list(np.ndindex(machine.transitions.shape))[::3]:
        table = machine.transitions.copy()
        table[letter, state] = (table[letter, state] + 1) % len(machine.states)
        other = Semiautomaton(table, machine.letters, machine.states)
        wrong = machine_of(replace(machine, semiautomaton=other))
        for mode in ("state", "joined"):
            with pytest.raises(GivenUp):
                explored(program, wrong, mode)
        with pytest.raises(WrongWord):
            find(program, wrong)


def test_wrong_outputs_are_refused() -> None:
    machine = observe(zoo.machine("Dyck3,2"), "balance")
    assert machine.output is not None
    program, shows = stated(machine, "dyck", 6), machine.output.table
    check(
        program, find(program, machine_of(machine, shows)), machine_of(machine, shows)
    )
    for state in range(1, len(machine.states)):
        table = shows.copy()
        table[state] = (table[state] + 1) % 3
        with pytest.raises(WrongWord):
            find(program, machine_of(machine, table))


def balance(length: int) -> tuple[Stated, Machine]:
    machine = observe(zoo.machine("Dyck2,2"), "balance")
    assert machine.output is not None
    return stated(machine, "dyck", length), machine_of(machine, machine.output.table)


def rules(program: Stated, machine: Machine) -> list[Any]:
    """How sums are lowered."""
    reduced: list[Any] = Search(program, machine).stated_part(list(program.outputs))[
        "reduced"
    ]
    return reduced


def test_sums_read_as_differences_are_lowered_together() -> None:
    assert [sums for sums, _, _ in rules(*balance(8))] == [["ups", "downs"]]


def test_sums_that_are_told_apart_are_not_lowered() -> None:
    program, machine = balance(6)
    for name, channel in program.channels.items():
        if not {"ups", "downs"} <= set(channel.inputs):
            continue
        at = [channel.inputs.index(n) for n in ("ups", "downs")]
        row = (channel.table.rows[:, at] == 3).all(axis=1).argmax()
        results = channel.table.values.copy()
        results[row] = next(v for v in channel.domain if v != results[row])
        changed = Map(Table(channel.table.rows, results), channel.inputs)
        other = {**program.channels, name: replace(channel, operation=changed)}
        assert not rules(replace(program, channels=other), machine)


@pytest.mark.slow
def test_stacks_of_depth_ten_are_proved_at_once() -> None:
    machine = observe(zoo.machine("Dyck10,2"), "balance")
    assert machine.output is not None
    program = stated(machine, "dyck", 20)
    own = machine_of(machine, machine.output.table)
    found = find(program, own)
    check(program, found, own)
    assert sum(len(part["states"]) for part in found["parts"]) < 2 * len(machine.states)


def test_too_many_memories_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploration, "MOST_STATES", 3)
    machine = zoo.machine("Dyck2,2")
    with pytest.raises(Refused, match="too many memories"):
        find(stated(machine, "dyck", 6), machine_of(machine))


@pytest.mark.parametrize("observation", ["balance", "stack-top"])
def test_recognisers_are_right_on_all_short_words(observation: str) -> None:
    machine = observe(zoo.machine("Dyck2,2"), observation)
    assert machine.output is not None
    words = np.array(list(product(range(4), repeat=5)))
    program = construct("dyck", machine, 5)
    values = interpret(program, words)
    rows = np.stack([values[n][:, 1:] for n in program.outputs], axis=-1)
    said = [[program.decode[tuple(v)] for v in row] for row in rows.tolist()]
    trace = machine.semiautomaton.trace(words, machine.start)
    assert np.array_equal(said, machine.output.table[trace])
