"""The words of the text form of dynamic programs, line by line."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from krohn.program.errors import Refused, demand

_TOKEN = re.compile(
    r"[ \t]*(?:(?P<name>[^\W\d]\w*)|(?P<number>\d+)|'(?P<letter>[^'\s]+)'"
    r"|(?P<sign>\.\.|//|[=!<>]=|[-+*%<>=()\[\],]))"
)
_OPEN, _CLOSED = "([", ")]"

FOLDS = ("min", "max", "sum")
WORDS = (
    *FOLDS,
    "if",
    "then",
    "else",
    "and",
    "or",
    "not",
    "for",
    "in",
    "by",
    "when",
    "of",
)
"""Names that are words of the language."""


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
                raise Refused(
                    f"line {line}: {rest!r} is nothing of the language{_hint(rest)}"
                )
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


def _hint(rest: str) -> str:
    """What may have been meant by what cannot be read."""
    if rest.startswith("/"):
        return "; whole division of indices is written //"
    if rest[:1] == "." and rest[1:2].isdigit():
        return "; numbers are whole"
    return ""


def _without_comment(line: str) -> str:
    """A line up to a # that is no letter."""
    return re.sub(r"'#'|#.*", lambda m: m[0] if m[0] == "'#'" else "", line)


@dataclass
class Words:
    """The words of a statement that is being read.

    Attributes:
        lexemes: Its words.
        at: How many have been read.
        deep: In how many expressions the next word is.
        signs: How many operators have been read.
    """

    lexemes: list[Lexeme]
    at: int = 0
    deep: int = 0
    signs: int = 0

    @property
    def next(self) -> Lexeme:
        """The next word."""
        return self.lexemes[self.at]

    def take(self, *texts: str) -> bool:
        """Whether the next word is one of these; then it is read."""
        is_one = self.next.kind in ("sign", "name") and self.next.text in texts
        self.at += is_one
        return is_one

    def expect(self, text: str) -> None:
        """Read a word that must be there."""
        demand(self.take(text), f"{self.here}: {text!r} is missing before {self._next}")

    @property
    def here(self) -> str:
        """The line, for messages."""
        return f"line {self.next.line}"

    @property
    def _next(self) -> str:
        lexeme = self.next
        return lexeme.text if lexeme.kind == "end" else repr(lexeme.text[:20])

    def name(self) -> str:
        """Read a name."""
        lexeme = self.next
        free = lexeme.kind == "name" and lexeme.text not in WORDS
        demand(free, f"{self.here}: a name is missing before {self._next}")
        self.at += 1
        return lexeme.text

    def several(self, one: Callable[[], Any]) -> tuple[Any, ...]:
        """One or more of a kind, with commas between."""
        found = [one()]
        while self.take(","):
            found.append(one())
        return tuple(found)

    def bracketed(self, one: Callable[[], Any]) -> tuple[Any, ...]:
        """The same in square brackets."""
        self.expect("[")
        found = self.several(one)
        self.expect("]")
        return found
