"""What is soon seen of a machine that a construction does not serve.

These checks refuse what the construction would refuse, before its module is imported.
"""

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.graphs import components_of_steps
from krohn.algebra.minimisation import reachable
from krohn.algebra.structure import (
    LayeredParity,
    ParityNode,
    as_layered_parity,
    as_parity_tree,
)
from krohn.compiler import CompileError
from krohn.compiler.cost import check_written


def check_permutes(machine: Automaton, _: int = 0) -> None:
    """Refuse machines whose letters do not permute the reachable states.

    Raises:
        CompileError: If a letter does not.
    """
    rows = reachable(machine).transitions
    if not (np.sort(rows, axis=1) == np.arange(rows.shape[1])).all():
        raise CompileError(
            f"{machine.name} has a letter that is no permutation of its states; "
            "use permutation-reset or krohn-rhodes"
        )


def check_departs(machine: Automaton, _: int = 0) -> None:
    """Refuse machines in which every state can be entered again.

    Raises:
        CompileError: If it is one.
    """
    if not components_of_steps(reachable(machine).transitions).any():
        raise CompileError(f"no run of {machine.name} leaves a state for good")


def check_one_error(machine: Automaton, _: int = 0) -> None:
    """Refuse machines without one absorbing state, which a stack of bounded depth has.

    Raises:
        CompileError: If no state, or more than one, is kept by all letters.
    """
    table = machine.transitions
    if (table == np.arange(table.shape[1])).all(axis=0).sum() != 1:
        raise no_stack(machine)


def no_stack(machine: Automaton) -> CompileError:
    """The error for a machine that is no stack of bounded depth."""
    return CompileError(
        f"{machine.name} is no stack of bounded depth: letters must open and close "
        "brackets, and illegal letters must lead to one absorbing error"
    )


def check_two_kept(machine: Automaton, _: int = 0) -> None:
    """Refuse machines of which neither the last nor the first letters decide the state.

    A letter that keeps two states does not let the last letters tell them apart. It also
    keeps a run in either of them for as many letters as there are, and if another letter
    leaves one of the two, the first letters do not decide.

    Raises:
        CompileError: If a letter does so.
    """
    part = reachable(machine)
    kept = part.transitions == np.arange(len(part.states))
    several = kept[kept.sum(axis=1) > 1]
    if (several & ~kept.all(axis=0)).any():
        raise undecided(machine)


def undecided(machine: Automaton) -> CompileError:
    """The error for a machine whose state neither the last nor the first letters decide."""
    return CompileError(
        "neither the last few letters nor the first few decide the state of "
        f"{machine.name}"
    )


def layered_parity(machine: Automaton, length: int) -> LayeredParity:
    """The parity of letters at given positions that a machine is, for words up to T.

    Raises:
        CompileError: If words of some length reach other than one state or two that all
            letters keep apart.
    """
    check_written(length)
    layers = as_layered_parity(machine, length)
    if layers is None:
        raise CompileError(
            f"{machine.name} is no parity of positions: words of one length must "
            "reach at most two states, and each letter must keep or exchange these "
            "two"
        )
    return layers


MOST_NODES = 32


def tree_of_parities(machine: Automaton, length: int) -> list[ParityNode]:
    """The tree of parities that a machine is, for words up to T.

    Raises:
        CompileError: If the machine is no tree of two parities or more, or a large one.
    """
    check_written(length)
    tree = as_parity_tree(machine, length, MOST_NODES)
    if tree is None or len(tree) == 1:
        raise CompileError(
            f"{machine.name} is no binary tree of 2 to {MOST_NODES} parity checks, each "
            "of which begins where the one above it ends"
        )
    return tree
