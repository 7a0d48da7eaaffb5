r"""Regular expressions: acceptors of the words that match from end to end.

The syntax is that of automata-lib: ``|`` or, ``*`` ``+`` ``?`` ``{2,3}`` repetition,
``()`` groups, ``[a-c]`` ``[^a]`` classes, ``.`` any letter of the pattern, ``&`` and,
``^`` shuffle, ``\d`` ``\w`` ``\s`` printable ASCII classes, ``\*`` a sign itself.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.acceptors import Choices, acceptor
from krohn.algebra.formats.files import quote

if TYPE_CHECKING:
    from automata.fa.nfa import NFA

MAX_LENGTH = 2_000
"""The longest pattern, in characters."""

MAX_REPEATS = 2_000
"""The largest product of the numbers in braces."""

MAX_PARTS = 20_000
"""The most states of the automaton with choices that stands for a pattern."""


def from_regex(pattern: str, formal: bool = False) -> Automaton:
    """The smallest complete acceptor of a regular expression.

    It shows ``"accept"`` after each prefix that matches as a whole, else ``"reject"``.
    The letters are the characters of the pattern, sorted; the states are ``"0"``,
    ``"1"``, … in the order of a breadth-first search from the start.

    Args:
        pattern: The expression; the machine's remark says how signs in it are read that
            mean something else elsewhere.
        formal: Whether it is in mathematicians' notation (`formal_regex`).

    Raises:
        MachineError: If the pattern is malformed, has no letters, or needs more states,
            transitions or steps than `krohn.algebra.formats.acceptors` allows.
    """
    if len(pattern) > MAX_LENGTH:
        raise pattern_error(pattern, f"longer than {MAX_LENGTH} characters")
    plain, remark = (to_pattern(pattern), "") if formal else read_signs(pattern)
    nfa = _nfa(plain)
    choices = Choices(
        sorted(nfa.input_symbols), nfa.initial_state, nfa.transitions, nfa.final_states
    )
    machine = acceptor(choices, "pattern", partial(pattern_error, pattern))
    return replace(machine, remark=remark)


def _letters(pattern: str) -> set[str]:
    """The letters that stand for themselves; the library adds classes and escapes.

    Left to itself, it would take the numbers and commas of repetitions for letters.
    """
    tokens = list(TOKEN.finditer(pattern))
    repeats = [int(n) for t in tokens for n in re.findall(r"\d+", t["repeat"] or "")]
    if math.prod(max(n, 1) for n in repeats) > MAX_REPEATS:
        raise pattern_error(pattern, f"repeats over {MAX_REPEATS} times in all")
    if _parts([token[0] for token in tokens]) > MAX_PARTS:
        raise pattern_error(
            pattern,
            f"its shuffles, intersections and repeats need more than {MAX_PARTS} states",
        )
    letters = {token["letter"] for token in tokens if token["letter"]}
    unpaired = {
        *letters & set("[]{}\\"),
        *_unpaired_parenthesis([t["sign"] for t in tokens]),
    }
    if unpaired:
        sign = min(unpaired)
        raise pattern_error(
            pattern, f"{sign!r} has no counterpart; write \\{sign} for the sign itself"
        )
    return letters


def _unpaired_parenthesis(signs: Iterable[str | None]) -> str:
    """The first parenthesis that has no counterpart; empty if there is none."""
    depth = 0
    for sign in signs:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return ")"
    return "(" * (depth > 0)


def _parts(tokens: list[str]) -> int:
    """At least as many states as the library makes for a pattern.

    Two for each sign; shuffles and intersections multiply, all else adds up. ``|``, ``&``
    and ``^`` bind equally, from the left.
    """
    # Of every open group: the size left of its last sign, the sign, and a list of terms.
    groups: list[tuple[int, str, list[int]]] = [(0, "|", [])]
    for token in tokens:
        left, sign, terms = groups[-1]
        if token == "(":
            groups.append((0, "|", []))
        elif token in ("|", "&", "^"):
            groups[-1] = _joint_size(left, sign, terms), token, []
        elif token == ")" and len(groups) > 1:
            groups.pop()
            groups[-1][2].append(_joint_size(left, sign, terms))
        elif token[0] in "*+?{" and terms:
            times = max([1, *map(int, re.findall(r"\d+", token))])
            terms[-1] = (terms[-1] + 1) * times
        else:
            terms.append(2)
    return _joint_size(*groups[-1])


def _joint_size(left: int, sign: str, terms: list[int]) -> int:
    right = sum(terms) or 1
    if sign == "|":
        return left + right + bool(left)
    return left * right


def _nfa(pattern: str) -> "NFA":
    # Imported here, for it takes a while and most machines need no pattern.
    from automata.base.exceptions import RegexException
    from automata.fa.nfa import NFA

    letters = _letters(pattern)
    try:
        nfa = NFA.from_regex(pattern, input_symbols=letters)
    except RegexException as error:
        # The library shows its own objects where the user knows signs.
        reason = " ".join(str(error).rstrip(".").split())
        reason = re.sub(r"'<\w+: (.*?)>'", r"'\1'", reason)
        raise pattern_error(pattern, reason) from error
    except RecursionError as error:
        raise pattern_error(pattern, "nested too deeply") from error
    except Exception as error:
        # Inside of a library anything may fail on a pattern that nobody foresaw.
        raise pattern_error(
            pattern, f"not understood ({type(error).__name__})"
        ) from error
    if not nfa.input_symbols:
        raise pattern_error(pattern, "no letters in it")
    return nfa


# How a pattern is read: refused where another language may be meant, else with remarks.
#
# People write patterns as mathematicians do, or for search tools. What these mean by the
# same signs is said here, sign by sign, so that nothing is another language in silence
# (docs/formats.md has the table).


TOKEN = re.compile(
    r"(?P<repeat>\{\d*(?:,\d*)?\})|(?P<set>\[[^\]]+\])|(?P<escape>\\.)"
    r"|(?P<sign>[()|&^*+?.])|(?P<letter>.)",
    re.S,
)
FORMAL_SIGNS = "∪∩∅·⋅∘εϵλΛΣ∗⁎⁺⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ"
"""Signs that mathematicians write and nobody means as letters."""
KNOWN_ESCAPES = "dwsDWSnrtfv"
"""Letters with a meaning after a backslash."""
AS_FORMAL = "or say formal: instead of regex: for mathematicians' notation"
REMARKS = {
    "+": "'+' is read as one or more ('|' is or; formal: reads + as or)",
    "^": "'^' is read as the shuffle of two words",
    "&": "'&' is read as: words that match both sides",
    ".": "'.' is read as any one letter of the pattern",
    "[^": "'[^…]' is read as any other letter of the pattern",
    " ": "a space is read as a letter",
}
_POSTFIX = re.compile(r"[*+?]|\{.*\}", re.S)
_RANGE = re.compile(r"(\\.|.)-(\\.|.)", re.S)


def read_signs(pattern: str) -> tuple[str, str]:
    """The pattern without anchors, and how signs were read that may mean something else.

    Raises:
        MachineError: If a sign could silently mean another language.
    """
    pattern = _without_anchors(pattern)
    tokens = list(TOKEN.finditer(pattern))
    for i, token in enumerate(tokens):
        before = tokens[i - 1][0] if i else ""
        after = tokens[i + 1][0] if i + 1 < len(tokens) else ""
        if why := _trouble(token, before, after):
            raise pattern_error(pattern, why)
    _check_levels(pattern, [t[0] for t in tokens])
    found = dict.fromkeys(_read_as(tokens))
    return pattern, "; ".join(REMARKS[sign] for sign in found)


def pattern_error(pattern: str, reason: str) -> MachineError:
    """The error that refuses a pattern for a reason."""
    return MachineError(f"the pattern {quote(pattern)} is refused: {reason}")


def _without_anchors(pattern: str) -> str:
    """``^…$`` as search tools write it: the whole word, as is always meant here."""
    body = pattern[1:-1]
    ends = pattern.endswith("$") and not body.endswith("\\")
    if not (pattern.startswith("^") and ends and len(pattern) > 1):
        return pattern
    if any(t[0] == "|" for t in _outside_groups(body)):
        raise pattern_error(
            pattern,
            "'^' and '$' belong to the first and the last alternative only; leave them "
            "out, for a word is matched from end to end",
        )
    return body


def _outside_groups(pattern: str) -> Iterator[re.Match[str]]:
    depth = 0
    for token in TOKEN.finditer(pattern):
        depth += (token[0] == "(") - (token[0] == ")")
        if depth == 0:
            yield token


def _trouble(token: re.Match[str], before: str, after: str) -> str:
    """Why a sign may mean another language; empty if it does not."""
    text = token[0]
    if token["letter"]:
        return _of_letter(text, before, after)
    if token["escape"] or token["set"]:
        return _of_escapes(text) or _of_ranges(text if token["set"] else "")
    if text in ("+", "?") and _POSTFIX.fullmatch(before):
        return (
            f"{before + text!r} may mean or, or how to search; put parentheses around "
            f"what is repeated, write '|' for or, {AS_FORMAL}"
        )
    if text == "?" and before == "(":
        return "'(?' is for search tools; write plain groups"
    if text == "^":
        return _of_hat(before, after)
    if token["repeat"] and not set(text) & set("123456789"):
        return f"{text!r} repeats nothing; say how often, or leave it out"
    return ""


def _of_letter(text: str, before: str, after: str) -> str:
    if text == "$":
        return "words are matched from end to end; leave '$' out, or write \\$"
    if text in FORMAL_SIGNS:
        return f"{text!r} is no letter; write \\{text} for the sign itself, {AS_FORMAL}"
    if text.isspace() and text != " ":
        return "a blank that is no space is written \\t, \\n, \\r, \\v or \\f"
    beside = {before[:1], after[:1]} & set("()|&^*+?{") or not (before and after)
    if text == " " and beside:
        return (
            "a space beside a sign would be a letter; leave it out, write [ ] for the "
            f"letter, {AS_FORMAL}"
        )
    return ""


def _of_hat(before: str, after: str) -> str:
    """A ``^``: an anchor, a superscript, or a shuffle."""
    if not before or before in ("(", "|"):
        return "words are matched from end to end; leave '^' out, or write \\^"
    if after[:1].isdigit() or after[:1] in ("*", "+", "{"):
        return (
            f"'^' shuffles two words and is no power; write {{2}}, * or +, {AS_FORMAL}"
        )
    return ""


def _of_escapes(text: str) -> str:
    for sign in re.findall(r"\\(.)", text, re.S):
        if sign.isascii() and sign.isalnum() and sign not in KNOWN_ESCAPES:
            return f"'\\{sign}' is not known; a letter needs no backslash"
    return ""


def _of_ranges(text: str) -> str:
    for low, high in _RANGE.findall(text[1:-1].removeprefix("^")):
        if any(len(end) > 1 and end[1].isalnum() for end in (low, high)):
            return f"'{low}-{high}' is no range of letters"
        if low[-1] > high[-1]:
            return f"the range '{low}-{high}' is backwards"
    return ""


def _check_levels(pattern: str, tokens: Sequence[str]) -> None:
    """Refuse ``|``, ``&`` and ``^`` side by side: which binds tighter is no custom."""
    levels: list[set[str]] = [set()]
    for text in tokens:
        if text == "(":
            levels.append(set())
        elif text == ")" and len(levels) > 1:
            levels.pop()
        elif text in ("|", "&", "^"):
            levels[-1].add(text)
            if len(levels[-1]) > 1:
                one, other = sorted(levels[-1])
                raise pattern_error(
                    pattern,
                    f"{one!r} and {other!r} stand side by side; say by parentheses which "
                    "comes first",
                )


def _read_as(tokens: Sequence[re.Match[str]]) -> Iterator[str]:
    """The signs that have a reading which is to be told."""
    for i, token in enumerate(tokens):
        text, after = token[0], tokens[i + 1 : i + 2]
        if text == "+":
            operand = bool(after) and not _POSTFIX.fullmatch(after[0][0])
            if operand and after[0][0] not in (")", "|", "&", "^"):
                yield text
        elif text in ("^", "&", ".", " "):
            yield text
        elif text.startswith("[^"):
            yield "[^"


# Regular expressions of mathematicians, as patterns.
#
# ``+``, ``|`` and ``∪`` are or, between two expressions; ``*``, ``^*`` and ``∗``
# repeat, ``^+`` and ``⁺`` at least once, ``^3``, ``^{12}`` and ``³`` so many times;
# ``·`` and ``.`` concatenate, as writing side by side does; ``ε``, ``λ`` and ``()`` are
# the empty word, ``∅`` no word, ``Σ`` any letter of the expression. Spaces mean
# nothing, and a backslash makes a letter of the sign that follows it.


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
