"""``krohn run``."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from krohn import show
from krohn.algebra.errors import KrohnError
from krohn.commands import options as common
from krohn.commands.options import Wanted, check, grouped
from krohn.commands.stream import arriving, run_stream
from krohn.commands.terminal import DONE, REFUTED, emit
from krohn.option_rules import RUN
from krohn.source_kinds import named, of_file

if TYPE_CHECKING:
    from krohn.algebra.automaton import Automaton
    from krohn.network.modelfile import ModelFileError
    from krohn.replaying import Replay
    from krohn.source_kinds.kind import Runs

OWN = "--expect-own"


class BareExpect(TyperCommand):
    """A command whose ``--expect`` may come without a value."""

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        """Take ``--expect`` for ``--expect-own`` where no value follows."""
        following = [*arguments[1:], "-"]
        end = arguments.index("--") if "--" in arguments else len(arguments)
        read = [
            OWN if a == "--expect" and i < end and after.startswith("-") else a
            for i, (a, after) in enumerate(zip(arguments, following, strict=True))
        ]
        return super().parse_args(context, read)


Word = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="WORD",
        help="Letters by name, with spaces between them. Without a word, one word a "
        "line is read from standard input. Of a network that learns in context: a prompt, "
        "or a file with one (docs/in-context.md).",
    ),
]
Expect = Annotated[
    str | None,
    typer.Option(
        metavar="[STATE]",
        help="Exit with 1 unless the model says STATE after the word: an output of the "
        "machine, or a state; without a STATE (put it last, or -- after it): unless it "
        "says what the machine does after every letter.",
    ),
]
ExpectOwn = Annotated[bool, typer.Option(OWN, hidden=True)]


Streamed = Annotated[
    str | None,
    typer.Option(
        "--stream",
        metavar="FILE",
        help="Read letters from a file, or from standard input (-), as one word of any "
        "length: RNNs go on, Transformers begin a segment where the last one ended.",
    ),
]
Last = Annotated[
    bool, typer.Option("--last", help="With --stream: only the state at the end.")
]
Steps = Annotated[
    bool,
    typer.Option(
        "--steps", help="Of a text: each token, what it is called, and what it reads."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Of a text: only the answer.")]


@dataclass(frozen=True)
class Printed:
    """How a stream, or a text, is printed."""

    stream: Streamed = None
    last: Last = False
    steps: Steps = False
    quiet: Quiet = False


@grouped
def run(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="F",
            help="A model file; or a dynamic program, which is run without one.",
        ),
    ],
    word: Word = None,
    *,
    expect: Expect = None,
    expect_own: ExpectOwn = False,
    printed: Printed,
    against: Wanted,
    as_json: common.Json = False,
) -> int:
    """Run a model on a word and print what it says after every letter."""
    check(context, RUN)
    against.reading.check()
    if printed.stream is not None:
        return run_stream(file, printed.stream, printed.last, as_json)
    if expect is not None or expect_own:
        return _compare(file, word, expect, against, as_json)
    text_only = printed.steps or printed.quiet
    answers = _answers(file)
    for result in answers([word]) if word else _to_lines(answers):
        if text_only and "steps" not in result:
            raise no_text()
        emit(result, as_json, partial(_print, result, printed))
    return DONE


def _to_lines(answers: "Runs") -> Iterator[dict[str, Any]]:
    """What is said of the lines of standard input, of those together that are there."""
    done = 0
    for lines in arriving(sys.stdin):
        try:
            for result in answers([line] for line in lines):
                yield result
                done += 1
        except KrohnError as error:
            raise KrohnError(f"line {done + 1}: {error}") from None
        sys.stdout.flush()


def _answers(file: str) -> "Runs":
    """What answers inputs: the network of a file; of some sources their interpreter."""
    from krohn.machines import MODEL
    from krohn.network import modelfile

    other = None if file.endswith(MODEL) else named(file)
    if other is not None:
        says = other[0].interpreter(other[1])
        if says is None:
            raise KrohnError(
                f"{file} is {other[0].called}, and no model file; compile it, and run what "
                "is written"
            )
        return partial(map, says)
    try:
        model = modelfile.read(file)
    except modelfile.ModelFileError as error:
        raise _with_remedy(file, error) from None
    return of_file(model).runs(model)


def _with_remedy(file: str, error: "ModelFileError") -> "KrohnError | ModelFileError":
    """Why a file cannot be run, and what can."""
    from krohn.machines import MODEL, read
    from krohn.network.errors import ModelFileError

    if file.endswith(MODEL) and Path(file).exists():
        return error
    how = "krohn compile {} -T 64 -o F.safetensors, then krohn run F.safetensors"
    try:
        read(file)
    except (KrohnError, ModelFileError):
        return KrohnError(f"{error}; a model file is run: {how.format('MACHINE')}")
    return KrohnError(f"{file} is a machine, and no model file: {how.format(file)}")


def no_text() -> KrohnError:
    """The error of options that are for texts."""
    return KrohnError(
        "--steps and --quiet are for texts: of dynamic programs and rewriting systems"
    )


def _print(result: dict[str, Any], printed: Printed) -> None:
    """What a source says, as it is asked for."""
    if printed.quiet:
        print(result["answer"])
    elif printed.steps:
        print(show.steps(result["steps"]))
    else:
        show.answers(result)
    if "note" in result and (printed.quiet or printed.steps):
        print(result["note"])


def _words(word: list[str] | None, machine: "Automaton") -> Iterator[list[str]]:
    """The word of the command, or those of standard input."""
    from krohn.running import letters_given, letters_of

    if word:
        yield letters_given(word, machine)
        return
    for line in sys.stdin:
        yield letters_of(line, machine)


def _compare(
    file: str, word: list[str] | None, state: str | None, against: Wanted, as_json: bool
) -> int:
    """Hold the answers against what is expected."""
    compared, machine = _comparing(file, against)
    code = DONE
    for letters in _words(word, machine):
        found = compared(letters, state)
        emit(found.to_object(), as_json, partial(show.replay, found, state))
        code = code if found.agrees else REFUTED
    return code


def _comparing(
    file: str, against: Wanted
) -> tuple[Callable[[list[str], str | None], "Replay"], "Automaton"]:
    """What holds a model against its machine along a word, and that machine."""
    from krohn.open_target import open_target
    from krohn.replaying import held
    from krohn.trained import open_trained

    wanted = against.read()
    trained = open_trained(file, wanted, against.observe)
    if trained is not None:
        return partial(held, trained.network, trained.machine), trained.machine
    target = open_target(file, wanted, against.observe)
    return target.compare, target.machine
