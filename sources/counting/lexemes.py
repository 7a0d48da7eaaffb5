"""The words of the text form of counting programs."""

import re
from typing import NamedTuple

from krohn.program.errors import Refused

_TOKEN = re.compile(
    r"(?P<blank>[ \t]+)|(?P<letter>Q_(?:\"[^\"\s]+\"|[^\W_]\w*|[^\w\s]))"
    r"|(?P<count>\#\s*\[\s*j\s*(?:<=|≤|<)\s*i\s*\])"
    r"|(?P<number>\d+)|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign>:=|<=|>=|==|!=|&&|\|\||[≤≥≠¬∧∨⊤⊥<>=&|!~()+\-−*·?:,#])"
)
_SAME = {
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "==": "=",
    "¬": "not",
    "!": "not",
    "~": "not",
    "∧": "and",
    "&": "and",
    "&&": "and",
    "∨": "or",
    "|": "or",
    "||": "or",
    "⊤": "true",
    "⊥": "false",
    "−": "-",
    "·": "*",
}


class Lexeme(NamedTuple):
    """A word of a line: a letter, count, number, name, sign, or the end."""

    kind: str
    text: str


def lexemes_of(line: str) -> list[Lexeme]:
    """The words of a line, the same sign always written in one way.

    Raises:
        Refused: If something is no word of the language.
    """
    found, at = list[Lexeme](), 0
    while at < len(line):
        match = _TOKEN.match(line, at)
        if match is None or match.lastgroup is None:
            raise Refused(f"{line[at : at + 12]!r} is nothing of the language")
        at = match.end()
        if match.lastgroup != "blank":
            found.append(_lexeme(match.lastgroup, match[0]))
    return [*found, Lexeme("end", "")]


def _lexeme(kind: str, text: str) -> Lexeme:
    if kind == "letter":
        return Lexeme(kind, text.removeprefix("Q_").strip('"'))
    if kind == "count":
        return Lexeme(kind, "<" if "<" in text and "<=" not in text else "<=")
    text = _SAME.get(text, text)
    return Lexeme(
        "sign" if text in ("not", "and", "or", "true", "false") else kind, text
    )
