"""``krohn run``, and ``krohn run --stream``."""

import codecs
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from io import IncrementalNewlineDecoder
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, TextIO

import typer

from krohn.algebra.errors import KrohnError
from krohn.commands import options as common
from krohn.commands.command import Command
from krohn.commands.options import (
    DONE,
    REFUTED,
    Wanted,
    check,
    emit,
    expand_option_groups,
)
from krohn.commands.progress import progress
from krohn.option_rules import RUN
from krohn.program.word_texts import WordText, whole_part
from krohn.show import network as show
from krohn.source_kinds import find_source_to_compile, of_file

if TYPE_CHECKING:
    from krohn.algebra.automaton import Automaton
    from krohn.network import ModelFileError
    from krohn.replaying import Replay
    from krohn.source_kinds.kind import Runs
    from krohn.streams import Stream

# ``krohn run --stream``: letters without an end, and states as they come.


CHUNK = 2**16
"""The most bytes that are read at once; what is there is not waited upon for more."""

WRITTEN = 12
"""The most characters of JSON for one of a letter."""

PIECE = 1024
"""The most letters after which states are printed."""


def run_stream(file: str, source: str, last: bool, as_json: bool) -> int:
    """Print the state after every letter, or what it came to at the end.

    Raises:
        KrohnError: If the model runs no streams, something is no letter, or Ctrl-C came.
        OSError: If the letters cannot be read.
    """
    import torch

    from krohn.streams import stream

    torch.set_num_threads(1)  # in passes as small as these threads wait for one another
    running = stream(file)
    digest = hashlib.sha256()
    try:
        for states in _states(running, source):
            names = "".join(f"{running.states[q]}\n" for q in states)
            digest.update(names.encode())
            if not (last or as_json):
                sys.stdout.write(names)
                sys.stdout.flush()
    except KeyboardInterrupt:
        state = running.states[int(running.now[0])]
        raise KrohnError(
            f"interrupted after {running.letters:,} letters, in state {state!r}"
        ) from None
    result = {
        "letters": running.letters,
        "state": running.states[int(running.now[0])],
        "sha256": digest.hexdigest(),
    }
    if last or as_json:
        emit("run", result, as_json, lambda: print(result["state"]))
    return DONE


def arriving(stream: TextIO) -> Iterator[list[str]]:
    """The lines of a stream: those together that are there, without waiting for more.

    So who asks line by line is answered line by line, and who gives many at once is not
    answered one by one.
    """
    if not hasattr(stream, "buffer"):  # none that anybody waits for
        yield [line.removesuffix("\n") for line in stream]
        return
    letters = codecs.getincrementaldecoder("utf-8")()
    decoder, begun = IncrementalNewlineDecoder(letters, translate=True), ""
    while chunk := stream.buffer.read1(CHUNK):  # type: ignore[attr-defined]
        *lines, begun = (begun + _decode_chunk(decoder, chunk, "the input")).split("\n")
        yield lines
    yield [begun] if begun else []


def _states(running: "Stream", source: str) -> Iterator[list[int]]:
    """The states after what was read of a file, piece by piece."""
    with progress("reading") as report:
        for letters, done, total in _letters(source, running.machine):
            tokens = running.machine.encode(letters)
            for first in range(0, len(tokens), PIECE):
                yield running.feed(tokens[None, first : first + PIECE])[0].tolist()
            if total:
                report("bytes read", done, total)


