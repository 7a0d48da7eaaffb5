"""Machines that keep a stack of open brackets, and the law of the next bracket."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from krohn.architectures.generator.statement import Generator
from krohn.program.domains import IntArray
from krohn.program.errors import Refused, demand
from krohn.verify.checker.model_file import Machine, Model

NO_STACK = "the machine is no empty stack of brackets"


class Brackets(NamedTuple):
    """A machine whose states are stacks of open brackets and one absorbing error.

    The bracket of kind k that is opened at level l (which leads to depth l) and closed
    again (which leads to depth l − 1) is the *pair* k·depth + l − 1. A *token* is a
    letter with the depth it leads to: token p opens pair p, token pairs + p closes it,
    and the last token is the start.

    Attributes:
        depth: The most brackets that can be open.
        opens: ``(kinds,)``: the letter that opens each kind.
        closes: ``(kinds,)``: the letter that closes it.
    """

    depth: int
    opens: IntArray
    closes: IntArray

    @property
    def kinds(self) -> int:
        """How many kinds of brackets there are."""
        return len(self.opens)

    @property
    def pairs(self) -> int:
        """Kinds times levels."""
        return self.kinds * self.depth

    @property
    def letters(self) -> IntArray:
        """``(tokens - 1,)``: the letter of each token but the start."""
        return np.concatenate([self.opens, self.closes]).repeat(self.depth)

    @property
    def depths(self) -> IntArray:
        """``(tokens,)``: the depth that each token leads to."""
        level = np.arange(self.pairs) % self.depth
        return np.concatenate([level + 1, level, [0]])


class Claim(NamedTuple):
    """The claim of a generator's file: its outputs are the law of the next letter.

    Attributes:
        brackets: The stacks.
        opening: The probability of opening a bracket at depths 1..D−1.
        length: T.
        tolerance: How far an output may be from the law.
    """

    brackets: Brackets
    opening: Fraction
    length: int
    tolerance: Fraction

    def law(self, depth: int, top: int) -> list[Fraction]:
        """The probability of each letter, beneath a stack with a kind of top bracket."""
        stack = self.brackets
        opens = {0: Fraction(1), stack.depth: Fraction(0)}.get(depth, self.opening)
        probabilities = [Fraction(0)] * (2 * stack.kinds)
        for letter in stack.opens:
            probabilities[letter] = opens / stack.kinds
        if depth:
            probabilities[stack.closes[top]] = 1 - opens
        return probabilities


def read_claim(model: Model, machine: Machine) -> Claim:
    """The claim of a file about a machine.

    Raises:
        Refused: If the machine is no empty stack, or the claim does not fit the file.
    """
    stack, shape, claim = brackets(machine), model.network(Generator), model.claim
    letters = 2 * stack.kinds
    demand(shape.vocabulary == shape.outputs == letters, "other letters")
    moves = [1 if a in stack.opens else -1 for a in range(letters)]
    demand(shape.moves == tuple(moves), "other letters open than in the machine")
    demand(claim.length is not None, "the file claims no length")
    demand(claim.error < 1, "the file claims no tolerance")
    try:
        opening = Fraction(*map(int, claim.opening.split("/")))
    except (TypeError, ValueError, ZeroDivisionError):
        raise Refused("the file claims no probability of opening") from None
    plain = str(opening) == claim.opening and 0 < opening < 1
    demand(plain, "the probability of opening is no fraction between 0 and 1")
    return Claim(stack, opening, claim.length or 0, Fraction(claim.error))


def brackets(machine: Machine) -> Brackets:
    """The stack machine that a machine is.

    Raises:
        Refused: If it is none, or does not start with the empty stack.
    """
    table, start = machine.transitions, machine.start
    states = np.arange(table.shape[1])
    fixed = np.flatnonzero((table == states).all(axis=0))
    demand(len(fixed) == 1, NO_STACK)
    error = fixed[0]
    opens, closing = (np.flatnonzero((table[:, start] == error) == c) for c in (0, 1))
    back = table[closing][:, table[opens, start]] == start
    demand(np.append(back.sum(axis=0), back.sum(axis=1)) == 1, NO_STACK)
    closes = closing[back.argmax(axis=0)]
    below, top = np.full_like(states, error), np.full_like(states, -1)
    layer, visited, depth = np.array([start]), np.isin(states, [start, error]), 0
    while (table[opens][:, layer] != error).any():
        depth, after = depth + 1, table[opens][:, layer]
        demand(~visited[after] & (len(np.unique(after)) == after.size), NO_STACK)
        visited[after], below[after] = True, layer
        top[after], layer = np.arange(len(opens))[:, None], after.ravel()
    demand(visited, NO_STACK)
    for kind, letter in enumerate(closes):
        demand(table[letter] == np.where(top == kind, below, error), NO_STACK)
    return Brackets(depth, opens, closes)
