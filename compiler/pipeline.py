"""The list of passes, and the one function that runs it."""

from collections.abc import Callable
from dataclasses import dataclass

from krohn.compiler.errors import CompileError
from krohn.compiler.layout import Layout, allocate
from krohn.compiler.needed_positions import budget, positions
from krohn.compiler.passes.base import Pass
from krohn.compiler.passes.fuse import Fuse
from krohn.compiler.passes.infer import InferDomains
from krohn.compiler.passes.one_hot import OneHotMatches, WidenOutputs
from krohn.compiler.passes.prune import DropDead
from krohn.compiler.passes.round_reads import RoundReads
from krohn.compiler.passes.share import Share
from krohn.compiler.passes.split_deep_tables import SplitDeepTables
from krohn.compiler.position_table import Positions
from krohn.compiler.schedule import Schedule, check_schedule, schedule
from krohn.network.attention_kind import Sparse
from krohn.network.precision import Precision
from krohn.program import Program

Observer = Callable[[str, Program], None]


@dataclass(frozen=True)
class Options:
    """How a Program is to be lowered.

    Attributes:
        precision: The format that the network is stored and run in.
        strict: Whether only plain residuals and one hidden layer per MLP are allowed.
        sparse: The positions that the heads of all blocks see; None for all.
        most_paths: Tables of tables become one MLP if no more paths decide them; 0 keeps
            a block for each (`krohn.compiler.decision_paths`).
        activation: ``"relu"``; or ``"sine"``: periodic tables are read from a circle, by
            units with a sine; or ``"gelu"``: every unit is a GeLU, and ReLUs are made
            of these (`krohn.compiler.gelu_units`).
        uniform: Whether all weights but the position table are the same for every length.
        circle: Whether look-backs tell positions apart on the single circle of
            Proposition 2, whose gap shrinks with the length.
    """

    precision: Precision
    strict: bool = False
    activation: str = "relu"
    uniform: bool = False
    circle: bool = False
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
    program: Program, options: Options, observe: Observer | None = None
) -> Program:
    """Run all passes, each checked, each shown to ``observe`` if given.

    Raises:
        CompileError: If the Program cannot be lowered, or a pass failed its check.
    """
    for step in passes(options):
        rewritten = step.apply(program)
        step.check(program, rewritten)
        program = rewritten
        if observe is not None:
            observe(step.name, program)
    return program


def make_schedule(program: Program, options: Options) -> Schedule:
    """Schedule an optimised Program.

    Raises:
        CompileError: If the format cannot hold its heads.
    """
    code = options.uniform, options.circle
    budget(program, options.precision, options.activation, *code)
    plan = schedule(program, options.most_paths, options.strict)
    check_schedule(plan)
    return plan


def features_of(program: Program, options: Options) -> Positions:
    """The position features that the heads of an optimised Program need."""
    code = options.uniform, options.circle
    return positions(program, options.precision, *code)


def make_layout(plan: Schedule, options: Options) -> tuple[Layout, Positions]:
    """Give every channel of a schedule its dimensions."""
    features = features_of(plan.program, options)
    return allocate(plan, features.sizes, options.strict), features


def arrange(program: Program, options: Options) -> tuple[Layout, Positions]:
    """Schedule an optimised Program and give every channel its dimensions."""
    return make_layout(make_schedule(program, options), options)
