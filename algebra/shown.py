"""The output classes of a machine, which a network says; Mealy machines as Moore ones."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from krohn.algebra.automaton import Automaton, Output
from krohn.algebra.errors import MachineError
from krohn.algebra.minimisation import reachable
from krohn.algebra.semiautomaton import IntArray, Semiautomaton

Shows = Literal["states", "outputs"]
SHOWS: tuple[Shows, ...] = get_args(Shows)


@dataclass(frozen=True)
class Shown:
    """The classes between which a network decides.

    Attributes:
        names: The name of each class.
        of: ``(states,)``: the class of each state.
    """

    names: tuple[str, ...]
    of: IntArray


def output_classes(machine: Automaton, shows: Shows) -> Shown:
    """The states of a machine as classes, or its outputs on states.

    Raises:
        MachineError: If outputs are wanted of a machine that has none on its states.
    """
    if shows == "states":
        return Shown(machine.states, np.arange(len(machine.states)))
    if machine.output is None or machine.output.on != "states":
        raise MachineError(f"{machine.name} shows no outputs on its states")
    return Shown(machine.output.names, machine.output.table)


def moore(machine: Automaton) -> Automaton:
    """The machine with its outputs on states: a state holds the last output.

    Outputs on transitions split every state into one for each output with which it is
    entered. Before the first letter nothing was shown; the start state gets the first
    output, of which nothing is claimed.

    Raises:
        MachineError: If the machine has no outputs.
    """
    if machine.output is None:
        raise MachineError(
            f"{machine.name} has no outputs of its own; choose an observation"
        )
    if machine.output.on == "states":
        return machine
    names, states = machine.output.names, len(machine.states)
    entered = machine.transitions * len(names) + machine.output.table
    table = np.repeat(entered, len(names), axis=1)
    both = tuple(f"{q}/{o}" for q in machine.states for o in names)
    return reachable(
        replace(
            machine,
            semiautomaton=Semiautomaton(table, machine.letters, both),
            start=machine.start * len(names),
            output=Output("states", np.tile(np.arange(len(names)), states), names),
            action=None,
        )
    )
