"""Numbers that depend on unknowns: expressions of the solver, with bounds.

The bounds come from interval arithmetic in fractions. A ReLU that they decide needs
no case distinction, and a number that they fix is no expression at all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import z3

from krohn.verify.smt.exact import Layers, Rationals

ZERO = Fraction(0)


@dataclass(frozen=True)
class Term:
    """A rational number that the solver may choose, within bounds that always hold.

    Attributes:
        expression: What the solver is given.
        low: It is never less.
        high: It is never more; a constant is a term with equal bounds.
    """

    expression: Any
    low: Fraction
    high: Fraction

    @property
    def fixed(self) -> bool:
        """Whether it is a constant."""
        return self.low == self.high


def constant(value: Fraction | int) -> Term:
    """A number that is known."""
    exact = Fraction(value)
    return Term(z3.RealVal(exact), exact, exact)


def variable(name: str, low: Fraction, high: Fraction) -> tuple[Term, Any]:
    """An unknown number, and the condition that it lies within its bounds."""
    unknown = z3.Real(name)
    bounds = z3.And(unknown >= z3.RealVal(low), unknown <= z3.RealVal(high))
    return Term(unknown, low, high), bounds


def total(terms: Iterable[Term]) -> Term:
    """The sum of terms."""
    known, unknown = ZERO, []
    for term in terms:
        if term.fixed:
            known += term.low
        else:
            unknown.append(term)
    if not unknown:
        return constant(known)
    shift = [z3.RealVal(known)] if known else []
    # Not z3.Sum: a sum of one term is no SMT-LIB for other solvers.
    expression = reduce(add, [t.expression for t in unknown] + shift)
    low, high = (sum((getattr(t, n) for t in unknown), known) for n in ("low", "high"))
    return Term(expression, low, high)


def product(left: Term, right: Term) -> Term:
    """The product of two terms; linear if one of them is a constant."""
    if left.fixed and right.fixed:
        return constant(left.low * right.low)
    if left.fixed or right.fixed:
        factor, term = (left.low, right) if left.fixed else (right.low, left)
        return _scale(factor, term)
    ends = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    return Term(left.expression * right.expression, min(ends), max(ends))


def _scale(factor: Fraction, term: Term) -> Term:
    if factor in (0, 1):
        return term if factor else constant(0)
    low, high = sorted((factor * term.low, factor * term.high))
    return Term(z3.RealVal(factor) * term.expression, low, high)


def relu(term: Term) -> Term:
    """The greater of a term and 0."""
    if term.low >= 0:
        return term
    if term.high <= 0:
        return constant(0)
    expression = z3.If(term.expression > 0, term.expression, z3.RealVal(0))
    return Term(expression, ZERO, term.high)


def select(options: Sequence[tuple[Any, Term]]) -> Term:
    """The term whose condition holds; of the conditions, exactly one does."""
    terms = [term for _, term in options]
    low, high = min(t.low for t in terms), max(t.high for t in terms)
    if low == high:
        return constant(low)
    expression = terms[-1].expression
    for condition, term in reversed(options[:-1]):
        expression = z3.If(condition, term.expression, expression)
    return Term(expression, low, high)


def project(x: Sequence[Term], weight: Rationals) -> list[Term]:
    """``x @ weight``, for ``(inputs,)`` and ``(inputs, outputs)``."""
    return [
        total(product(constant(w), x[i]) for i, w in enumerate(column) if w)
        for column in weight.T
    ]


def inner(x: Sequence[Term], y: Sequence[Term]) -> Term:
    """The inner product of two vectors."""
    return total(product(a, b) for a, b in zip(x, y, strict=True))


def linear(x: Sequence[Term], y: Sequence[Term]) -> bool:
    """Whether their inner product has no product of two unknowns."""
    return all(a.fixed or b.fixed for a, b in zip(x, y, strict=True))


def feed(layers: Layers, x: Sequence[Term]) -> list[Term]:
    """Affine layers with ReLUs between them."""
    for i, (weight, bias) in enumerate(layers):
        sums = project(x, weight)
        x = [total((s, constant(b))) for s, b in zip(sums, bias, strict=True)]
        if i + 1 < len(layers):
            x = [relu(term) for term in x]
    return list(x)
