"""Text of files on its way to people: a name holds whatever its author wrote.

Each medium has a function here, and text of a file goes there by no other way: a terminal,
a line of a picture or a page, a Markdown document, a shell, a program. Pages of HTML are
escaped as a whole, by their templates.
"""

import json
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import TextIOBase
from typing import TextIO

SIGNS = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&])")
"""What Markdown may read as more than itself, in a line."""
TICKS = re.compile("`+")


def cut(text: str, limit: int) -> str:
    """A text of at most ``limit`` characters, the last one ``…`` if some are missing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def listed(
    names: Iterable[str], most: int = 12, last: str = "", between: str = ", "
) -> str:
    """Names in a row; of many the first ones, and how many more there are.

    Args:
        names: The names.
        most: So many are written at most, and one more if that is the last.
        last: What stands before the last one, as ``or``.
        between: What stands between others.
    """
    every = list(names)
    if (hidden := len(every) - most) > 1:
        more = f"{hidden:,} more" if last else f"… ({hidden:,} more)"
        every = [*every[:most], more]
    if not last or len(every) < 2:
        return between.join(every)
    return f"{between.join(every[:-1])} {last} {every[-1]}"


def near(name: str, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> str:
    """`` (did you mean scan?)`` where a known name is much like it; else nothing.

    Names that begin with what was asked for come before those that are like it.

    Args:
        name: What was asked for.
        known: The names that there are.
        most: How many of them to say.
        cutoff: How alike they must be, as `difflib.get_close_matches` counts.
    """
    from difflib import get_close_matches  # only who is refused pays for it

    folded, asked = {k.casefold(): k for k in known}, name.casefold()
    longer = sorted(
        (k for k in folded if k.startswith(asked) and len(asked) > 2), key=len
    )
    close = longer[:most] or get_close_matches(asked, list(folded), most, cutoff)
    return f" (did you mean {' or '.join(folded[c] for c in close)}?)" if close else ""


def on_a_line(text: str, limit: int | None = None) -> str:
    """A text on one line; what is not seen, or turns text, is escaped as in Python."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return shown if limit is None else cut(shown, limit)


class Lines(TextIOBase):
    """Standard output on which each call of `print` is a line, whatever names hold."""

    def __init__(self, beneath: TextIO) -> None:
        self.beneath = beneath

    def write(self, text: str) -> int:
        """Write a text, which ends no line."""
        return self.beneath.write(text if text == "\n" else on_a_line(text))

    def flush(self) -> None:
        """Write what is kept."""
        self.beneath.flush()

    def fileno(self) -> int:
        """Its number, by which a reader that has gone is left."""
        return self.beneath.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self.beneath.isatty()


@contextmanager
def lines_only() -> Iterator[None]:
    """Let each call of `print` be a line."""
    with redirect_stdout(Lines(sys.stdout)):
        yield


def kind_of_value(value: object) -> str:
    """What somebody gave, for a message: ``None``, ``an int``, ``a list``."""
    if value is None:
        return "None"
    name = type(value).__name__
    return f"a{'n' * (name[0] in 'AEIOaeio')} {name}"


def on_a_terminal(name: str, apart: str = " ") -> str:
    """A name among others; quoted if empty, or if it has what stands between them.

    It is quoted, too, where a terminal would obey it, or hide a part of it.
    """
    seen = name.isprintable()
    plain = seen and name and not (apart and apart in name)
    return name if plain else json.dumps(name, ensure_ascii=not seen)


def in_python(value: object) -> str:
    """A text, or a list of texts or numbers, as a literal on one line."""
    return repr(value)


def in_markdown(name: str) -> str:
    """A name as code: Markdown reads nothing in it."""
    shown = on_a_line(name)
    ticks = "`" * (_longest(shown) + 1)
    apart = " " * (not shown.strip() or "`" in (shown[0], shown[-1]))
    return f"{ticks}{apart}{shown}{apart}{ticks}"


def markdown_text(text: str) -> str:
    """A sentence that may hold names, as Markdown shows it."""
    return SIGNS.sub(r"\\\1", on_a_line(text))


def markdown_program(text: str) -> str:
    """A program of Python in Markdown, by a fence that is not in it."""
    ticks = "`" * max(3, _longest(text) + 1)
    return f"{ticks}python\n{text}\n{ticks}"


def _longest(text: str) -> int:
    return max(map(len, TICKS.findall(text)), default=0)


def in_shell(text: str) -> str:
    """A text as one word of a shell command, and safe to print.

    What a terminal would obey or hide (escapes, changes of direction) is written as
    ``$'…'``, which bash, zsh and POSIX 2024 know.

    Raises:
        ValueError: If no command line can hold it.
    """
    data = text.encode()
    if b"\0" in data:
        raise ValueError("a NUL ends every argument")
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(map(_in_shell, text)) + "'"


def _in_shell(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if character.isprintable():
        return character
    # Octal: hexadecimal digits that follow would be read as part of the number.
    return "".join(f"\\{byte:03o}" for byte in character.encode())
