r"""Regular expressions: acceptors of the words that match from end to end.

A pattern means what ``re.fullmatch`` of Python's says of words over printable ASCII and
the letters that the pattern names, or it is refused. Mathematicians' notation is read,
too. What stands where, say the grammars beside; here is what each sign means.

People write patterns as mathematicians do, or for search tools. What these mean by the
same signs is said sign by sign, so that nothing is another language in silence
(docs/formats.md has the table).
"""

import re
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats.expressions import (
    Concatenation,
    Expression,
    Intersection,
    OneOf,
    Repetition,
    Union,
    acceptor_of,
    letters_of,
)
from krohn.algebra.formats.files import quote
from krohn.program.parsing import Language, Misread, Node

MAX_LENGTH = 2_000
"""The longest pattern, in characters."""

MAX_RANGE = 10_000
"""The most letters of a range."""

AS_FORMAL = "or say formal: instead of regex: for mathematicians' notation"
_EMPTY_WORDS = re.compile(r"(?<![^\W\d_])(?:eps|epsilon|lambda)(?![^\W\d_])")
_LISTED = re.compile(r"\[\^?+[^\]\\|,]++([|,])[^\]\\|,]++(?:\1[^\]\\|,]++)*+\]")
_BETWEEN_QUOTES = re.compile(r"""[rb]?(["'`]).*\1""", re.S)
_BETWEEN_SLASHES = re.compile(
    r"/.*/[gimsuxy]{0,7}|(?:m|qr|g)/[^/]*+/[a-z]{0,7}|(?:s|y|tr)/[^/]*+/[^/]*+/[a-z]{0,7}",
    re.S,
)


def from_regex(pattern: str, formal: bool = False) -> Automaton:
    """The smallest complete acceptor of a regular expression.

    It shows ``"accept"`` after each prefix that matches as a whole, else ``"reject"``.
    The letters are the characters that the expression names or stands for, sorted; the
    states are ``"0"``, ``"1"``, … in the order of a breadth-first search from the start.

    Args:
        pattern: The expression; the machine's remark says how signs in it are read that
            mean something else elsewhere.
        formal: Whether it is in mathematicians' notation.

    Raises:
        MachineError: If it is malformed, may mean another language, has no letters, or
            needs more states, transitions or steps than `acceptor_of` allows.
    """
    refuse = partial(_refusal, pattern)
    if len(pattern) > MAX_LENGTH:
        raise refuse(f"longer than {MAX_LENGTH} characters")
    if _BETWEEN_SLASHES.fullmatch(pattern):
        raise refuse(
            "it stands between slashes, as search tools write it; leave the slashes out, "
            "and what is beside them, or write [/] for the letter"
        )
    try:
        tree = (_FORMAL if formal else _PATTERN).parse(pattern)
    except Misread as wrong:
        raise refuse(_misread(pattern, wrong, formal)) from None
    if formal:
        expression = _formal(tree.parts[0], refuse)
        letters = _letters(expression)
        machine = acceptor_of(expression, letters, "expression", refuse)
        return replace(machine, remark="; ".join(_remarks_on_words(pattern, letters)))
    reader = _Reader(refuse)
    expression = reader.whole(tree)
    universe = _letters(expression) | _PRINTABLE
    for place, text in reader.open_places.items():
        if not place.letters(universe):
            raise refuse(f"no printable ASCII character is meant by {quote(text)}")
    machine = acceptor_of(expression, universe, "pattern", refuse)
    words = _remarks_on_words(pattern, _letters(expression))
    return replace(machine, remark="; ".join(filter(None, (reader.remark, *words))))


def _refusal(pattern: str, reason: str) -> MachineError:
    return MachineError(f"the pattern {quote(pattern)} is refused: {reason}")


def _misread(pattern: str, wrong: Misread, formal: bool) -> str:
    """What is wrong with the signs of an expression."""
    if wrong.column == 0:  # it is nested too deeply
        return wrong.reason
    hint = "" if formal else "; close it, or write a backslash before the sign itself"
    if formal and not wrong.expected:
        sign = pattern.split("\n")[wrong.line - 1][wrong.column - 1 :][:1]
        hint = f"; write \\{sign} for the sign itself"
        if sign == "\\":
            hint = f"{hint}, and + ∩ · ε ∅ Σ where LaTeX has words"
    return f"at character {wrong.column}, {wrong.reason}{hint}"


