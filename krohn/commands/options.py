"""The options that several commands have, and what commands say."""

import json
import sys
from collections.abc import Callable, Collection, Mapping
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast, get_args

import typer

from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import Complete, Kind
from krohn.algebra.wording import near
from krohn.commands import completion as complete
from krohn.option_rules import Need, refuse, refuse_others
from krohn.program.quoting import lines_only, on_a_line
from krohn.source_kinds import find_source_to_compile, machines

if TYPE_CHECKING:
    from pathlib import Path

    from krohn.algebra.automaton import Automaton
    from krohn.source_kinds import kind as kinds

# The options that several commands have.


Machine = Annotated[
    str,
    typer.Argument(
        metavar="MACHINE",
        help="Zoo name, file (- for standard input), regex:…, formal:…, or another "
        "source by name (krohn zoo).",
        autocompletion=complete.complete_source,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.")
]
Start = Annotated[
    str | None, typer.Option(metavar="STATE", help="Start state by name.")
]
Observe = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Say what a state shows instead of the state: outputs (the machine's "
        "own; the network may be many times larger), stack-top, balance, boundary, "
        "first-chair, occupant, zero, location, accept.",
        autocompletion=complete.completion(complete.list_observations),
    ),
]
SHAPE, SPECIAL = "Form of the weights", "Texts, and sources of real numbers"
"""Names of groups of options in ``--help``."""
EFFORT = typer.Option(
    metavar="LEVEL",
    help="How much to search: low, normal, high, unlimited, or a number of steps.",
    autocompletion=complete.completion(complete.list_efforts),
)
Effort = Annotated[str, EFFORT]


def check(context: typer.Context, needs: Collection[Need]) -> None:
    """Refuse options on the command line that do nothing.

    Raises:
        KrohnError: If one was given.
    """
    refuse(needs, context.params, given_parameters(context))


