"""Expressions that choose between whole numbers, for who writes Programs."""

from krohn.program.expressions import Expression, greater, rectify, value


def minimum(first: Expression, *others: Expression) -> Expression:
    """The least of some, each a value of its own (a − max(a − b, 0))."""
    for other in others:
        first = value(other - rectify(other - first))
    return first


def maximum(first: Expression, *others: Expression) -> Expression:
    """The greatest of some, each a value of its own (b + max(a − b, 0))."""
    for other in others:
        first = value(other + rectify(first - other))
    return first


def differs(left: Expression, right: Expression) -> Expression:
    """1 where left ≠ right, else 0, on whole numbers."""
    return value(greater(left, right) + greater(right, left))


def gate(inside: Expression, bit: Expression, most: int) -> Expression:
    """``inside`` where the bit is 1, else 0; 0 ≤ inside ≤ most."""
    return rectify(inside + most * value(bit) - most)