def _remarks_on_words(pattern: str, letters: frozenset[str]) -> list[str]:
    """How letters are read that people write for signs which keyboards lack."""
    remarks = [
        f"{word!r} is read letter by letter, not as the empty word, which is ()"
        for word in dict.fromkeys(_EMPTY_WORDS.findall(pattern))
    ]
    if len(letters) > 1 and [a for a in letters if a.isupper()] == ["U"]:
        remarks.append("'U' is read as a letter, not as or, which is '|'")
    if _BETWEEN_QUOTES.fullmatch(pattern):
        remarks.append("the quotes around it are read as letters")
    return remarks


def _letters(expression: Expression) -> frozenset[str]:
    return frozenset().union(*(place.explicit for place in letters_of(expression)))


_Refuse = Callable[[str], MachineError]


# Patterns. Letters are printable ASCII, and whatever a pattern names besides.


_PATTERN = Language(Path(__file__).with_name("pattern.lark"), lexer="contextual")
_PRINTABLE = frozenset(map(chr, range(0x20, 0x7F)))
_DIGITS, _LETTERS = string.digits, string.ascii_letters
_BLANKS = " \t\n\r\f\v"
_SHORTHANDS = {
    "d": OneOf(frozenset(_DIGITS), (str.isdecimal,)),
    "w": OneOf(
        frozenset(_LETTERS + _DIGITS + "_"), (lambda a: a == "_" or a.isalnum(),)
    ),
    "s": OneOf(frozenset(_BLANKS), (str.isspace,)),
    "D": OneOf(tests=(lambda a: not a.isdecimal(),)),
    "W": OneOf(tests=(lambda a: a != "_" and not a.isalnum(),)),
    "S": OneOf(tests=(lambda a: not a.isspace(),)),
}
"""The letters that they write out, and which other ones of a pattern they mean."""
_ANY = OneOf(tests=(lambda a: a != "\n",))
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_POSIX = {
    "alnum": _LETTERS + _DIGITS,
    "alpha": _LETTERS,
    "blank": " \t",
    "digit": _DIGITS,
    "graph": _LETTERS + _DIGITS + string.punctuation,
    "lower": string.ascii_lowercase,
    "print": _LETTERS + _DIGITS + string.punctuation + " ",
    "punct": string.punctuation,
    "space": _BLANKS,
    "upper": string.ascii_uppercase,
    "word": _LETTERS + _DIGITS + "_",
    "xdigit": string.hexdigits,
}
_FORMAL_SIGNS = "∪⋃∨∩⋂∅·⋅∘•∖¬⊕∈εϵɛλΛΣ∗⁎⋆⁺⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ"
"""Signs that mathematicians write and nobody means as letters."""
_REMARKS = {
    "+": "'+' is read as one or more ('|' is or; formal: reads + as or)",
    ".": "'.' is read as any printable ASCII character (Σ in formal: is any letter of "
    "the expression)",
    "[^": "'[^…]' is read as any other printable ASCII character",
    "\\D": "'\\D', '\\W' and '\\S' are read as printable ASCII characters",
    "&": "'&' is read as a letter (formal: reads & as: words that match both sides)",
    " ": "a space is read as a letter",
    "{": "'{' begins no repetition and is read as a letter",
    "]": "']' closes no class and is read as a letter",
    "&&": "'&&', '||' and '~~' within brackets are letters, not operations on classes",
    "[|]": "'|' and ',' within brackets are letters",
    "A-z": "a range from 'A' to 'z' has the signs between 'Z' and 'a', such as _ and ^",
    "^": "a word is matched from end to end, also where '^' or '$' is left out",
}
_GROUPS = {
    "(?=": "looks ahead",
    "(?!": "looks ahead",
    "(?<=": "looks back",
    "(?<!": "looks back",
    "(?>": "is an atomic group, which forgets ways to match",
    "(?#": "is a comment",
    "(?P=": "refers back to a group",
    "(?(": "is a condition",
}
_BOUNDARIES = {"b": "a boundary of words", "B": "a place within words"}
_UNREPEATABLE = {
    "": "{} repeats nothing; write the sign itself with a backslash",
    "quantifier": "{} repeats a repetition; put parentheses around what is repeated",
    "first": f"'^' before {{}} is no power; write {{{{2}}}}, * or +, {AS_FORMAL}",
    "last": "{} repeats the end of a word; leave it out",
}
"""What a quantifier cannot follow."""


