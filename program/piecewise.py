"""Piecewise linear functions of channels, which need no table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from krohn.program.domains import (
    MOST,
    BoolArray,
    ChannelDomain,
    IntArray,
    PossibleValues,
    Values,
    distinct_values,
    joint_values,
    mark_values,
)
from krohn.program.errors import demand
from krohn.program.expressions import Bounds, Expression, read_expression

MOST_PATTERNS = 1024
LARGEST_RESULT = 2**62
"""Results that are less are right as int64, which computes modulo 2^64."""


@dataclass(frozen=True, slots=True)
class Piecewise:
    """A sum of its inputs and of terms max(e, 0), e a sum of inputs (gadgets G2–G12).

    So are the minimum, the comparison of whole numbers, a gate by a bit, a thermometer
    and a one-hot code. Domains are intervals, found without listing joint values.

    Attributes:
        expression: What it computes; its arguments are the places of the inputs, and no
            term max(e, 0) holds another one.
    """

    wire: ClassVar[str] = "piecewise"
    check: ClassVar[str] = "piecewise"
    listed: ClassVar[bool] = True
    expression: Expression

    def __call__(self, columns: Sequence[IntArray]) -> IntArray:
        """The value of the expression."""
        return self.expression(columns)

    def infer(self, read: Sequence[Values]) -> Values:
        """An interval for each pattern of those inputs that the position decides.

        Raises:
            Refused: If it can be negative, takes too many values, or is too large on the
                way to be computed.
        """
        self._check_size(read)
        bos = int(self([np.array([v.bos]) for v in read])[0])
        known = {i: v.given for i, v in enumerate(read) if v.given is not None}
        if len(known) == len(read):
            values = self(list(known.values()))
            demand(values >= 0, "a piecewise function can be negative")
            return Values(bos, distinct_values(values[1:]), values)
        box = {i: (int(v.later[0]), int(v.later[-1])) for i, v in enumerate(read)}
        patterns, here = _patterns(known)
        ends = [Bounds(box | p).of(self.expression) for p in patterns]
        low = min(bos, *(low for low, _ in ends))
        demand(low >= 0, f"a piecewise function can be negative ({low})")
        count = sum(high - low + 1 for low, high in ends)
        demand(count <= MOST, "a piecewise function takes too many values")
        runs = [np.arange(low, high + 1) for low, high in ends]
        most = np.array([bos, *(ends[p][1] for p in here)]) if known else None
        return Values(bos, distinct_values(np.concatenate(runs)), most=most)

    def _check_size(self, read: Sequence[Values]) -> None:
        """Refuse a function whose values int64 could not hold, at BOS too (Lemma 1a).

        `Bounds` refuses sums inside of terms that are no numbers of a Program.
        """
        firsts = ((min(v.bos, int(v.later[0])), v) for v in read)
        box = {
            i: (low, max(v.bos, int(v.later[-1]))) for i, (low, v) in enumerate(firsts)
        }
        ends = Bounds(box).of(self.expression)
        large = max(map(abs, ends))
        demand(large < LARGEST_RESULT, "a piecewise function can become too large")

    def step(self, own: ChannelDomain, read: Sequence[PossibleValues]) -> BoolArray:
        """The results that may occur, from every joint value of the inputs."""
        at, columns = joint_values(read)
        return mark_values(own.domain, len(read[0].sets), at, self(columns))

    @classmethod
    def from_wire(cls, entry: Mapping[str, Any], inputs: int) -> Self:
        """The piecewise linear function that a model file states, read strictly.

        Raises:
            Refused: If it is malformed, or a term max(e, 0) holds another one.
        """
        expression = read_expression(entry["expression"], inputs)
        demand(flat(expression), "a term of a piecewise function holds another one")
        return cls(expression)


def flat(expression: Expression) -> bool:
    """Whether no term max(e, 0) holds another one."""
    inner = [a.expression for a, _ in expression.terms if a.kind != "argument"]
    kinds = [a.kind for a, _ in expression.terms]
    nested = (a.kind for e in inner for a, _ in e.terms)
    return "value" not in kinds and all(kind == "argument" for kind in nested)


def _patterns(
    known: Mapping[int, IntArray],
) -> tuple[list[dict[int, tuple[int, int]]], list[int]]:
    """The joint values of the inputs that the position decides; {} if there are too many.

    Returns:
        The patterns, and which one there is at each position after BOS.
    """
    if not known:
        return [{}], []
    columns = np.stack([v[1:] for v in known.values()], axis=1)
    rows, here = np.unique(columns, axis=0, return_inverse=True)
    if len(rows) > MOST_PATTERNS:
        return [{}], [0] * len(columns)
    patterns = [
        {i: (x, x) for i, x in zip(known, row, strict=True)} for row in rows.tolist()
    ]
    return patterns, here.ravel().tolist()