def given_parameters(context: typer.Context) -> list[str]:
    """The parameters that somebody gave."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return [n for n, source in sources.items() if source and source.name in TYPED]


TYPED = ("COMMANDLINE", "ENVIRONMENT")
"""How typer calls the sources of what somebody said."""


@dataclass(frozen=True)
class FileReading:
    """How the file of a machine is read.

    Attributes:
        complete: What is done about missing transitions.
        read_as: What an AT&T file is read as; None for what its labels say.
        panel: The name of these options in ``--help``; so in other groups.
    """

    panel: ClassVar = "How a machine is read"

    complete: Annotated[
        str,
        typer.Option(
            "--complete",
            metavar="HOW",
            help="Missing transitions of a file: sink (a new state; acceptors have it by "
            "default), stay, or reject the file. Outputs that it does not state are "
            "`undefined`.",
        ),
    ] = "reject"
    read_as: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="KIND",
            help="How to read an AT&T text file: acceptor or mealy (default: as its "
            "labels say).",
        ),
    ] = None

    def check(self) -> None:
        """Refuse values that there are not.

        Raises:
            KrohnError: If there is one.
        """
        if self.complete not in (known := get_args(Complete)):
            hint = near(self.complete, known)
            raise KrohnError(
                f"--complete takes reject, sink or stay, not {self.complete!r}{hint}"
            )
        if self.read_as not in (None, *get_args(Kind)):
            raise KrohnError(f"--as takes acceptor or mealy, not {self.read_as!r}")

    def read(self, source: str, start: str | None = None) -> "Automaton":
        """The machine; what is to be known of how it was read goes to standard error.

        Args:
            source: A name or a file.
            start: Its start state; None for its own.

        Raises:
            KrohnError: If there is none.
        """
        from krohn.machines import read

        self.check()
        machine = read(source, cast(Complete, self.complete), cast(Kind, self.read_as))
        machine = machine if start is None else machine.with_start(start)
        print_remark(machine.remark)
        return machine

    def source(
        self, name: str, given: Collection[str], start: str | None = None
    ) -> "tuple[kinds.Kind[Any], Any]":
        """The source of a name, with its kind.

        Args:
            name: What names it.
            given: The options that were given.
            start: The start state of a machine; None for its own.

        Raises:
            KrohnError: If there is none, or only machines are read in such a way.
        """
        if (other := find_source_to_compile(name)) is None:
            return machines(), self.read(name, start)
        own = [option for option in given if option in vars(self)]
        refuse_others(own, (), other[0].called)
        return other

    def arguments(self) -> list[str]:
        """The options again, where they differ from what is done without them."""
        given = {
            "--complete": None if self.complete == "reject" else self.complete,
            "--as": self.read_as,
        }
        return [f"{option}={value}" for option, value in given.items() if value]


@dataclass(frozen=True)
class PatternReading(FileReading):
    """How a machine is read, of which a regular expression may be written.

    Attributes:
        formal: Whether ``regex:`` is in mathematicians' notation.
    """

    formal: Annotated[
        bool,
        typer.Option(
            "--formal",
            help="Read regex:… in mathematicians' notation, as formal:… does: + is or, "
            "^+ one or more.",
        ),
    ] = False

    def read(self, source: str, start: str | None = None) -> "Automaton":
        """The machine."""
        from krohn.machines import FORMAL, REGEX

        if self.formal:
            if not source.startswith(REGEX):
                raise KrohnError("--formal is for regex:…")
            source = source.replace(REGEX, FORMAL, 1)
        return super().read(source, start)


@dataclass(frozen=True)
class StartedReading(FileReading):
    """How the file of a machine is read, and from which state it starts.

    Attributes:
        start: Its start state; None for its own.
    """

    start: Start = None

    def read(self, source: str, start: str | None = None) -> "Automaton":
        """The machine."""
        return super().read(source, self.start if start is None else start)


@dataclass(frozen=True)
class Wanted:
    """The machine that a model is held against.

    Attributes:
        machine: Its name; None for the file's own.
        start: Its start state.
        observe: The outputs that are seen of it.
        reading: How its file is read.
    """

    panel: ClassVar = "What it is held against"

    machine: Annotated[
        str | None,
        typer.Option(
            metavar="MACHINE",
            help="The machine, or the dynamic program, to hold it against (default: "
            "the file's own).",
        ),
    ] = None
    start: Start = None
    observe: Observe = None
    reading: FileReading = FileReading()

    def read(self) -> "Automaton | None":
        """The machine; None for the file's own.

        Raises:
            KrohnError: If there is none, or it has no such state.
        """
        self.reading.check()
        if self.machine is None:
            return None
        return self.reading.read(self.machine, self.start)

    def arguments(self) -> list[str]:
        """The options again, as they were given."""
        given = {
            "--machine": self.machine,
            "--start": self.start,
            "--observe": self.observe,
        }
        own = [f"{option}={value}" for option, value in given.items() if value]
        return own + self.reading.arguments()


@dataclass(frozen=True)
class Claimed(Wanted):
    """The machine that a model is held against, and the digest of its claim.

    Attributes:
        digest: All of it, or its first digits; None for any.
    """

    digest: Annotated[
        str | None,
        typer.Option(
            metavar="D",
            help="Demand that the claim has this digest; its first 32 digits or more "
            "will do.",
        ),
    ] = None


@dataclass(frozen=True)
class NetworkOptions:
    """The networks of a source, in `explain` and in `compile`."""

    dtype: Annotated[
        str,
        typer.Option(
            help="float64, float32, bfloat16 or float16.",
            autocompletion=complete.completion(complete.list_formats),
        ),
    ] = "float32"
    start: Start = None
    strict: Annotated[
        bool,
        typer.Option(
            help="Plain residuals x + f(x), one hidden layer per MLP.",
            rich_help_panel=SHAPE,
        ),
    ] = False
    keep: Annotated[
        bool,
        typer.Option(
            "--keep",
            help="Each variable keeps its dimensions: none is overwritten.",
            rich_help_panel=SHAPE,
        ),
    ] = False
    activation: Annotated[
        str,
        typer.Option(
            help="relu; sine: counters whose width does not grow with the length; or gelu.",
            rich_help_panel=SHAPE,
        ),
    ] = "relu"
    minimise: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="The size to choose by: depth (blocks that attend), layers (all blocks), "
            "widest (the widest layer, MLPs included), parameters, latency; or compromise: "
            "parameters times blocks squared. If not given: compromise; depth, then "
            "layers, where --construction names one.",
            autocompletion=complete.completion(complete.list_sizes),
        ),
    ] = None
    observe: Observe = None
    block: Annotated[
        int | None,
        typer.Option(
            metavar="B",
            min=1,
            help="Write the state into the text after every B letters, and read it "
            "back: fewer layers, and a pass for each block.",
            rich_help_panel=SPECIAL,
        ),
    ] = None
    effort: Effort = "normal"
    within: Annotated[
        float | None,
        typer.Option(
            metavar="E",
            help="How far an output of a network of real numbers may be off: of hidden "
            "Markov models, kernels, Kalman predictors, posterior heads, and targets of "
            "attention made of functions.",
            rich_help_panel=SPECIAL,
        ),
    ] = None
    norm: Annotated[
        str,
        typer.Option(
            metavar="NORM",
            help="What --within is about, of the kernel of a linear RNN: l1 (outputs, "
            "which is what is proved), l2, hinf or max.",
            rich_help_panel=SPECIAL,
        ),
    ] = "l1"


def expand_option_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose parameters of dataclasses are options: one for each field.

    An option is so written once, in its group, and a command takes few parameters. A
    group whose class has a ``panel`` stands under that name in ``--help``.
    """
    parameters = signature(command).parameters
    flat = [each for p in parameters.values() for each in _options(p, None)]

    @wraps(command)
    def call_command(**given: Any) -> Any:
        return command(**{name: _value(p, given) for name, p in parameters.items()})

    call_command.__signature__ = Signature(flat)  # type: ignore[attr-defined]
    call_command.__annotations__ = {each.name: each.annotation for each in flat}
    return call_command


