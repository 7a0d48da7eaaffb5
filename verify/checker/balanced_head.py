"""What a balanced head leaves of a prefix: the brackets that are open, up to a scale.

A prefix is a start, open brackets and matched pairs. For a query that closes a bracket
and leaves another one open, the two tokens of a pair cancel. For other queries nothing is
claimed but that LayerNorm returns a vector of length at most 1 (docs/dyck-generator.md,
section 3).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import INFLATION
from krohn.verify.checker.brackets import Claim
from krohn.verify.checker.layer_norm import Head
from krohn.verify.checker.model_file import FloatArray

# Entries of a vector of length 1, with room for what LayerNorm rounds.
ANY = 1.125
# Two exponentials of this checker, two products and a sum, relative to their terms.
OWN = 2.0**-46


class Case(NamedTuple):
    """A query with all the stacks that it can leave with one depth and top bracket.

    Attributes:
        token: The query.
        depth: How many brackets are open.
        top: The kind of the innermost one.
        centre: ``(d,)``: where LN_C is.
        radius: ``(d,)``: how far it can be from there.
    """

    token: int
    depth: int
    top: int
    centre: FloatArray
    radius: FloatArray


def all_cases(head: Head, claim: Claim) -> tuple[list[Case], dict[str, Any]]:
    """Cases that hold every prefix, and what they rest on.

    Raises:
        Refused: If brackets are not told apart, or do not cancel well enough.
    """
    opening = head.values[: claim.brackets.pairs] != 0
    apart = opening.any(axis=1).all() and (opening.sum(axis=0) <= 1).all()
    demand(apart, "the values of two opening brackets overlap, or one has none")
    demand(head.values[-1] == 0, "the start is not silent")
    left = [_Left.of(head, claim, query) for query in _queries(claim)]
    closing = (case for one in left for case in one.cases(head, claim))
    residual = max((x.residual.max() for x in left), default=0.0)
    return [*_free(head, claim), *closing], {
        "identities": len(left) * claim.brackets.pairs,
        "residual": float(residual),
        "exactly balanced": bool(residual == 0),
        "share": float(min((x.least.min() for x in left), default=1.0)),
        "load": float(max((x.load.max() for x in left), default=0.0)),
        "signal": float(min((1 / x.inverse.max() for x in left), default=1.0)),
        "constant": head.constant,
    }


def _queries(claim: Claim) -> IntArray:
    """The tokens that close a bracket and leave another one open."""
    closing = np.arange(claim.brackets.pairs, 2 * claim.brackets.pairs)
    return closing[claim.brackets.depths[closing] > 0]


def _free(head: Head, claim: Claim) -> Iterator[Case]:
    """The other queries: the letter alone says the law, whatever LayerNorm says."""
    stack, silent = claim.brackets, ~head.values.any(axis=0)
    for token in np.setdiff1d(np.arange(2 * stack.pairs + 1), _queries(claim)):
        ripple = head.ripple(head.relative(token, claim.length + 1))
        radius = np.where(silent, ripple, ANY)
        top = token // stack.depth % stack.kinds
        yield Case(token, stack.depths[token], top, 0 * radius, radius)


class _Left(NamedTuple):
    """What matched pairs and a stack leave for a query, by the top bracket's kind.

    Attributes:
        token: The query.
        least: ``(kinds,)``: the least share of the top bracket, after normalising.
        most: ``(kinds,)``: the greatest one.
        inverse: ``(kinds,)``: the most of (sum of all weights)/(length of the vector).
        load: ``(kinds,)``: the most of (sum of the terms' lengths)/(length of the vector).
        residual: ``(kinds,)``: what all matched pairs can leave, relative to that length.
    """

    token: int
    least: FloatArray
    most: FloatArray
    inverse: FloatArray
    load: FloatArray
    residual: FloatArray

    @classmethod
    def of(cls, head: Head, claim: Claim, token: int) -> "_Left":
        """The bounds over all stacks and all matched pairs.

        A stack chooses one kind at each level below, and its length grows with each
        choice: the least and the greatest choice at every level bound all stacks.
        """
        stack, column = claim.brackets, head.scores[:, token]
        weights, depth = np.exp(column - column.max()), stack.depths[token]
        first, second = weights[: stack.pairs], weights[stack.pairs : -1]
        sizes = weights * head.norms
        opening = sizes[: stack.pairs].reshape(stack.kinds, stack.depth)
        top, below = opening[:, depth - 1], opening[:, : depth - 1]
        low, high = ((f(below, axis=0) ** 2).sum() for f in (np.min, np.max))
        shorter = np.sqrt(top**2 + low) / INFLATION**4
        matched = max(claim.length - depth, 0) / 2 * INFLATION**4
        others = weights[-1] + matched * (first + second).max()
        terms = matched * (sizes[: stack.pairs] + sizes[stack.pairs : -1]).max()
        return cls(
            token=token,
            least=top / np.sqrt(top**2 + high) / INFLATION**4,
            most=top / shorter,
            inverse=others / shorter + np.sqrt(depth) / head.norms[: stack.pairs].min(),
            load=terms / shorter + np.sqrt(depth),
            residual=matched * _residual(head.values, first, second) / shorter,
        )

    def cases(self, head: Head, claim: Claim) -> Iterator[Case]:
        """The top bracket's entries lie between two bounds; deeper ones are anything."""
        stack, token = claim.brackets, self.token
        depth = stack.depths[token]
        relative = head.relative(token, claim.length + 1)
        error = relative * self.load + self.residual
        noise = head.deviation(error, 1 / self.inverse, relative)
        level = head.values[: stack.pairs].reshape(stack.kinds, stack.depth, -1)
        level = level[:, depth - 1]
        elsewhere = head.values.any(axis=0) & ~level.any(axis=0)
        for top, value in enumerate(level):
            unit = value / np.sqrt((value**2).sum())
            spread = (self.most[top] - self.least[top]) / 2 * np.abs(unit)
            centre = (self.least[top] + self.most[top]) / 2 * unit
            radius = np.where(elsewhere, ANY, noise[top] + spread)
            yield Case(token, depth, top, centre, radius)


def _residual(values: FloatArray, first: FloatArray, second: FloatArray) -> float:
    """The length of the vector that a matched pair can leave, at most.

    Args:
        values: ``(tokens, d)``.
        first: ``(pairs,)``: the weight of each opening bracket.
        second: ``(pairs,)``: the weight of its partner.
    """
    opening, closing = values[: len(first)], values[len(first) : -1]
    opens, closes = first[:, None] * opening, second[:, None] * closing
    left = np.sqrt(((opens + closes) ** 2).sum(axis=1))
    size = np.sqrt((opens**2 + closes**2).sum(axis=1))
    balanced = (first == second) & (opening == -closing).all(axis=1)
    return float(np.where(balanced, 0.0, left + OWN * size).max())
