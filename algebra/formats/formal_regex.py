"""Regular expressions of mathematicians, as patterns of `krohn.algebra.formats.regex`.

``+``, ``|`` and ``∪`` are or, between two expressions; ``*``, ``^*`` and ``∗`` repeat,
``^+`` and ``⁺`` at least once, ``^3``, ``^{12}`` and ``³`` so many times; ``·`` and ``.``
concatenate, as writing side by side does; ``ε``, ``λ`` and ``()`` are the empty word,
``∅`` no word, ``Σ`` any letter of the expression. Spaces mean nothing, and a backslash
makes a letter of the sign that follows it.
"""

import re
from collections.abc import Sequence

from krohn.algebra.formats.regex_reading import pattern_error

_TOKEN = re.compile(
    r"\\.|\^\s*\{\s*(?:\d+|\*|∗|⁎|\+)\s*\}|\^\s*(?:\d+|[*∗⁎+])|[⁰¹²³⁴⁵⁶⁷⁸⁹]+|\S", re.S
)
_UNION, _CONCATENATED, _STAR = "+|∪", "·⋅∘.", "*∗⁎"
_EMPTY_WORDS, _EMPTY, _ANY = "εϵλΛ", "∅", "Σ"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺", "0123456789+")
_UNKNOWN = "^[]{}&?$∩ⁿ\\"
_MOST_NESTED = 100
"""Groups within groups: the library that reads patterns goes no deeper by far."""


def to_pattern(text: str) -> str:
    """The pattern of a formal expression.

    Raises:
        MachineError: If it is malformed, or has no letters.
    """
    tokens = _TOKEN.findall(text)
    letters = sorted({_letter(t) for t in tokens if _is_letter(t)})
    if not letters:
        raise pattern_error(text, "no letters in it")
    return _Reader(text, tokens, letters).whole()


def _is_letter(token: str) -> bool:
    signs = "()" + _UNION + _CONCATENATED + _STAR + _EMPTY_WORDS + _EMPTY + _ANY
    if len(token) > 1:
        return token[0] == "\\"
    return token not in signs + _UNKNOWN and not _power(token)


def _letter(token: str) -> str:
    """A letter as a pattern, whatever sign it is."""
    sign = token[-1]
    return sign if sign.isalnum() and sign.isascii() else f"\\{sign}"


def _power(token: str) -> str:
    """A postfix sign as a pattern; empty if it is none.

    ``^`` with braces, a superscript or a star.
    """
    sign = token.translate(_SUPERSCRIPTS)
    if token in tuple(_STAR):
        return "*"
    if token.startswith("^") and len(token) > 1:
        inner = re.sub(r"[\s^{}]", "", token)
        return inner if inner == "+" else "*" if inner in _STAR else f"{{{inner}}}"
    if sign == token:
        return ""
    return sign if sign == "+" else f"{{{sign}}}"


class _Reader:
    """Recursive descent: unions of products of powers."""

    def __init__(self, text: str, tokens: Sequence[str], letters: list[str]) -> None:
        self.text, self.tokens, self.at, self.depth = text, tokens, 0, 0
        self.any = "(" + "|".join(letters) + ")"
        # No word is one a and two of them at the same time.
        self.none = f"({letters[0]}&{letters[0] * 2})"

    def whole(self) -> str:
        found = self._union()
        if self._next:
            raise pattern_error(self.text, "')' closes nothing")
        return found

    @property
    def _next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _union(self) -> str:
        parts = [self._product()]
        while self._next and self._next in _UNION:
            self.at += 1
            parts.append(self._product())
        return "|".join(parts)

    def _product(self) -> str:
        parts = [self._repetition()]
        while self._next and self._next not in _UNION + ")":
            self.at += self._next in _CONCATENATED
            parts.append(self._repetition())
        return "".join(parts)

    def _repetition(self) -> str:
        found = self._atom()
        while sign := _power(self._next):
            if re.fullmatch(r"\^\s*\d\d+", self._next):
                raise pattern_error(self.text, f"put the power in braces: ^{sign}")
            self.at += 1
            # What repeats no times keeps its letters: it is the empty word, or that
            # followed by no word.
            none = f"(()|({found}){self.none})"
            found = none if set(sign) <= set("{0}") else f"({found}{sign})"
        return found

    def _atom(self) -> str:
        token = self._next
        self.at += 1
        if token == "(":
            return self._group()
        if token and token in _EMPTY_WORDS:
            return "()"
        if token in (_EMPTY, _ANY):
            return self.none if token == _EMPTY else self.any
        if not _is_letter(token) or not token:
            raise pattern_error(self.text, self._missing_expression(token))
        return _letter(token)

    def _group(self) -> str:
        self.depth += 1
        if self.depth > _MOST_NESTED:
            raise pattern_error(self.text, "nested too deeply")
        found = "" if self._next == ")" else self._union()
        if self._next != ")":
            raise pattern_error(self.text, "'(' is not closed")
        self.at += 1
        self.depth -= 1
        return f"({found})"

    def _missing_expression(self, token: str) -> str:
        if token and token in _UNKNOWN:
            return f"{token!r} means nothing here; write \\{token} for the sign itself"
        before = self.tokens[self.at - 2] if self.at > 1 else ""
        if before == "+" and token in ("", ")"):
            return "'+' is or, and nothing follows it; write ^+ for one or more"
        where = f"before {token!r}" if token else "at the end"
        return f"an expression is missing {where}"
