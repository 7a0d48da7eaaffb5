"""What a balanced head leaves of a prefix: the brackets that are open, up to a scale.

A prefix is a start, open brackets and matched pairs. For a query that closes a bracket
and leaves depth d ≥ 1, the two tokens of a pair cancel. For other queries nothing is
claimed but that LayerNorm returns a vector of length at most 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.brackets import Stack
from algebra.semiautomaton import IntArray
from network.precision import FloatArray
from verify.bracket_claim import Claim
from verify.errors import Rejected
from verify.noisy import INFLATION
from verify.normalised import Arithmetic, Head

# Entries of a vector of length 1, with room for what LayerNorm rounds.
ANY = 1.125
# Two exponentials of this checker, two products and a sum, relative to their terms.
OWN = 2.0**-46


@dataclass(frozen=True)
class Case:
    """A query with what LayerNorm can say there.

    Attributes:
        token: The query.
        stack: A stack that it can leave; all others of the case have the same law.
        centre: ``(d,)``, where the entries of LayerNorm's output are.
        radius: ``(d,)``, how far from there they can be.
    """

    token: int
    stack: Stack
    centre: FloatArray
    radius: FloatArray


def cases(
    head: Head, claim: Claim, units: Arithmetic
) -> tuple[list[Case], dict[str, Any]]:
    """All queries, those that close and leave depth ≥ 1 once for each top bracket.

    Raises:
        Rejected: If brackets are not told apart, or do not cancel well enough.
    """
    _separate(head, claim)
    found: list[Case] = []
    facts: list[_Left] = []
    start = len(claim.letters)
    for token, (letter, depth) in enumerate([*claim.letters, (None, 0)]):
        opens = letter is not None and claim.law.brackets.opens[letter] is not None
        if opens or depth == 0:
            kind = (
                claim.law.brackets.opens[letter] if opens and letter is not None else 0
            )
            stack = (0,) * (depth - 1) + (kind or 0,) if depth else ()
            found.append(_anything(head, token, stack, claim, units))
            continue
        for left in _what_is_left(head, claim, token, depth):
            facts.append(left)
            found.append(_case(head, claim, left, units))
    if head.values[start].any():
        raise Rejected("the start is not silent")
    return found, _evidence(head, claim, facts)


def _evidence(head: Head, claim: Claim, facts: list["_Left"]) -> dict[str, Any]:
    residual = max((left.residual for left in facts), default=0.0)
    load = max((left.load for left in facts), default=0.0)
    return {
        "identities": len(claim.pairs) * len({left.token for left in facts}),
        "residual": residual,
        "exactly balanced": residual == 0,
        "share": min((left.least for left in facts), default=1.0),
        "load": load,
        "signal": min((1 / left.inverse for left in facts), default=1.0),
        "constant": head.constant,
    }


def _separate(head: Head, claim: Claim) -> None:
    """Brackets that open have values on dimensions of their own."""
    opening = head.values[[first for first, _ in claim.pairs.values()]] != 0
    if not opening.any(axis=1).all() or (opening.sum(axis=0) > 1).any():
        raise Rejected("the values of two opening brackets overlap, or one has none")


@dataclass(frozen=True)
class _Left:
    """What is left for one query and one top bracket, over all stacks and all pairs.

    Attributes:
        token: The query.
        kind: The kind of the top bracket.
        depth: How many brackets are open.
        least: The least share of the top bracket in the vector, after normalising.
        most: The greatest one.
        inverse: The greatest value of (sum of all weights)/(length of the vector).
        load: The greatest value of (sum of the terms' lengths)/(length of the vector).
        residual: What all matched pairs can leave, relative to the length of the vector.
    """

    token: int
    kind: int
    depth: int
    least: float
    most: float
    inverse: float
    load: float
    residual: float


def _what_is_left(head: Head, claim: Claim, token: int, depth: int) -> Iterator[_Left]:
    """One `_Left` for every kind of the top bracket.

    A stack chooses one kind at each level below, and its length grows with each choice: so
    the least and the greatest choice at every level bound all stacks.
    """
    column = head.scores[:, token]
    weights = np.exp(column - column.max())
    sizes = weights * head.norms
    kinds, length = range(claim.law.brackets.kinds), claim.length
    levels = [
        sizes[[claim.pairs[kind, level][0] for kind in kinds]]
        for level in range(1, depth)
    ]
    low, high = (sum(float(f(s)) ** 2 for s in levels) for f in (np.min, np.max))
    pairs = np.array(list(claim.pairs.values()))
    matched = max(length - depth, 0) / 2 * INFLATION**4
    shortest = head.norms[pairs[:, 0]].min()
    residual = matched * _residual(head.values, pairs, weights)
    for kind in kinds:
        top = float(sizes[claim.pairs[kind, depth][0]])
        shorter = np.sqrt(top**2 + low) / INFLATION**4
        others = weights[-1] + matched * weights[pairs].sum(axis=1).max()
        terms = matched * sizes[pairs].sum(axis=1).max()
        yield _Left(
            token=token,
            kind=kind,
            depth=depth,
            least=float(top / np.sqrt(top**2 + high) / INFLATION**4),
            most=float(top / shorter),
            inverse=float(others / shorter + np.sqrt(depth) / shortest),
            load=float(terms / shorter + np.sqrt(depth)),
            residual=float(residual / shorter),
        )


def _residual(values: FloatArray, pairs: IntArray, weights: FloatArray) -> float:
    """The length of the vector that a matched pair can leave."""
    opening, closing = values[pairs[:, 0]], values[pairs[:, 1]]
    first, second = weights[pairs].T[:, :, None]
    left = np.sqrt(((first * opening + second * closing) ** 2).sum(axis=1))
    size = np.sqrt(((first * opening) ** 2 + (second * closing) ** 2).sum(axis=1))
    exactly = (first == second)[:, 0] & (opening == -closing).all(axis=1)
    return float(np.where(exactly, 0.0, left + OWN * size).max())


def _case(head: Head, claim: Claim, left: _Left, units: Arithmetic) -> Case:
    """The top bracket's entries lie between two bounds; deeper ones are anything."""
    relative = head.relative(left.token, claim.length + 1, units)
    error = relative * left.load + left.residual
    noise = head.deviation(error, 1 / left.inverse, relative, units)
    value = head.values[claim.pairs[left.kind, left.depth][0]]
    unit = value / np.sqrt((value**2).sum())
    centre = (left.least + left.most) / 2 * unit
    radius = np.full(len(unit), noise) + (left.most - left.least) / 2 * np.abs(unit)
    kinds = range(claim.law.brackets.kinds)
    same = [claim.pairs[kind, left.depth][0] for kind in kinds]
    level = head.values[same].any(axis=0)
    radius[head.support] = np.where(level, radius, ANY)[head.support]
    stack = (0,) * (left.depth - 1) + (left.kind,)
    return Case(left.token, stack, centre, radius)


def _anything(
    head: Head, token: int, stack: Stack, claim: Claim, units: Arithmetic
) -> Case:
    """A query after which the letter alone says the law: LayerNorm may say anything."""
    relative = head.relative(token, claim.length + 1, units)
    radius = np.full(head.values.shape[1], head.ripple(relative, units))
    radius[head.support] = ANY
    return Case(token, stack, np.zeros(len(radius)), radius)
