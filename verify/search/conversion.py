"""Our model files and automata as the types of the checker."""

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray
from krohn.network.modelfile import ModelFile, version_of
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.model_file import Machine, Model


def model_of(file: ModelFile) -> Model:
    """A model file that was read."""
    header = {"version": version_of(file.header), **file.header}
    return Model(FORMATS[file.precision.name], file.tensors, header)


def machine_of(machine: Automaton, shows: IntArray | None = None) -> Machine:
    """A machine with the logit that must be the largest in each state, or its own."""
    each = np.arange(len(machine.states)) if shows is None else shows
    return Machine(machine.start, machine.transitions, each)
