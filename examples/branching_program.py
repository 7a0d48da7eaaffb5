"""Barrington's theorem as a program: formulas become words over five points.

A formula is computed by a product of permutations of five points, one for each
instruction, which is chosen by one variable. The product is the identity if the formula
is false, and a 5-cycle if it is true (Barrington 1989; thesis, Theorem 13). So a
machine that composes permutations evaluates every formula, which is why the group A5 is
as hard as all of NC1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from formula import (
    And,
    Constant,
    Formula,
    FormulaError,
    Not,
    Variable,
    Xor,
    parse,
    value_of,
)

from krohn.algebra.automaton import Automaton, IntArray, Output, Semiautomaton
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.groups.permutations import commutator, conjugate, inverse, product
from krohn.algebra.zoo.machines import one_line

MOST_INSTRUCTIONS = 1_000_000

Permutation = tuple[int, ...]

IDENTITY: Permutation = (0, 1, 2, 3, 4)
CYCLE: Permutation = (1, 2, 3, 4, 0)


@dataclass(frozen=True)
class Instruction:
    """One factor of the product.

    Attributes:
        variable: Which input chooses; None if both factors are the same.
        if_true: The permutation ``t`` with t[x] = x·t that is taken when it is true.
        if_false: The one that is taken when it is false.
    """

    variable: str | None
    if_true: Permutation
    if_false: Permutation


@dataclass(frozen=True)
class BranchingProgram:
    """A word of instructions whose product tells a formula's value.

    Attributes:
        formula: What is computed.
        instructions: Read from left to right.
        accept: The product where the formula is true; it is the identity elsewhere.
    """

    formula: Formula
    instructions: tuple[Instruction, ...]
    accept: Permutation = CYCLE

    def __len__(self) -> int:
        return len(self.instructions)


def compile_formula(formula: Formula | str) -> BranchingProgram:
    """The program of a formula: at most 4^depth instructions (see `formula.depth`).

    With A and B such that A⁻¹B⁻¹AB = c, programs for left with A and right with B give
    one for their conjunction with c, as the commutator of the two: if either is the
    identity then the commutator is. A negation multiplies the last instruction by c
    after computing its argument with c⁻¹. Any 5-cycle serves as c, since they all are
    conjugate in S5.

    Raises:
        FormulaError: If the text is no formula, or there would be more than a million
            instructions.
    """
    tree = parse(formula) if isinstance(formula, str) else formula
    if _length(tree) > MOST_INSTRUCTIONS:
        raise FormulaError(
            f"the formula needs {_length(tree):,} instructions, more than "
            f"{MOST_INSTRUCTIONS:,}; balance it, so that fewer gates are nested"
        )
    return BranchingProgram(tree, tuple(_compiled(tree, CYCLE)))


def choose(
    program: BranchingProgram, assignment: Mapping[str, bool]
) -> tuple[Permutation, ...]:
    """The permutations that an assignment chooses, one for each instruction.

    Raises:
        FormulaError: If the assignment lacks an input.
    """
    return tuple(
        step.if_true
        if step.variable is None or value_of(step.variable, assignment)
        else step.if_false
        for step in program.instructions
    )


def word(program: BranchingProgram, assignment: Mapping[str, bool]) -> tuple[str, ...]:
    """The letters of `machine` that an assignment chooses.

    Raises:
        FormulaError: If the assignment lacks an input.
    """
    return tuple(_letter(p) for p in choose(program, assignment))


def machine(program: BranchingProgram) -> Automaton:
    """The machine whose letters are the permutations that occur in a program.

    Its states are the elements of the group that these generate, composed on five
    points; it starts in the identity and shows ``"false"`` there, ``"true"`` at the
    accepted 5-cycle, and ``"?"`` elsewhere. `word` gives its input.
    """
    used = {p for step in program.instructions for p in (step.if_true, step.if_false)}
    letters = np.array(sorted(used or {IDENTITY}), dtype=np.int64)
    elements = PermutationGroup(letters).elements()
    index = {tuple(row): i for i, row in enumerate(elements.tolist())}
    after = [
        [index[tuple(row)] for row in letter[elements].tolist()] for letter in letters
    ]
    shown = np.full(len(elements), 2)
    shown[index.get(program.accept, 0)] = 1
    shown[0] = 0
    return Automaton(
        Semiautomaton(
            np.array(after),
            tuple(_letter(tuple(row)) for row in letters.tolist()),
            tuple(map(one_line, elements)),
        ),
        output=Output("states", shown, ("false", "true", "?")),
        name="formula",
        action=tuple(tuple(row) for row in letters.tolist()),
    )


def _letter(permutation: Permutation) -> str:
    return one_line(np.array(permutation))


def _as_ands(formula: Xor) -> Formula:
    both, neither = (
        And(formula.left, formula.right),
        And(Not(formula.left), Not(formula.right)),
    )
    return And(Not(both), Not(neither))


def _length(formula: Formula) -> int:
    """How many instructions `_compiled` gives."""
    match formula:
        case Variable() | Constant():
            return 1
        case Not(argument):
            return _length(argument)
        case And(left, right):
            return 2 * (_length(left) + _length(right))
        case Xor(left, right):
            return 8 * (_length(left) + _length(right))


def _compiled(formula: Formula, cycle: Permutation) -> list[Instruction]:
    """Instructions whose product is ``cycle`` if true and the identity if false."""
    match formula:
        case Variable(name):
            return [Instruction(name, cycle, IDENTITY)]
        case Constant(value):
            fixed = cycle if value else IDENTITY
            return [Instruction(None, fixed, fixed)]
        case Not(argument):
            return _followed(_compiled(argument, _inverse(cycle)), cycle)
        case And(left, right):
            a, b = _commuting_to(cycle)
            steps = [(left, _inverse(a)), (right, _inverse(b)), (left, a), (right, b)]
            return [step for part, c in steps for step in _compiled(part, c)]
        case Xor():
            return _compiled(_as_ands(formula), cycle)


def _followed(steps: list[Instruction], by: Permutation) -> list[Instruction]:
    last = steps[-1]
    changed = replace(
        last, if_true=_product(last.if_true, by), if_false=_product(last.if_false, by)
    )
    return [*steps[:-1], changed]


@lru_cache(maxsize=256)
def _commuting_to(cycle: Permutation) -> tuple[Permutation, Permutation]:
    """Two 5-cycles A and B with A⁻¹B⁻¹AB equal to a given 5-cycle."""
    first, second = np.array(CYCLE), np.array([2, 0, 4, 1, 3])
    made = commutator(first, second)
    by = _conjugator(made, np.array(cycle))
    return _as_tuple(conjugate(first, by)), _as_tuple(conjugate(second, by))


def _conjugator(source: IntArray, target: IntArray) -> IntArray:
    """A permutation g with g⁻¹·source·g = target, both 5-cycles."""
    here, there = [0], [0]
    for _ in range(4):
        here.append(int(source[here[-1]]))
        there.append(int(target[there[-1]]))
    found = np.empty(5, dtype=np.int64)
    found[here] = there
    return found


def _inverse(permutation: Permutation) -> Permutation:
    return _as_tuple(inverse(np.array(permutation)))


def _product(first: Permutation, then: Permutation) -> Permutation:
    return _as_tuple(product(np.array(first), np.array(then)))


def _as_tuple(row: IntArray) -> Permutation:
    return tuple(row.tolist())
