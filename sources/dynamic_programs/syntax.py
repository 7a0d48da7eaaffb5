"""The text form of dynamic programs: its grammar, and what is said of wrong lines."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from krohn.program.errors import Refused, demand
from krohn.program.parsing import Language, Misread, Node

MOST_TEXT, MOST_DIGITS = 2**16, 9
"""Characters of a text; digits of a number."""
HEADS = ("name", "size", "option", "let", "alphabet", "input", "table", "answer")
"""The words that begin a line."""
_NAMES = ("WORD", "LETTERS", *map(str.upper, HEADS))
_LANGUAGE = Language(
    Path(__file__).with_name("grammar.lark"),
    phrases={
        "a value": (
            *("NUMBER", "LETTER", "FOLD", "LPAR", "LSQB", "MINUS", "IF", "NOT"),
            *_NAMES,
        ),
        "a name": _NAMES,
        "an operator": (
            *("PLUS", "MINUS", "STAR", "DIVIDED", "PERCENT", "COMPARED", "AND", "OR"),
        ),
    },
    hints={
        ("COMPARED", "AND"): "; join comparisons by 'and'",
        ("LPAR", "LSQB"): "; indices stand in [ ], and functions are min, max and sum",
        ("/", ""): "; whole division of indices is written //",
        (".", ""): "; numbers are whole",
    },
)


def parse(text: str) -> Sequence[Node]:
    """The statements of a text.

    Raises:
        Refused: With the line that is malformed.
    """
    demand(len(text) <= MOST_TEXT, f"the text has more than {MOST_TEXT} characters")
    lines = text.splitlines()
    try:
        return _LANGUAGE.parse("\n".join([*lines, ""])).parts
    except Misread as wrong:
        head = "".join(lines[wrong.line - 1].split()[:1])
        if wrong.expected == ("'['",) and head not in HEADS:
            near = get_close_matches(head, HEADS, 1)
            meant = f" ({near[0]}?)" if near else ""
            raise Refused(
                f"line {wrong.line}: no line begins with {head!r}{meant}; lines begin "
                f"with {', '.join(HEADS)}, or are about a cell, as D[i] = …"
            ) from None
        raise
