"""The output of a balanced head on a prefix: the brackets that are open, up to a scale.

A prefix is a start, open brackets and matched pairs. For a query that closes a bracket
and leaves another one open, the two tokens of a pair cancel. For other queries nothing is
claimed but that LayerNorm returns a vector of length at most 1 (docs/dyck-generator.md,
section 3).
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.brackets import Claim
from krohn.verify.checker.layer_norm import Head

ANY = Interval.between(np.array(-1.125), np.array(1.125))
"""Entries of a vector of length 1, with room for what LayerNorm rounds."""


class Case(NamedTuple):
    """A query with all the stacks that it can leave with one depth and top bracket.

    Attributes:
        token: The query.
        depth: How many brackets are open.
        top: The kind of the innermost one.
        normed: ``(d,)``: where LN_C is.
    """

    token: int
    depth: int
    top: int
    normed: Interval


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
    residual = max((x.residual.most for x in left), default=0.0)
    return [*_free(head, claim), *closing], {
        "identities": len(left) * claim.brackets.pairs,
        "residual": residual,
        "exactly balanced": residual == 0,
        "share": min((float(x.least.low.min()) for x in left), default=1.0),
        "load": max((x.load.most for x in left), default=0.0),
        "signal": min((float((1 / x.inverse).low.min()) for x in left), default=1.0),
        "constant": head.constant,
    }


def _queries(claim: Claim) -> IntArray:
    """The tokens that close a bracket and leave another one open."""
    closing = np.arange(claim.brackets.pairs, 2 * claim.brackets.pairs)
    return closing[claim.brackets.depths[closing] > 0]


def _free(head: Head, claim: Claim) -> Iterator[Case]:
    """The other queries: the letter alone says the law, whatever LayerNorm says."""
    stack, silent = claim.brackets, np.asarray(~head.values.any(axis=0))
    for token in np.setdiff1d(np.arange(2 * stack.pairs + 1), _queries(claim)):
        ripple = head.ripple(head.relative(token, claim.length + 1))
        top = token // stack.depth % stack.kinds
        normed = Interval.of(0.0).wider(ripple).where(silent, ANY)
        yield Case(token, stack.depths[token], top, normed)


class _Left(NamedTuple):
    """The shares of matched pairs and of a stack for a query, by the top bracket's kind.

    Attributes:
        token: The query.
        least: ``(kinds,)``: the least share of the top bracket, after normalising.
        most: ``(kinds,)``: the greatest one.
        inverse: ``(kinds,)``: the most of (sum of all weights)/(length of the vector).
        load: ``(kinds,)``: the most of (sum of the terms' lengths)/(length of the vector).
        residual: ``(kinds,)``: what all matched pairs can leave, relative to that length.
    """

    token: int
    least: Interval
    most: Interval
    inverse: Interval
    load: Interval
    residual: Interval

    @classmethod
    def of(cls, head: Head, claim: Claim, token: int) -> "_Left":
        """The bounds over all stacks and all matched pairs.

        A stack chooses one kind at each level below, and its length grows with each
        choice: the least and the greatest choice at every level bound all stacks.
        """
        stack, depth = claim.brackets, int(claim.brackets.depths[token])
        column = Interval.of(head.scores[:, token])
        weights, norms = (column - column.max()).through(np.exp), head.norms
        first, second = slice(stack.pairs), slice(stack.pairs, -1)
        sizes, shape = weights * norms, (stack.kinds, stack.depth)
        opening = sizes[first].each(lambda x: x.reshape(shape))
        top, below = opening[:, depth - 1], opening[:, : depth - 1]
        low, high = ((x * x).sum() for x in (below.min(axis=0), below.max(axis=0)))
        shorter = (top * top + low).root()
        matched = Interval.of(Fraction(max(claim.length - depth, 0), 2))
        others = weights[-1] + matched * (weights[first] + weights[second]).max()
        terms = matched * (sizes[first] + sizes[second]).max()
        together = Interval.of(depth).root()
        left = _residual(head, token, weights, stack.pairs)
        return cls(
            token=token,
            least=top / (top * top + high).root(),
            most=top / shorter,
            inverse=others / shorter + together / norms[first].min(),
            load=terms / shorter + together,
            residual=matched * left / shorter,
        )

    def cases(self, head: Head, claim: Claim) -> Iterator[Case]:
        """The top bracket's entries lie between two bounds; deeper ones are anything."""
        stack, token = claim.brackets, self.token
        depth = stack.depths[token]
        relative = head.relative(token, claim.length + 1)
        error = relative * self.load + self.residual
        noise = head.deviation(error, 1 / self.inverse, relative)
        shape = stack.kinds, stack.depth, -1
        level = head.values[: stack.pairs].reshape(shape)[:, depth - 1]
        lengths = head.norms[: stack.pairs].each(lambda x: x.reshape(shape[:2]))
        share = self.least.joined(self.most) / lengths[:, depth - 1]
        elsewhere = head.values.any(axis=0) & ~level.any(axis=0)
        for top, value in enumerate(level):
            normed = (share[top] * value).wider(noise[top]).where(~elsewhere, ANY)
            yield Case(token, depth, top, normed)


def _residual(head: Head, token: int, weights: Interval, pairs: int) -> Interval:
    """The length of the vector that a matched pair can leave, at most.

    It is 0 where scores are equal and values opposite.

    Args:
        head: The head.
        token: The query.
        weights: ``(tokens,)``: the weight of each token for it.
        pairs: How many pairs there are.
    """
    each = weights[:, None] * head.values
    left = each[:pairs] + each[pairs:-1]
    length = (left * left).sum(axis=1).root()
    scores, values = head.scores[:, token], head.values
    balanced = scores[:pairs] == scores[pairs:-1]
    balanced &= (values[:pairs] == -values[pairs:-1]).all(axis=1)
    return length.where(~balanced, 0.0).max()
