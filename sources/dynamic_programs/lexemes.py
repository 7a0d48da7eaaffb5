"""The words of the text form of dynamic programs, line by line."""

import re
from typing import NamedTuple

from program.errors import Refused, demand

_TOKEN = re.compile(
    r"[ \t]*(?:(?P<name>[^\W\d]\w*)|(?P<number>\d+)|'(?P<letter>[^'\s]+)'"
    r"|(?P<sign>\.\.|//|[=!<>]=|[-+*%<>=()\[\],]))"
)
_OPEN, _CLOSED = "([", ")]"


class Lexeme(NamedTuple):
    """A word of a line.

    Attributes:
        kind: ``name``, ``number``, ``letter``, ``sign`` or ``end``.
        text: What it is.
        line: Where it stands.
    """

    kind: str
    text: str
    line: int


def statements_of(text: str) -> list[list[Lexeme]]:
    """The words of each statement; in open brackets it goes on in the next line."""
    found, current, depth = list[list[Lexeme]](), list[Lexeme](), 0
    for line, whole in enumerate(text.splitlines(), 1):
        said = _without_comment(whole).rstrip()
        at = 0
        while at < len(said):
            match = _TOKEN.match(said, at)
            if match is None or match.lastgroup is None:
                rest = said[at:].strip()[:12]
                raise Refused(f"line {line}: {rest!r} is nothing of the language")
            current.append(Lexeme(match.lastgroup, match[match.lastgroup], line))
            sign = match["sign"] or ""
            depth += (sign != "" and sign in _OPEN) - (sign != "" and sign in _CLOSED)
            at = match.end()
        if current and depth <= 0:
            found.append([*current, Lexeme("end", "the end of the line", line)])
            current, depth = [], 0
    demand(
        not current, f"line {current[0].line if current else 0}: a bracket stays open"
    )
    return found


def _without_comment(line: str) -> str:
    """A line up to a # that is no letter."""
    return re.sub(r"'#'|#.*", lambda m: m[0] if m[0] == "'#'" else "", line)