def _options(parameter: Parameter, panel: str | None) -> list[Parameter]:
    """The options of a parameter: itself, or those of the fields of its dataclass."""
    group = parameter.annotation
    if is_dataclass(group):
        own = getattr(group, "panel", panel)
        return [each for p in _fields(group) for each in _options(p, own)]
    if panel:
        group = _in_panel(group, panel)
    return [parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=group)]


def _in_panel(annotation: Any, panel: str) -> Any:
    """An option under the name of a group, unless it has one of its own."""
    kind, option = get_args(annotation)
    option = copy(option)  # which other groups may have as well
    option.rich_help_panel = option.rich_help_panel or panel
    return Annotated[kind, option]


def _value(parameter: Parameter, given: dict[str, Any]) -> Any:
    """The value of a parameter, from the options that were given."""
    group = parameter.annotation
    if not is_dataclass(group):
        return given[parameter.name]
    assert isinstance(group, type)
    return group(**{p.name: _value(p, given) for p in _fields(group)})


def _fields(group: Any) -> list[Parameter]:
    only = Parameter.KEYWORD_ONLY
    return [
        Parameter(each.name, only, default=each.default, annotation=each.type)
        for each in fields(group)
    ]


# The answers of commands: exit codes and results.


DONE, REFUTED, CANNOT = 0, 1, 2
CODES = {"verified": DONE, "refuted": REFUTED, "undecided": CANNOT}
"""By the verdict that a command comes to."""


def print_remark(remark: str) -> None:
    """Print a remark, if there is one, to standard error."""
    if remark:
        print(f"krohn: {on_a_line(remark)}", file=sys.stderr)


def emit(
    schema: str, result: Mapping[str, Any], as_json: bool, text: Callable[[], None]
) -> None:
    """Print a result as JSON, with the name of its schema; or as ``text`` prints it."""
    if as_json:
        print(json_line(schema, result))
    else:
        with lines_only():
            text()


def say_written(text: Callable[[], None], path: "Path | None") -> Callable[[], None]:
    """What prints a text, and then the file that was written, if one was."""

    def print_both() -> None:
        text()
        if path is not None:
            print(f"wrote {on_a_line(str(path))}")

    return print_both


def json_line(schema: str, result: Mapping[str, Any]) -> str:
    """A result as JSON, which begins with the schema that it follows.

    A number that is not finite, which JSON does not have, is null.
    """
    from krohn import schemas

    payload = schemas.with_schema(schema, result)
    try:
        return json.dumps(payload, ensure_ascii=False, allow_nan=False)
    except ValueError:
        from krohn.program.results import to_object

        return json.dumps(to_object(payload), ensure_ascii=False)
