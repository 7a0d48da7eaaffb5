"""Machines and driven chains as hidden Markov models whose letters are chosen."""

from typing import TYPE_CHECKING, Any

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.compiler import CompileError
from krohn.kinds.hidden_markov.commands_facts import facts
from krohn.kinds.hidden_markov.source import HiddenMarkovModel, drive_system
from krohn.kinds.linear_systems.commands import letter_matrices
from krohn.kinds.linear_systems.source import LinearSystem
from krohn.program.domains import LARGEST_MATRIX

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def as_model(machine: Automaton) -> HiddenMarkovModel:
    """A machine as a hidden Markov model whose letters are chosen: beliefs are certain.

    Raises:
        CompileError: If it has more states than a matrix has rows.
    """
    states = len(machine.states)
    if states > LARGEST_MATRIX:
        raise CompileError(
            f"a hidden Markov model has at most {LARGEST_MATRIX} states; "
            f"{machine.name} has {states}"
        )
    return HiddenMarkovModel(
        machine.name,
        machine.states,
        machine.letters,
        letter_matrices(machine),
        np.eye(states)[machine.start],
        tuple(range(len(machine.letters))),
    )


def facts_of_chain(system: LinearSystem) -> dict[str, Any]:
    """The facts of a linear system as a driven Markov chain.

    Raises:
        Refused: If its letters are not stochastic.
    """
    return facts(drive_system(system))


def draw_chain(system: LinearSystem) -> "Figure":
    """A picture of its states.

    Raises:
        Refused: If its letters are not stochastic.
    """
    from krohn.kinds.hidden_markov.draw import draw_hidden_markov

    return draw_hidden_markov(drive_system(system))
