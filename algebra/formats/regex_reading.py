r"""How a pattern is read: refused where another language may be meant, else with remarks.

People write patterns as mathematicians do, or for search tools. What these mean by the
same signs is said here, sign by sign, so that nothing is another language in silence
(docs/formats.md has the table).
"""

import re
from collections.abc import Iterator, Sequence

from krohn.algebra.errors import MachineError
from krohn.algebra.formats.file_errors import quote

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