class _Item(NamedTuple):
    """An item of a sequence, and the quantifier that follows it, or nothing."""

    node: Node
    quantifier: str

    @property
    def bounds(self) -> tuple[int, int | None]:
        """How often at least, and at most; None for any number of times."""
        sign = self.quantifier
        if not sign.startswith("{"):
            return {"": (1, 1), "?": (0, 1), "+": (1, None)}.get(sign[:1], (0, None))
        least, comma, most = sign.strip("{}?+").partition(",")
        if not comma:
            most = least
        return int(least or 0), int(most) if most else None


@dataclass
class _Reader:
    """What a pattern means.

    Attributes:
        refuse: The error with a reason.
        open_places: Where letters stand that are not all named, each with its text.
    """

    refuse: _Refuse
    open_places: dict[OneOf, str] = field(default_factory=dict)
    _signs: dict[str, None] = field(default_factory=dict)
    _posix: dict[str, None] = field(default_factory=dict)
    _groups: set[str] = field(default_factory=set)

    @property
    def remark(self) -> str:
        """How signs were read that may mean something else."""
        classes = [f"'[:{name}:]' is read as the POSIX class" for name in self._posix]
        return "; ".join([*(_REMARKS[sign] for sign in self._signs), *classes])

    def whole(self, tree: Node) -> Expression:
        """The expression of a whole pattern."""
        choice, *stray = tree.parts
        if stray:
            raise self.refuse("')' has no counterpart; write \\) for the sign itself")
        return self._choice(_without_anchors(choice), True, True)

    def _choice(self, node: Node, first: bool, last: bool) -> Expression:
        if node.kind == "sequence":
            return self._sequence(node.parts, first, last)
        return Union([self._sequence(part.parts, first, last) for part in node.parts])

    def _sequence(self, nodes: tuple[Node, ...], first: bool, last: bool) -> Expression:
        """The expression of nodes side by side.

        Args:
            nodes: The nodes.
            first: Whether every word begins here.
            last: Whether every word ends here.
        """
        self._check_spaces(nodes)
        items = [*self._items(nodes)]
        anchors = [item.node.kind in ("first", "last") for item in items]
        parts = list[Expression]()
        for i, item in enumerate(items):
            once = item.bounds[1] in (0, 1)
            begins = first and once and all(anchors[:i])
            ends = last and once and all(anchors[i + 1 :])
            if anchors[i]:
                self._check_anchor(item.node, begins, ends)
            else:
                parts.append(self._repetition(item, begins, ends))
            if item.quantifier == "+" and i + 1 < len(items):
                self._signs["+"] = None
        return parts[0] if len(parts) == 1 else Concatenation(parts)

    def _check_spaces(self, nodes: tuple[Node, ...]) -> None:
        """Refuse a space beside a sign, which may be there for the eye only."""
        signs = ("group", "quantifier", "first")
        for i, node in enumerate(nodes):
            beside = nodes[i - 1 : i] + nodes[i + 1 : i + 2]
            alone = len(beside) < 2 or any(each.kind in signs for each in beside)
            if node.parts == (" ",) and node.kind == "character" and alone:
                raise self.refuse(
                    "a space beside a sign would be a letter; leave it out, write [ ] "
                    f"for the letter, {AS_FORMAL}"
                )

    def _items(self, nodes: tuple[Node, ...]) -> Iterator[_Item]:
        """The nodes with their quantifiers."""
        before = ""
        for node, after in zip_longest(nodes, nodes[1:]):
            if node.kind != "quantifier":
                follows = after is not None and after.kind == "quantifier"
                yield _Item(node, after.parts[0] if follows else "")
            elif before in _UNREPEATABLE:
                raise self.refuse(_UNREPEATABLE[before].format(quote(node.parts[0])))
            before = node.kind

    def _check_anchor(self, node: Node, begins: bool, ends: bool) -> None:
        (sign,) = node.parts
        self._signs["^"] = None
        if not (begins if node.kind == "first" else ends):
            where = "begins" if node.kind == "first" else "ends"
            sign_itself = f", or write \\{sign} for the sign itself" * (len(sign) == 1)
            power = f"; it is no power: write {{2}}, * or +, {AS_FORMAL}"
            raise self.refuse(
                f"{sign!r} stands where not every word {where}; leave it out"
                f"{sign_itself}{power * (sign == '^')}"
            )

    def _repetition(self, item: _Item, first: bool, last: bool) -> Expression:
        sign = item.quantifier
        part = self._part(item.node, first, last)
        if not sign:
            return part
        if len(sign) > 1 and sign.endswith("+"):
            raise self.refuse(
                f"{quote(sign)} may mean or, or how to search; put parentheses around what "
                f"is repeated, write '|' for or, {AS_FORMAL}"
            )
        least, most = item.bounds
        if most is not None and least > most:
            raise self.refuse(f"{quote(sign)} repeats at least more often than at most")
        return Repetition(part, least, most)

    def _part(self, node: Node, first: bool, last: bool) -> Expression:
        match node.kind:
            case "group":
                opening, choice, _ = node.parts
                self._check_group(opening)
                return self._choice(choice, first, last)
            case "character":
                return self._character(node.parts[0])
            case "any":
                self._signs["."] = None
                return _ANY
            case "escape":
                (text,) = node.parts
                return self._place(self._escape(text, _CONTROLS), text)
            case _:
                return self._class(node)

    def _place(self, place: OneOf, text: str) -> OneOf:
        if place.is_open:
            self.open_places.setdefault(place, text)
        return place

    def _character(self, sign: str) -> OneOf:
        if sign in _FORMAL_SIGNS:
            raise self.refuse(
                f"{sign!r} is no letter; write \\{sign} for the sign itself, {AS_FORMAL}"
            )
        if sign.isspace() and sign != " ":
            raise self.refuse(
                "a blank that is no space is written \\t, \\n, \\r, \\v or \\f"
            )
        if sign in "&{] ":
            self._signs[sign] = None
        return OneOf(frozenset(sign))

    def _escape(self, text: str, controls: dict[str, str]) -> OneOf:
        """The letters that a backslash and what follows it mean."""
        sign, digits = text[1:2], text[2:]
        if not sign:
            raise self.refuse(
                "it ends with a backslash; write \\\\ for the sign itself"
            )
        if sign in _SHORTHANDS:
            if sign.isupper():
                self._signs["\\D"] = None
            return _SHORTHANDS[sign]
        if sign in controls:
            return OneOf(frozenset(controls[sign]))
        if sign in "xuU":
            wanted = {"x": 2, "u": 4, "U": 8}[sign]
            return OneOf(
                self._character_of(
                    text, int(digits, 16) if len(digits) == wanted else -1
                )
            )
        if sign in _DIGITS:
            octal = sign == "0" or len(digits) == 2 or controls is not _CONTROLS
            if not octal or sign in "89":
                raise self.refuse(
                    f"{text!r} refers back to a group; write the words out"
                )
            code = int(text[1:], 8)
            return OneOf(self._character_of(text, code if code < 0o400 else -1))
        if sign in _BOUNDARIES:
            raise self.refuse(f"{text!r} asks for {_BOUNDARIES[sign]}; leave it out")
        if sign.isascii() and sign.isalpha():
            raise self.refuse(f"{text!r} is not known; a letter needs no backslash")
        return OneOf(frozenset(sign))

    def _character_of(self, text: str, code: int) -> frozenset[str]:
        if not 0 <= code < 0x110000 or 0xD800 <= code < 0xE000:
            raise self.refuse(f"{text!r} is the number of no character")
        return frozenset(chr(code))

    def _class(self, node: Node) -> OneOf:
        negation, *members = node.parts
        text = (
            "[" + (negation or "") + "".join("-".join(m.parts) for m in members) + "]"
        )
        if re.fullmatch(r"\[:\^?\w+:\]", text):
            raise self.refuse(f"{text!r} stands within brackets: [{text}]")
        places = [self._member(member.parts) for member in members]
        if negation:
            self._signs["[^"] = None
        if _LISTED.fullmatch(text):
            self._signs["[|]"] = None
        if any(twice in text for twice in ("&&", "||", "~~")):
            self._signs["&&"] = None
        letters = frozenset().union(*(each.explicit for each in places))
        tests = tuple(dict.fromkeys(test for each in places for test in each.tests))
        return self._place(OneOf(letters, tests, negated=bool(negation)), text)

    def _member(self, ends: Sequence[str]) -> OneOf:
        """The letters of a member of a class: of one sign, or from one to another."""
        places = [self._one_of(end) for end in ends]
        if len(ends) == 1:
            return places[0]
        text = "-".join(ends)
        if any(len(each.explicit) != 1 or each.is_open for each in places):
            raise self.refuse(f"{text!r} is no range of letters")
        low, high = (ord(*each.explicit) for each in places)
        if low > high:
            raise self.refuse(f"the range {text!r} is backwards")
        if high - low >= MAX_RANGE:
            raise self.refuse(f"the range {text!r} has more than {MAX_RANGE} letters")
        if "A" <= chr(low) <= "Z" and "a" <= chr(high) <= "z":
            self._signs["A-z"] = None
        if low < 0xE000 and high >= 0xD800:
            raise self.refuse(f"the range {text!r} has numbers of no characters")
        return OneOf(frozenset(map(chr, range(low, high + 1))))

    def _one_of(self, text: str) -> OneOf:
        if text.startswith("\\"):
            return self._escape(text, _CONTROLS | {"b": "\b"})
        if len(text) == 1:
            return OneOf(frozenset(text))
        name = text[2:-2]
        if name not in _POSIX:
            raise self.refuse(
                f"there is no class {quote(text)}; there are {', '.join(_POSIX)}"
            )
        self._posix[name] = None
        return OneOf(frozenset(_POSIX[name]))

    def _check_group(self, opening: str) -> None:
        if opening in ("(", "(?:"):
            return
        name = opening[4:-1]
        if opening.startswith("(?P<") and name.isidentifier():
            if name in self._groups:
                raise self.refuse(f"two groups are named {quote(name)}")
            self._groups.add(name)
            return
        if opening.rstrip(":")[2:].replace("-", "").isalpha() and opening[2] != "P":
            raise self.refuse(
                f"{quote(opening)} sets flags of a search; write [aA] for a letter of "
                "any case"
            )
        known = [what for sign, what in _GROUPS.items() if opening.startswith(sign)]
        reason = known[0] if known else "is no group that Krohn knows"
        raise self.refuse(f"{quote(opening)} {reason}; write plain groups")


