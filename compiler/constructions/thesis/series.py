"""Solvable groups up a composition series (Theorem 16).

Every factor is cyclic of prime order, and every step a wreath product (Lemma 19), of which
only the codes of the group's own elements occur. With ℓ factors that is 3ℓ − 2 layers,
ℓ at most log2 of the order (printed: of T, E19).
"""

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.groups.extension import Extension
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.series import maximal_normal_subgroup
from krohn.compiler.constructions.thesis.simulator import (
    Simulator,
    abelian,
    group_of,
    group_program,
    numbers,
)
from krohn.compiler.constructions.thesis.wreath import over_normal
from krohn.program import Program

NAME = "series"


def series(machine: Automaton, length: int) -> Program:
    """A wreath product for each composition factor but the lowest.

    Raises:
        CompileError: If a letter is no permutation, or the group is not solvable.
    """
    return group_program(machine, length, simulator(group_of(machine)))


def simulator(group: PermutationGroup) -> Simulator:
    """The simulator of a solvable group."""
    normal = None if group.is_trivial else maximal_normal_subgroup(group)
    if normal is None or normal.is_trivial:
        return abelian(group.table)
    over = Extension(group, np.sort(numbers(group, normal.elements())))
    return over_normal(over, simulator(over.normal))
