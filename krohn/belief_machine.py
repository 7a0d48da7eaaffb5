"""The machine of the beliefs that a hidden Markov model can hold, if they are finite."""

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.semiautomaton import Semiautomaton
from krohn.sources.hidden_markov import HiddenMarkovModel
from krohn.sources.hidden_markov.beliefs import Beliefs, reachable

IMPOSSIBLE = "impossible"
"""The state to which words lead that the model never says."""


def belief_machine(model: HiddenMarkovModel) -> Automaton:
    """The machine of reachable beliefs.

    Raises:
        MachineError: If they are not found to be finitely many.
    """
    beliefs = reachable(model)
    if beliefs is None:
        raise MachineError(
            f"{model.name} is a hidden Markov model and is not known to have finitely "
            "many beliefs, so it cannot serve as a machine; see krohn explain"
        )
    return machine_of(model, beliefs)


def machine_of(model: HiddenMarkovModel, beliefs: Beliefs) -> Automaton:
    """The machine of beliefs that were found; one more state if words are impossible.

    A belief that is certain has the name of its state; the others are numbered.
    """
    size = len(beliefs.weights)
    table, names = beliefs.following, _names(model, beliefs)
    if (table < 0).any():
        table = np.where(table < 0, size, table)
        table = np.pad(table, ((0, 0), (0, 1)), constant_values=size)
        names = (*names, IMPOSSIBLE)
    if len(set(names)) < len(names):
        names = tuple(map(str, range(len(names))))
    remark = (
        f"{model.name} is a hidden Markov model; this is the machine of its beliefs"
    )
    moves = Semiautomaton(table, model.letters, names)
    return Automaton(moves, start=0, name=model.name, remark=remark)


def _names(model: HiddenMarkovModel, beliefs: Beliefs) -> tuple[str, ...]:
    found = []
    for number, weights in enumerate(beliefs.weights):
        likely = [name for name, w in zip(model.states, weights, strict=True) if w]
        found.append(likely[0] if len(likely) == 1 else f"belief{number}")
    return tuple(found)
