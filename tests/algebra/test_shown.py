"""Outputs on transitions become outputs on states, word by word the same."""

from dataclasses import replace

import numpy as np
import pytest
from bestiary import machines
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.algebra.minimisation import moore, output_classes


@given(machines(), st.integers(1, 3), st.integers(0, 1000))
def test_a_moore_machine_shows_what_the_mealy_machine_showed(
    structure: Semiautomaton, outputs: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(outputs, size=structure.transitions.shape)
    names = tuple(f"o{i}" for i in range(outputs))
    mealy = Automaton(structure, output=Output("transitions", table, names))
    word = rng.choice(np.array(structure.letters), size=12).tolist()
    assert moore(mealy).run(word) == mealy.run(word)


def test_outputs_on_states_stay() -> None:
    machine = replace(zoo.machine("C2"), output=Output("states", np.eye(2)[0], "ab"))
    assert moore(machine) is machine
    assert output_classes(machine, "outputs").of.tolist() == [1, 0]
    assert output_classes(machine, "states").names == ("0", "1")


def test_machines_without_outputs_say_so() -> None:
    with pytest.raises(MachineError, match="choose an observation"):
        moore(zoo.machine("C2"))
    with pytest.raises(MachineError, match="shows no outputs"):
        output_classes(zoo.machine("C2"), "outputs")
