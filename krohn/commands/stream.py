"""``krohn run --stream``: letters without an end, and states as they come."""

import codecs
import hashlib
import os
import sys
from collections.abc import Iterator
from io import IncrementalNewlineDecoder
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from krohn.algebra.errors import KrohnError
from krohn.commands.terminal import DONE, emit, progress

if TYPE_CHECKING:
    from krohn.algebra.automaton import Automaton
    from krohn.streams import Stream

CHUNK = 2**16
"""The most bytes that are read at once; what is there is not waited upon for more."""

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
        emit(result, as_json, lambda: print(result["state"]))
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
        *lines, begun = (begun + _decoded(decoder, chunk, "the input")).split("\n")
        yield lines
    yield [begun] if begun else []


def _states(running: "Stream", source: str) -> Iterator[list[int]]:
    """The states after what was read of a file, piece by piece."""
    with progress() as report:
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
    with _opened(source) as file:
        total = 0 if source == "-" else os.fstat(file.fileno()).st_size
        while chunk := file.read1(CHUNK):  # type: ignore[attr-defined]
            done += len(chunk)
            text = begun + _decoded(decoder, chunk, source)
            whole, begun = _cut(text, machine)
            yield _read(whole, machine), done, total
        yield _read(begun, machine), done, total


def _read(text: str, machine: "Automaton") -> list[str]:
    """Its letters; line breaks within a word are where somebody broke lines."""
    from krohn.running import letters_of

    parts = text.split()
    if max(map(len, machine.letters)) > 1 or all(map(machine.letter, parts)):
        return letters_of(text, machine)
    return [letter for part in parts for letter in letters_of(part, machine)]


def _opened(source: str) -> BinaryIO:
    return sys.stdin.buffer if source == "-" else open(source, "rb")


def _decoded(decoder: Any, chunk: bytes, source: str) -> str:
    try:
        return str(decoder.decode(chunk))
    except UnicodeDecodeError:
        raise KrohnError(f"{source} is no text in UTF-8") from None


def _cut(text: str, machine: "Automaton") -> tuple[str, str]:
    """What can be read now, and what may go on in the next piece."""
    longest = max(map(len, machine.letters))
    if longest == 1:
        return text, ""
    end = max(text.rfind(separator) for separator in " \t\r\n,") + 1
    if len(text) - end > longest:
        return text, ""  # no letter is so long: reading it says which is none
    return text[:end], text[end:]
