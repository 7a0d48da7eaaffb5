"""The list of passes, the position features, and the function that runs it all."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.compiler import CompileError
from krohn.compiler.attention import Lowering
from krohn.compiler.attention.latest import fits_plainly
from krohn.compiler.layout import Layout, Schedule, allocate, check_schedule, schedule
from krohn.compiler.passes import Observer, Pass
from krohn.compiler.passes.recode import (
    OneHotMatches,
    RoundReads,
    SplitDeepTables,
    WidenOutputs,
)
from krohn.compiler.passes.simplify import DropDead, Fuse, InferDomains, Share
from krohn.compiler.positions import (
    CIRCLE_PLATEAU,
    STEP_PLATEAU,
    PositionCode,
    Positions,
    by_position,
    check_count,
    position_code,
    uniform_code,
)
from krohn.network.precision import Precision
from krohn.program import (
    Latest,
    Map,
    Operation,
    Program,
    Sum,
    Table,
)
from krohn.program.attention import Sparse


@dataclass(frozen=True)
class Options:
    """How a Program is to be lowered.

    Attributes:
        precision: The format that the network is stored and run in.
        strict: Whether only plain residuals and one hidden layer per MLP are allowed.
        keep: Whether every channel keeps its dimensions.
        sparse: The positions that the heads of all blocks see; None for all.
        most_paths: Tables of tables become one MLP if no more paths decide them; 0 keeps
            a block for each (`krohn.compiler.decision_paths`).
        activation: ``"relu"``; or ``"sine"``: periodic tables are read from a circle, by
            units with a sine; or ``"gelu"``: every unit is a GeLU, and ReLUs are made
            of these (`krohn.compiler.units`).
        uniform: Whether all weights but the position table are the same for every length.
        circle: Whether look-backs tell positions apart on the single circle of
            Proposition 2, whose gap shrinks with the length.
    """

    precision: Precision
    strict: bool = False
    activation: str = "relu"
    uniform: bool = False
    circle: bool = False
    keep: bool = False
    most_paths: int = 0
    sparse: Sparse | None = None

    def __post_init__(self) -> None:
        if self.strict and self.activation == "sine":
            raise CompileError(
                "the sine activation needs MLPs of three hidden layers, and the strict "
                "form has one; leave one of the two out"
            )
        if self.uniform and self.circle:
            raise CompileError(
                "a single circle depends on the length, and --uniform asks for weights "
                "that do not; leave one of the two out"
            )


# The position features that a Program needs, and their limits in a format.


HALF_STEP = 1 / 2
"""Two whole numbers that are less than this off are apart."""


def positions(program: Program, options: Options) -> Positions:
    """Which features the attention operations of a Program need.

    Positions are spread over both signs where heads for the latest flag are the only
    ones that read their order, and the format cannot hold it otherwise.

    Raises:
        CompileError: If some need weights that depend on the length, but may not.
    """
    operations, precision = list(program.operations.values()), options.precision
    if options.uniform:
        _check_uniform(program, precision)
    fetched: dict[type[Operation], int] = {}
    for operation in operations:
        if operation.is_attention:
            most = max(program.domains.get(operation.reads[0], (1,)))
            fetched[type(operation)] = max(most, fetched.get(type(operation), -1))
    marks = (by_position(program, op.where) for op in _of_wire(program, "marked-sum"))
    blocks = (
        (op.size, by_position(program, op.block))
        for op in _of_wire(program, "block-sum")
    )
    ratings = (
        max(program.domains.get(op.rating, (0,))) for op in _of_wire(program, "best")
    )
    backs = [op.by for op in _of_wire(program, "shift-by")]
    given = all(program.operations[by].wire == "position" for by in backs)
    ordered = {kind for kind in fetched if "index" in Lowering.of[kind].features}
    return Positions(
        length=program.length,
        precision=precision,
        code=_code(program, options),
        fetched=fetched,
        needed=frozenset[str]().union(
            *(Lowering.of[kind].features for kind in fetched)
        ),
        uniform=options.uniform,
        marks=tuple(dict.fromkeys(marks)),
        distances=tuple(
            dict.fromkeys(by_position(program, by) for by in backs if given)
        ),
        blocks=tuple(dict.fromkeys(blocks)),
        best_rating=max(ratings, default=0),
        spread=not options.uniform
        and ordered == {Latest}
        and not fits_plainly(program.length, precision),
    )


def _of_wire(program: Program, wire: str) -> Iterator[Any]:
    """The operations that have a name on file, whose modules need not be imported."""
    return (op for op in program.operations.values() if op.wire == wire)


def _code(program: Program, options: Options) -> PositionCode | None:
    furthest = max((op.by for op in _of_wire(program, "shift")), default=0)
    if options.circle and not furthest:
        raise CompileError(
            "no head looks back by a fixed distance, so positions on a circle are not "
            "needed; leave --positions circle out"
        )
    if not furthest:
        return None
    if options.uniform:
        return uniform_code(options.precision)
    return position_code(program.length, furthest, options.circle)


def _check_uniform(program: Program, precision: Precision) -> None:
    operation: Any
    for operation in program.operations.values():
        if operation.is_attention and not Lowering.of[type(operation)].uniform:
            raise CompileError(
                "weights of counters, stacks, cascades and pointers depend on the "
                "length; leave --uniform out"
            )
        period = 2 ** uniform_code(precision).frequencies
        if operation.wire == "shift" and program.length + operation.by >= period:
            raise CompileError(
                f"{precision.name} cannot tell {program.length} positions apart by "
                "weights that do not depend on the length; use a shorter length or a "
                "wider dtype"
            )


def budget(program: Program, options: Options) -> None:
    """Refuse a Program, with domains, whose heads a format cannot hold.

    Raises:
        CompileError: With the operation that does not fit.
    """
    precision, features = options.precision, positions(program, options)
    for kind in features.fetched:
        Lowering.of[kind].largest(features)  # refuses what the format cannot hold
    operation: Any
    for name, operation in program.operations.items():
        if operation.wire in ("prefix-sum", "marked-sum"):
            common = Lowering.of[type(operation)].gain(program, operation)
            plateau = _plateau(program, name, options.activation)
            # Other sums need only be nearer to themselves than to their neighbours.
            most = max(program.domains[name]) * plateau / HALF_STEP
            most = max(most, _told_apart(program, name))
            check_count(program.length, most, common, precision, plateau)
        elif operation.wire == "block-sum":
            from krohn.compiler.attention.sums import check_block_sum

            most, blocks = max(program.domains[name]), features.block_entries
            check_block_sum(program.length, operation.size, most, blocks, precision)


def _told_apart(program: Program, name: str) -> int:
    """The largest value of a channel that a reader tells from the value below it.

    A number is off in proportion to itself, and a sum of two is not below either of them.
    """
    every, largest = max(program.domains[name]), 0
    if name in program.outputs:
        return every
    for reader, operation in program.operations.items():
        if name not in operation.reads:
            continue
        function = operation.function if isinstance(operation, Map) else None
        if isinstance(function, Sum):
            largest = max(largest, _told_apart(program, reader))
        elif isinstance(function, Table) and len(operation.reads) == 1:
            differs = np.flatnonzero(np.diff(function.values)) + 1
            largest = max(largest, int(function.rows[differs].max(initial=0)))
        else:
            return every
    return min(largest, every)


def _plateau(program: Program, name: str, activation: str) -> float:
    """How far a sum may be off for all tables that read it."""
    if activation != "sine":
        return STEP_PLATEAU
    from krohn.compiler.table_forms import circle_of

    readers = [op for op in program.operations.values() if name in op.reads]
    round_ones = all(
        isinstance(op, Map) and circle_of(program, op) is not None for op in readers
    )
    return CIRCLE_PLATEAU if round_ones else STEP_PLATEAU


# The list of passes, and the one function that runs it.


def passes(options: Options) -> tuple[Pass[Program, Program], ...]:
    """Every pass from a construction's Program to the one that is laid out, in order."""
    return (
        InferDomains(),
        Share(),
        Fuse(),
        DropDead(),
        InferDomains(),
        WidenOutputs(options.precision.digits),
        RoundReads(options.strict),
        OneHotMatches(),
        *((SplitDeepTables(options.most_paths == 0),) if options.strict else ()),
        Share(),
        DropDead(),
    )


def optimise(
    program: Program, options: Options, on_pass: Observer | None = None
) -> Program:
    """Run all passes, each checked, each shown to ``on_pass`` if given.

    Raises:
        CompileError: If the Program cannot be lowered, or a pass failed its check.
    """
    for step in passes(options):
        rewritten = step.apply(program)
        step.check(program, rewritten)
        program = rewritten
        if on_pass is not None:
            on_pass(step.name, program)
    return program


def make_schedule(program: Program, options: Options) -> Schedule:
    """Schedule an optimised Program.

    Raises:
        CompileError: If the format cannot hold its heads.
    """
    budget(program, options)
    plan = schedule(program, options.most_paths, options.strict)
    check_schedule(plan)
    return plan


def make_layout(plan: Schedule, options: Options) -> tuple[Layout, Positions]:
    """Give every channel of a schedule its dimensions."""
    features = positions(plan.program, options)
    return allocate(plan, features.sizes, options.strict, options.keep), features


def arrange(program: Program, options: Options) -> tuple[Layout, Positions]:
    """Schedule an optimised Program and give every channel its dimensions."""
    return make_layout(make_schedule(program, options), options)
