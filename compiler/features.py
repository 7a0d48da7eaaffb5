"""Position features: what the position table holds, and what a format can hold of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from compiler.circle import circle_of
from compiler.errors import CompileError
from compiler.numerics import (
    CIRCLE_PLATEAU,
    STEP_PLATEAU,
    PositionCode,
    check_count,
    count_scale,
    count_scores,
    earliest_scale,
    equality_scale,
    mark_scale,
    mark_scores,
    match_scale,
    position_code,
    recency_scale,
    sibling_scale,
    uniform_code,
    uniform_scale,
)
from network.precision import FloatArray, Precision
from program import (
    At,
    Earliest,
    Latest,
    LatestMatch,
    Map,
    MarkedSum,
    Position,
    PrefixSum,
    Program,
    Shift,
    SiblingLatest,
)


@dataclass(frozen=True)
class Positions:
    """The position features that a Program needs.

    Attributes:
        length: T.
        precision: The format they will be stored in.
        code: The position code of its look-backs, if it has any.
        latest: The largest value that a head which looks for the latest flag fetches;
            −1 if there is no such head.
        earliest: The same of heads that look for the earliest flag.
        pointed: The same of heads that look where binary digits say.
        matches: Whether it has a head that looks for the latest equal value.
        sums: Whether it has a prefix sum.
        uniform: Whether weights must not depend on the length.
        siblings: Whether it has heads that look into sibling blocks.
        marks: The flags, position by position, by which its marked sums choose.
    """

    length: int
    precision: Precision
    code: PositionCode | None
    latest: int
    earliest: int
    pointed: int
    matches: bool
    sums: bool
    siblings: bool
    uniform: bool = False
    marks: tuple[tuple[int, ...], ...] = ()
    sizes: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        ordered = self.latest >= 0 or self.earliest >= 0 or self.matches
        sink = self.code or self.matches or self.bits or self.marks
        wanted = {
            "one": int(bool(sink or ordered)),
            "bos": int(bool(sink or self.sums)),
            "code": self.code.dimensions if self.code else 0,
            "index": int(ordered),
            "count": int(self.sums),
            "marked": len(self.marks),
            "bits": self.bits,
        }
        object.__setattr__(self, "sizes", {n: w for n, w in wanted.items() if w})

    def table(self) -> dict[str, FloatArray]:
        """Each feature at positions 0..T, ``(T + 1, size)``."""
        t = np.arange(self.length + 1, dtype=np.float64)
        whole = {
            "one": np.ones((len(t), 1)),
            "bos": (t == 0).astype(np.float64)[:, None],
            "index": t[:, None],
            "count": count_scores(self.length)[:, None],
        }
        digits = (t[:, None].astype(np.int64) >> np.arange(self.bits)) & 1
        whole["bits"] = (2.0 * digits - 1.0) * (t > 0)[:, None]
        if self.marks:
            whole["marked"] = np.stack([mark_scores(m) for m in self.marks], axis=1)
        if self.code:
            # BOS is found by the sink alone, so its code is empty.
            whole["code"] = self.code.vectors(t) * (t > 0)[:, None]
        return {name: whole[name] for name in self.sizes}

    @property
    def bits(self) -> int:
        """How many binary digits of positions heads compare; 0 if none does."""
        return self.length.bit_length() if self.siblings or self.pointed >= 0 else 0

    @property
    def horizon(self) -> int:
        """The longest word that the temperature of look-backs is chosen for."""
        return 2**self.precision.digits if self.uniform else self.length


def positions(
    program: Program,
    precision: Precision,
    uniform: bool = False,
    circle: bool = False,
) -> Positions:
    """Which features the attention operations of a Program need.

    Raises:
        CompileError: If some need weights that depend on the length, but may not.
    """
    operations = list(program.operations.values())
    if uniform:
        _check_uniform(program, precision)
    furthest = max((op.by for op in operations if isinstance(op, Shift)), default=0)
    return Positions(
        length=program.length,
        precision=precision,
        code=_code(program, furthest, precision, uniform, circle),
        latest=_fetched(program, Latest),
        earliest=_fetched(program, Earliest),
        pointed=_fetched(program, At),
        matches=any(isinstance(op, LatestMatch) for op in operations),
        sums=any(isinstance(op, PrefixSum) for op in operations),
        siblings=any(isinstance(op, SiblingLatest) for op in operations),
        uniform=uniform,
        marks=tuple(
            dict.fromkeys(
                flags(program, op) for op in operations if isinstance(op, MarkedSum)
            )
        ),
    )


def flags(program: Program, operation: MarkedSum) -> tuple[int, ...]:
    """Which positions a marked sum adds up: 0 or 1 for each."""
    where = program.operations[operation.where]
    assert isinstance(where, Position)
    return where.values


def _fetched(program: Program, kind: type[Latest | Earliest | At]) -> int:
    """The largest value that operations of a kind fetch; −1 if there are none."""
    alike = [op for op in program.operations.values() if isinstance(op, kind)]
    return max((max(program.domains[op.source]) for op in alike), default=-1)


def _code(
    program: Program, furthest: int, precision: Precision, uniform: bool, circle: bool
) -> PositionCode | None:
    if circle and not furthest:
        raise CompileError(
            "it looks back by no fixed distance, so that no positions lie on a circle; "
            "leave --positions circle out"
        )
    if not furthest:
        return None
    if uniform:
        return uniform_code(precision)
    return position_code(program.length, furthest, circle)


def _check_uniform(program: Program, precision: Precision) -> None:
    for operation in program.operations.values():
        if operation.is_attention and not isinstance(operation, (Shift, Latest)):
            raise CompileError(
                "weights of counters, stacks, cascades and pointers depend on the "
                "length; leave --uniform out"
            )
        period = 2 ** uniform_code(precision).frequencies
        if isinstance(operation, Shift) and program.length + operation.by >= period:
            raise CompileError(
                f"{precision.name} cannot tell {program.length} positions apart by "
                "weights that do not depend on the length; use a shorter length or a "
                "wider dtype"
            )


def budget(
    program: Program,
    precision: Precision,
    activation: str = "relu",
    uniform: bool = False,
    circle: bool = False,
) -> None:
    """Refuse a Program whose heads a format cannot hold.

    Args:
        program: With domains.
        precision: The format.
        activation: Periodic tables are read from a circle if it is ``"sine"``.
        uniform: Whether weights must not depend on the length.
        circle: Whether positions are told apart on a single circle.

    Raises:
        CompileError: With the operation that does not fit.
    """
    features = positions(program, precision, uniform, circle)
    if features.code:
        match_scale(features.code, features.horizon, precision)
    if features.latest >= 0:
        scale = uniform_scale if uniform else recency_scale
        scale(program.length, precision, features.latest)
    if features.matches:
        equality_scale(program.length, precision)
    if features.earliest >= 0:
        earliest_scale(program.length, precision, features.earliest)
    if features.siblings:
        sibling_scale(program.length, precision)
    for name, operation in program.operations.items():
        if isinstance(operation, (PrefixSum, MarkedSum)):
            most, common = max(program.domains[name]), _scale(program, operation)
            plateau = _plateau(program, name, activation)
            check_count(program.length, most, common, precision, plateau)


def _scale(program: Program, operation: PrefixSum | MarkedSum) -> float:
    if isinstance(operation, PrefixSum):
        return count_scale(program.length)
    return mark_scale(sum(flags(program, operation)))


def _plateau(program: Program, name: str, activation: str) -> float:
    """How far a sum may be off for all tables that read it."""
    readers = [op for op in program.operations.values() if name in op.reads]
    round_ones = activation == "sine" and all(
        isinstance(op, Map) and circle_of(program, op) is not None for op in readers
    )
    return CIRCLE_PLATEAU if round_ones else STEP_PLATEAU