def _letters(source: str, machine: "Automaton") -> Iterator[tuple[list[str], int, int]]:
    """Letters of a file, with the bytes that were read and how many there are."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    begun, done = "", 0
    with _open_source(source) as file:
        total = 0 if source == "-" else os.fstat(file.fileno()).st_size
        while chunk := file.read1(CHUNK):  # type: ignore[attr-defined]
            done += len(chunk)
            text = begun + _decode_chunk(decoder, chunk, source)
            whole, begun = _split_ready(text, machine)
            yield _read(whole, machine), done, total
        yield _read(begun, machine), done, total


def _read(text: str, machine: "Automaton") -> list[str]:
    """Its letters; line breaks within a word are where somebody broke lines."""
    from krohn.running import letters_of

    parts = text.split()
    long = max(map(len, machine.letters)) > 1 or '"' in text
    if long or all(map(machine.letter, parts)):
        return letters_of(text, machine)
    return [letter for part in parts for letter in letters_of(part, machine)]


def _open_source(source: str) -> BinaryIO:
    return sys.stdin.buffer if source == "-" else open(source, "rb")


def _decode_chunk(decoder: Any, chunk: bytes, source: str) -> str:
    try:
        return str(decoder.decode(chunk))
    except UnicodeDecodeError:
        raise KrohnError(f"{source} is no text in UTF-8") from None


def _split_ready(text: str, machine: "Automaton") -> tuple[str, str]:
    """The part that can be read now, and the rest, which may go on in the next piece."""
    longest = max(map(len, machine.letters))
    if longest == 1 and '"' not in text:
        return text, ""
    end = whole_part(text)
    if len(text) - end > longest * WRITTEN + 2:
        return text, ""  # no letter is so long: reading it says which is none
    return text[:end], text[end:]


OWN = "--expect-own"


class BareExpect(Command):
    """A command whose ``--expect`` may come without a value."""

    def parse_args(self, context: Any, arguments: list[str]) -> list[str]:
        """Take ``--expect`` for ``--expect-own`` where no value follows."""
        end = arguments.index("--") if "--" in arguments else len(arguments)
        read = [
            OWN if a == "--expect" and i < end and after.startswith("-") else a
            for i, (a, after) in enumerate(pairwise([*arguments, "-"]))
        ]
        return super().parse_args(context, read)


Word = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="WORD",
        help="Letters by name, with spaces between them. Without a word, one word a "
        "line is read from standard input. Of a network that learns in context: a prompt, "
        "or a file with one (docs/kinds/in_context.md).",
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


@dataclass(frozen=True)
class Printed:
    """How a stream, or a text, is printed."""

    stream: Annotated[
        str | None,
        typer.Option(
            "--stream",
            metavar="FILE",
            help="Read letters from a file, or from standard input (-), as one word of any "
            "length: RNNs go on, Transformers begin a segment where the last one ended.",
        ),
    ] = None
    last: Annotated[
        bool, typer.Option("--last", help="With --stream: only the state at the end.")
    ] = False
    steps: Annotated[
        bool,
        typer.Option(
            "--steps",
            help="For each token of a text, print its name and the places that it reads.",
        ),
    ] = False
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print only the answer of a text.")
    ] = False


@expand_option_groups
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
    """Run a model file on words, and print the answer after every letter.

    Nothing is proved here, not even that the file is undamaged: `krohn verify F` does that.

    Examples:
        krohn run turnstile.safetensors coin push push
        krohn run ab.safetensors abab --expect accept
        krohn run s5.safetensors 21345 23451 --json
    """
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
            raise KrohnError(
                "--steps and --quiet are for texts: of dynamic programs and rewriting "
                "systems"
            )
        emit("run", result, as_json, partial(_print, result, printed))
    return DONE


def _to_lines(answers: "Runs") -> Iterator[dict[str, Any]]:
    """Answer the lines of standard input; lines that arrive together run together."""
    done = 0
    for lines in arriving(sys.stdin):
        try:
            for result in answers([WordText(line)] for line in lines):
                yield result
                done += 1
        except KrohnError as error:
            raise KrohnError(f"line {done + 1}: {error}") from None
        sys.stdout.flush()


def _answers(file: str) -> "Runs":
    """The function that answers inputs: a network of a file, or a source's interpreter."""
    from krohn.machines import MODEL
    from krohn.network import modelfile
    from krohn.running import require_answers

    other = None if file.endswith(MODEL) else find_source_to_compile(file)
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
    runs = of_file(model).runs(model)
    return lambda inputs: map(require_answers, runs(inputs))


def _with_remedy(file: str, error: "ModelFileError") -> "KrohnError | ModelFileError":
    """Why a file cannot be run, and what can."""
    from krohn.machines import MODEL, read
    from krohn.network.modelfile import NOT_COMPILED

    if file.endswith(MODEL) and Path(file).exists():
        return error
    how = "krohn compile {} -T 64 -o F.safetensors, then krohn run F.safetensors"
    try:
        read(file)
    except KrohnError:
        why = str(error).removesuffix(NOT_COMPILED)
        return KrohnError(f"{why}; a model file is run: {how.format('MACHINE')}")
    return KrohnError(f"{file} is a machine, and no model file: {how.format(file)}")


def _print(result: dict[str, Any], printed: Printed) -> None:
    """Print the answer of a source in the form that is asked for."""
    if printed.quiet:
        print(result["answer"])
    elif printed.steps:
        for line in show.steps(result["steps"]):
            print(line)
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
        replay = compared(letters, state)
        emit("run", replay.to_object(), as_json, partial(show.replay, replay, state))
        code = code if replay.agrees else REFUTED
    return code


def _comparing(
    file: str, against: Wanted
) -> tuple[Callable[[list[str], str | None], "Replay"], "Automaton"]:
    """The function that compares a model with a machine along a word, and the machine."""
    from krohn.examination import open_trained
    from krohn.replaying import replay
    from krohn.verification_target import open_target

    wanted = against.read()
    trained = open_trained(file, wanted, against.observe)
    if trained is not None:
        return partial(replay, trained.network, trained.machine), trained.machine
    target = open_target(file, wanted, against.observe)
    return target.compare, target.machine
