"""Joined memories prove what all memories prove, and nothing that is wrong."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra import zoo
from algebra.automaton import Automaton
from algebra.observation import observe
from algebra.semiautomaton import Semiautomaton
from compiler import plan
from compiler.pipeline import Options, arrange, optimise
from compiler.transformer import describe, lower
from network.precision import FLOAT32
from program import Program
from program.interpreter import interpret
from verify import meaning
from verify.effort import Effort
from verify.errors import Differs
from verify.joined import joined
from verify.statement import Channel, Statement, check_domains, parse
from verify.transducer import Ambiguous, Sets, Transducer

MANY = 100_000


def stated(machine: Automaton, construction: str, length: int) -> Statement:
    options = Options(FLOAT32)
    program = optimise(plan.construct(construction, machine, length), options)
    layout, features = arrange(program, options)
    entry = describe(layout, lower(layout, features, strict=False))
    return parse(entry, len(machine.letters), length)


@cache
def recogniser() -> tuple[Statement, Program]:
    machine = observe(zoo.machine("Dyck2,2"), "balance")
    program = optimise(plan.construct("dyck", machine, 8), Options(FLOAT32))
    return stated(machine, "dyck", 8), program


def transducer(statement: Statement) -> Transducer:
    return Transducer.of(statement, check_domains(statement))


@given(st.sets(st.integers(0, 70), min_size=1))
def test_cells_stand_for_sets(values: set[int]) -> None:
    sets, cell = Sets(Effort()), min(values)
    for value in values:
        cell = sets.both(cell, value)
    assert sets.values(cell) == values
    assert (cell < 0) == (len(values) > 1)
    assert sets.both(cell, max(values)) == sets.cell(frozenset(values)) == cell


@pytest.mark.parametrize(
    ("name", "construction", "length"),
    [("Dyck2,2", "dyck", 7), ("Dyck3,1", "dyck", 9), ("Grid4", "gridworld", 9)],
)
def test_readings_are_those_of_exploration(
    name: str, construction: str, length: int
) -> None:
    machine = zoo.machine(name)
    own = np.arange(len(machine.states))
    found = transducer(stated(machine, construction, length))
    explored = meaning._follow(found, machine, own)
    together = joined(found, machine, own, MANY)
    assert together is not None
    assert together[0] == explored.readings
    assert together[1] <= explored.pairs


@pytest.mark.parametrize("construction", ["dyck", "gridworld"])
def test_every_wrong_machine_within_reach_is_refused(construction: str) -> None:
    machine = zoo.machine({"dyck": "Dyck2,2", "gridworld": "Grid4"}[construction])
    statement = stated(machine, construction, 6)
    found, own = transducer(statement), np.arange(len(machine.states))
    for letter, state in np.ndindex(machine.transitions.shape):
        table = machine.transitions.copy()
        table[letter, state] = (table[letter, state] + 1) % len(own)
        other = Semiautomaton(table, machine.letters, machine.states)
        wrong = replace(machine, semiautomaton=other)
        assert joined(found, wrong, own, MANY) is None
        with pytest.raises(Differs):
            meaning.prove(statement, wrong, check_domains(statement), own)


def test_wrong_outputs_are_refused() -> None:
    machine = observe(zoo.machine("Dyck3,2"), "balance")
    assert machine.output is not None
    found = transducer(stated(machine, "dyck", 6))
    assert joined(found, machine, machine.output.table, MANY) is not None
    for state in range(1, len(machine.states)):
        table = machine.output.table.copy()
        table[state] = (table[state] + 1) % 3
        assert joined(found, machine, table, MANY) is None


def test_a_cell_that_is_read_is_settled_first() -> None:
    machine = zoo.machine("Dyck2,2")
    found = transducer(stated(machine, "dyck", 6))
    start = found.advance((), len(machine.letters))
    after = found.advance(start, machine.letters.index("("))
    (latest,) = {found.slots[c.name] for c in found.needed if c.op == "latest-match"}
    unsure = list(after)
    unsure[latest[0] + 2] = found.sets.cell(frozenset([0, 1]))
    with pytest.raises(Ambiguous) as caught:
        found.advance(tuple(unsure), machine.letters.index(")"))
    assert caught.value.cell == latest[0] + 2


@given(st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_sums_read_as_differences_are_lowered_together(word: list[int]) -> None:
    statement, program = recogniser()
    found = transducer(statement)
    assert found.twin == {"downs": "ups"}
    memory, values = found.advance((), 4), interpret(program, [word])
    outputs = [n.removesuffix(".one-hot") for n in statement.outputs]
    for t, letter in enumerate(word, start=1):
        memory = found.advance(memory, letter)
        assert memory[: len(outputs)] == tuple(int(values[n][0, t]) for n in outputs)
        ups, downs = (memory[found.slots[n][0]] for n in ("ups", "downs"))
        assert min(ups, downs) == 0


def test_sums_that_are_told_apart_are_not_lowered() -> None:
    statement = stated(observe(zoo.machine("Dyck2,2"), "balance"), "dyck", 6)
    for name, channel in statement.channels.items():
        if not {"ups", "downs"} <= set(channel.inputs):
            continue
        row = (3, 3, *([0] * (len(channel.inputs) - 2)))
        other = {**channel.table, row: channel.table[row] + 1}
        changed: dict[str, Channel] = {
            **statement.channels,
            name: replace(channel, table=other),
        }
        spoilt = replace(statement, channels=changed)
        assert not Transducer.of(spoilt, check_domains(statement)).twin


def test_stacks_of_depth_ten_are_proved_at_once() -> None:
    machine = observe(zoo.machine("Dyck10,2"), "balance")
    assert machine.output is not None
    found = transducer(stated(machine, "dyck", 20))
    together = joined(found, machine, machine.output.table, MANY)
    assert together is not None
    assert together[1] < 2 * len(machine.states)


def test_too_many_memories_are_given_up() -> None:
    machine = zoo.machine("Dyck2,2")
    found = transducer(stated(machine, "dyck", 6))
    assert joined(found, machine, np.arange(len(machine.states)), 3) is None


@pytest.mark.parametrize("observation", ["balance", "stack-top"])
def test_recognisers_are_right_on_all_short_words(observation: str) -> None:
    machine = observe(zoo.machine("Dyck2,2"), observation)
    assert machine.output is not None
    words = np.array(list(product(range(4), repeat=5)))
    program = plan.construct("dyck", machine, 5)
    values = interpret(program, words)
    rows = np.stack([values[n][:, 1:] for n in program.outputs], axis=-1)
    said = [[program.decode[tuple(v)] for v in row] for row in rows.tolist()]
    trace = machine.semiautomaton.trace(words, machine.start)
    assert np.array_equal(said, machine.output.table[trace])
