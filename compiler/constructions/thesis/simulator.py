"""Simulators: parts of Programs that multiply up group elements (Definition 9).

A simulator gives every element a code, a tuple of small numbers, zeros for the identity.
It reads channels with the code of each letter and makes channels with the code of their
product. Codes are zeros at BOS, so that every channel of a simulator is 0 there. The
thesis multiplies from the left; here words act on the right, as everywhere.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import product

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.budget import BudgetExceeded
from krohn.algebra.decomposition.group_part import derived_chain
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.permutations import GroupTable, listed_keys
from krohn.algebra.minimisation import reachable
from krohn.compiler import CompileError
from krohn.compiler.constructions.first_looks import check_permutes
from krohn.compiler.machine_programs import machine_program, of_letter, of_sum
from krohn.program import Map, Operation, PrefixSum, Program, Row, Token, table

MOST_ELEMENTS = 200


@dataclass(frozen=True)
class Wires:
    """The channels of a Program that is being built.

    Attributes:
        length: T.
        operations: The channels so far, the token first.
    """

    length: int
    operations: dict[str, Operation] = field(default_factory=lambda: {"token": Token()})

    def add(self, name: str, operation: Operation) -> str:
        """One more channel; its name."""
        self.operations[name] = operation
        return name


@dataclass(frozen=True, eq=False)
class Simulator(ABC):
    """How a group is simulated.

    Attributes:
        codes: ``(m, rep)``: the code of each element as a letter.
        states: ``(m, rep)``: the code of each product; mostly the same one.
        telling: The places of the code of a product that tell it from all others.
    """

    codes: IntArray
    states: IntArray
    telling: tuple[int, ...]

    @property
    @abstractmethod
    def stages(self) -> int:
        """How many layers it has in the thesis, look-ups included."""

    @abstractmethod
    def run(self, wires: Wires, prefix: str, letters: Sequence[str]) -> tuple[str, ...]:
        """Channels with the code of the product of all letters so far.

        Args:
            wires: The channels, to which new ones are added.
            prefix: The beginning of their names.
            letters: Channels with the code of the letter, one for each place.
        """

    def elements_by_code(self) -> dict[Row, int]:
        """The element of each tuple of telling places."""
        rows = self.states[:, list(self.telling)].tolist()
        return {tuple(row): element for element, row in enumerate(rows)}


@dataclass(frozen=True, eq=False)
class Abelian(Simulator):
    """Counters side by side: one layer for every abelian group (Lemmas 15, 17).

    Attributes:
        moduli: The order of each cyclic factor.
    """

    moduli: tuple[int, ...]

    @property
    def stages(self) -> int:
        """One uniform head."""
        return 1

    def run(self, wires: Wires, prefix: str, letters: Sequence[str]) -> tuple[str, ...]:
        """Sums modulo the orders (the start is added by who reads them, E14)."""

        def count(i: int, letter: str, n: int) -> str:
            sums = wires.add(f"{prefix}sum{i}", PrefixSum(letter))
            reduced = of_sum(sums, (n - 1) * wires.length, lambda s: s % n)
            return wires.add(f"{prefix}count{i}", reduced)

        pairs = zip(letters, self.moduli, strict=True)
        return tuple(count(i, *pair) for i, pair in enumerate(pairs))


@dataclass(frozen=True, eq=False)
class SideBySide(Simulator):
    """A direct product: both factors in the same layers (Lemma 17).

    Attributes:
        first: The simulator of one factor.
        second: The simulator of the other one.
    """

    first: Simulator
    second: Simulator

    @property
    def stages(self) -> int:
        """The number of layers of the deeper factor."""
        return max(self.first.stages, self.second.stages)

    def run(self, wires: Wires, prefix: str, letters: Sequence[str]) -> tuple[str, ...]:
        """The channels of both."""
        places = self.first.codes.shape[1]
        left = self.first.run(wires, f"{prefix}l.", letters[:places])
        return left + self.second.run(wires, f"{prefix}r.", letters[places:])


def abelian(table: GroupTable) -> Abelian:
    """The simulator of an abelian group as a product of cyclic ones."""
    powers = [step.transversal for step in derived_chain(table)]
    exponents = np.array(list(product(*(range(len(p)) for p in powers))))
    exponents = exponents.reshape(table.order, len(powers))
    chosen = [p[e] for p, e in zip(powers, exponents.T, strict=True)]
    elements = reduce(
        lambda x, y: table.product[x, y], chosen, np.zeros(table.order, dtype=np.int64)
    )
    codes = exponents[np.argsort(elements)]
    moduli = tuple(len(p) for p in powers)
    return Abelian(codes, codes, tuple(range(len(moduli))), moduli)


def side_by_side(
    first: tuple[Simulator, IntArray], second: tuple[Simulator, IntArray]
) -> SideBySide:
    """The simulator of a direct product.

    Args:
        first: The simulator of one factor, and ``(m,)`` the part of each element in it.
        second: The same for the other factor.
    """
    (left, x), (right, y) = first, second
    places = left.codes.shape[1]
    return SideBySide(
        np.hstack([left.codes[x], right.codes[y]]),
        np.hstack([left.states[x], right.states[y]]),
        (*left.telling, *(places + i for i in right.telling)),
        left,
        right,
    )


def group_of(machine: Automaton) -> PermutationGroup:
    """The group that the letters of a machine generate, on its reachable states.

    Raises:
        CompileError: If a letter is no permutation of them, or the group is not
            solvable or too large.
    """
    check_permutes(machine)
    rows = reachable(machine).transitions
    # A group that reaches all states has at least as many elements; listing it is slow.
    if rows.shape[1] > MOST_ELEMENTS:
        raise _too_large(machine.name)
    return solvable(PermutationGroup(rows), machine.name)


def _too_large(what: str) -> CompileError:
    return CompileError(
        f"{what} has a group of more than {MOST_ELEMENTS} elements; use the scan"
    )


def solvable(group: PermutationGroup, what: str) -> PermutationGroup:
    """The group, if it is small and solvable.

    Raises:
        CompileError: If it is not; there is no shortcut of constant depth (Theorem 13).
    """
    try:
        small = group.order <= MOST_ELEMENTS
    except BudgetExceeded:
        small = False
    if not small:
        raise _too_large(what)
    if not group.is_solvable:
        raise CompileError(f"{what} has a group that is not solvable; use the scan")
    return group


def numbers(group: PermutationGroup, rows: IntArray) -> IntArray:
    """The number of each permutation in a listed group, ``(len(rows),)``."""
    place = {key: i for i, key in enumerate(listed_keys(group.elements()))}
    return np.array([place[key] for key in listed_keys(rows)], dtype=np.int64)


def group_program(machine: Automaton, length: int, simulator: Simulator) -> Program:
    """The Program of a machine whose letters permute, from a simulator of their group.

    Args:
        machine: The machine.
        length: T.
        simulator: The simulator of ``group_of(machine)``.

    Raises:
        CompileError: If no letter moves any state.
    """
    if not simulator.telling:
        raise CompileError(f"no letter of {machine.name} does anything; use memory")
    alive = reachable(machine)
    group, wires = group_of(machine), Wires(length)
    spelled = simulator.codes[numbers(group, alive.transitions)]
    letters = []
    for i, column in enumerate(spelled.T.tolist()):
        letters.append(wires.add(f"letter{i}", of_letter(column, 0)))
    codes = simulator.run(wires, "", letters)
    outputs = tuple(codes[i] for i in simulator.telling)
    after = group.elements()[:, alive.start]
    states: dict[Row, int] = {
        c: int(after[g]) for c, g in simulator.elements_by_code().items()
    }
    if len(alive.states) < group.order:  # several elements lead to one state
        outputs = (wires.add("state", Map(table(states), outputs)),)
        states = {(q,): q for q in range(len(alive.states))}
    names = [machine.states.index(name) for name in alive.states]
    decode = {code: names[q] for code, q in states.items()}
    return machine_program(machine, length, wires.operations, outputs, decode)