def _without_anchors(choice: Node) -> Node:
    """What ``^…$`` is around; the whole word is always meant."""
    kinds = [item.kind for item in choice.parts]
    if choice.kind == "sequence" and kinds[:1] + kinds[-1:] == ["first", "last"]:
        return choice._replace(parts=choice.parts[1:-1])
    return choice


# Regular expressions of mathematicians.
#
# ``+``, ``|`` and ``∪`` are or, ``&`` and ``∩`` and, between two expressions; ``*``,
# ``^*`` and ``∗`` repeat, ``^+`` and ``⁺`` at least once, ``^3``, ``^{12}`` and ``³`` so
# many times; ``·`` and ``.`` concatenate, as writing side by side does; ``ε``, ``λ`` and
# ``()`` are the empty word, ``∅`` no word, ``Σ`` any letter of the expression. Spaces
# mean nothing, and a backslash makes a letter of the sign that follows it.


_OR_HINT = "; '+' is or, between two expressions (^+ is one or more)"
_FORMAL = Language(
    Path(__file__).with_name("formal.lark"),
    phrases={
        "an expression": ("LETTER", "EMPTY_WORD", "NOTHING", "ANY", "LPAR"),
        "'+'": ("_OR",),
        "'∩'": ("_AND",),
        "'·'": ("_DOT",),
        "a power": ("POWER",),
    },
    hints={
        ("$END", "LETTER"): _OR_HINT,
        ("RPAR", "LETTER"): _OR_HINT,
        ("_OR", "LETTER"): _OR_HINT,
        ("_AND", "_OR"): "; say by parentheses which comes first",
        ("_OR", "_AND"): "; say by parentheses which comes first",
    },
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺∗⁎", "0123456789+**")


def _formal(node: Node, refuse: _Refuse) -> Expression:
    """The expression of a tree in mathematicians' notation."""
    match node.kind:
        case "letter":
            return OneOf(frozenset(node.parts[0][-1]))
        case "any":
            return OneOf(negated=True)
        case "nothing":
            return OneOf()
        case "empty_word":
            return Concatenation(())
        case "power":
            base, *powers = node.parts
            part = _formal(base, refuse)
            for power in powers:
                part = Repetition(part, *_exponent(power, refuse))
            return part
    parts = [_formal(part, refuse) for part in node.parts]
    match node.kind:
        case "union":
            return Union(parts)
        case "intersection":
            return Intersection(parts)
        case _:
            return Concatenation(parts)


def _exponent(power: str, refuse: _Refuse) -> tuple[int, int | None]:
    """How often at least and at most a power repeats."""
    sign = re.sub(r"[\s^{}]", "", power.translate(_SUPERSCRIPTS))
    if re.fullmatch(r"\^\s*\d\d+", power):
        raise refuse(f"put the power in braces: ^{{{sign}}}")
    if sign in ("*", "+"):
        return int(sign == "+"), None
    return int(sign), int(sign)
