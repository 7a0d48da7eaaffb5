"""Small languages: their grammars are data, files that end with ``.lark``.

A grammar lies beside the module that reads its trees. The parser is an LALR(1) table:
it takes linear time and no recursion, whatever a text says. lark makes it when the first
text is read, and is imported then.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from krohn.program.errors import Refused

if TYPE_CHECKING:
    from lark import Lark, Token
    from lark.exceptions import UnexpectedToken

DEEPEST = 100
"""Nodes above one another, and open brackets: what reads a tree may recurse."""
_OPENING, _CLOSING = ("LPAR", "LSQB", "LBRACE"), ("RPAR", "RSQB", "RBRACE")
_ENDS = {
    "_NL": "the end of the line",
    "_END": "the end of the line",
    "$END": "the end of the text",
}


class Node(NamedTuple):
    """A node of a tree.

    Attributes:
        kind: The rule of the grammar, or its alias.
        parts: Nodes and words, but for the words that the rule itself says; None for
            what may stand in ``[ ]`` of the grammar and does not.
        line: Where its first part begins, from 1; 0 if it has no parts.
        column: The column there, from 1; 0 if it has no parts.
        deep: How many nodes are above one another in it.
    """

    kind: str
    parts: tuple[Any, ...]
    line: int
    column: int
    deep: int


class Misread(Refused):
    """A text is none of its language; the message names the line and the column.

    Attributes:
        line: From 1.
        column: From 1; 0 if a whole line is meant.
        reason: What is found there, and what is expected.
        expected: What is expected, one by one; nothing if that does not matter.
    """

    def __init__(
        self, line: int, column: int, reason: str, expected: tuple[str, ...] = ()
    ) -> None:
        place = f"line {line}, column {column}" if column else f"line {line}"
        super().__init__(f"{place}: {reason}")
        self.line, self.column, self.reason = line, column, reason
        self.expected = expected


@dataclass(frozen=True)
class Language:
    """A language.

    Attributes:
        grammar: The file of its grammar, whose first rule is ``start``. A terminal
            ``_NL`` is the end of a line, and left out in open brackets; ``_END`` is one
            that is never left out.
        phrases: What messages call several terminals at once: a phrase is said where its
            first terminal is expected, and stands for all of them.
        hints: What to add to a message, by what is found (a terminal, or a character
            that begins none, with ""), and a terminal that is expected.
        lexer: ``"contextual"`` where the same signs are other terminals in other places.
    """

    grammar: Path
    phrases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hints: Mapping[tuple[str, str], str] = field(default_factory=dict)
    lexer: Literal["basic", "contextual"] = "basic"

    def parse(self, text: str) -> Node:
        """The tree of a text.

        Args:
            text: The text; if the grammar has ends of lines, the last one has its, too.

        Raises:
            Misread: If it is none of the language, or nested deeper than ``DEEPEST``.
        """
        from lark.exceptions import UnexpectedCharacters, UnexpectedToken

        try:
            tree: Any = self._parser.parse(text)
        except UnexpectedCharacters as error:
            line, column = error.line, error.column
            rest = text.split("\n")[line - 1][column - 1 :].strip()[:12]
            hint = self.hints.get((error.char, ""), "")
            reason = f"{rest!r} is nothing of the language{hint}"
            raise Misread(line, column, reason) from None
        except UnexpectedToken as error:
            raise self._misread(text, error) from None
        assert isinstance(tree, Node)
        return tree

    @cached_property
    def _parser(self) -> "Lark":
        from lark import Lark

        return Lark(
            self.grammar.read_text(encoding="utf-8"),
            parser="lalr",
            lexer=self.lexer,
            postlex=_Brackets(),
            tree_class=_node,
        )

    def _misread(self, text: str, error: "UnexpectedToken") -> Misread:
        token, opened = error.token, _find_open_bracket(error.state.value_stack)
        if opened is not None and token.type == "$END":
            reason = f"the {str(opened)!r} stays open"
            return Misread(opened.line or 0, opened.column or 0, reason)
        # The parser that failed has put the words before together, as if the expression
        # ended there; another one that stops before the wrong word knows how it may go on.
        parser = self._parser.parse_interactive(text)
        for each in parser.iter_parse():
            if token.type != "$END" and each.start_pos == token.start_pos:
                break
        accepted: set[str] = parser.accepts()  # type: ignore[no-untyped-call]
        actual = _ENDS.get(token.type, repr(str(token)[:20]))
        expected = self._name_expected(accepted)
        hints = [self.hints.get((token.type, name), "") for name in sorted(accepted)]
        *others, last = expected
        alternatives = f"{', '.join(others)} or {last}" if others else last
        reason = f"expected {alternatives}, found {actual}{''.join(hints)}"
        if opened is not None and opened != "{" and opened.line != error.line:
            reason += f"; the {str(opened)!r} of line {opened.line} is still open"
        return Misread(error.line, error.column, reason, expected)

    def _name_expected(self, terminals: set[str]) -> tuple[str, ...]:
        """Names of the expected terminals, for messages."""
        known = {each.name: each.pattern for each in self._parser.terminals}
        phrases, left = list[str](), set(terminals)
        for phrase, names in self.phrases.items():
            if names[0] in left:
                phrases.append(phrase)
                left.difference_update(names)
        phrases += sorted(repr(known[x].value) for x in left - _ENDS.keys())
        return (*phrases, *(_ENDS[x] for x in sorted(left & _ENDS.keys())))


class _Brackets:
    """Leaves out the ends of lines in open brackets, of which it bounds the depth."""

    always_accept = ()

    def process(self, stream: Iterator["Token"]) -> Iterator["Token"]:
        deep = 0
        for token in stream:
            deep += (token.type in _OPENING) - (token.type in _CLOSING)
            _check_depth(deep, token.line or 0)
            if token.type != "_NL" or deep <= 0:
                yield token


def _find_open_bracket(stack: Sequence[Any]) -> "Token | None":
    """The innermost bracket that is open after what was read so far."""
    words: list[Token] = [each for each in stack if hasattr(each, "type")]
    closed = 0
    for word in reversed(words):
        closed += (word.type in _CLOSING) - (word.type in _OPENING)
        if closed < 0:
            return word
    return None


def _check_depth(deep: int, line: int) -> None:
    if deep > DEEPEST:
        raise Misread(line, 0, f"nested too deeply: more than {DEEPEST} levels")


def _node(kind: str, parts: list[Any]) -> Any:
    """The node that stands for a rule and its parts."""
    if kind.startswith("_"):  # its parts become those of the rule around it
        return SimpleNamespace(children=parts)
    places = ((part.line, part.column) for part in parts if part is not None)
    line, column = next(places, (0, 0))
    deep = 1 + max((part.deep for part in parts if isinstance(part, Node)), default=0)
    _check_depth(deep, line)
    words = (str(p) if isinstance(p, str) else p for p in parts)
    return Node(str(kind), tuple(words), line, column, deep)
