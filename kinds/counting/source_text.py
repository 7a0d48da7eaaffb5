"""Counting programs as text, in the notation of Yang and Chiang (2024).

    letters a b
    A := #[j <= i] Q_a(j)
    B := #[j <= i] Q_b(j)
    more := A > B
    always := #[j <= i] (not more) = 0

A line names a formula or a count; a formula joins letters and comparisons by ``not``,
``and``, ``or``. The last line is the output. A letter may stand in double quotes, as JSON
writes a string, in the first line as after ``Q_``. ``(i)``, outside of counts, and ``(j)``,
in them, may be left out, and signs may be those of logic (``¬ ∧ ∨ ≤ ≥``). ``#`` and a
blank at the start of a line, or a line of no words, is a remark.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path, PurePath
from typing import Any

from krohn.kinds.counting.source_program import (
    Builder,
    Comparison,
    CountingProgram,
    Counts,
    Formula,
    Junction,
    Letter,
    Names,
    Negation,
    parts,
)
from krohn.program.errors import Refused, demand, told_as
from krohn.program.parsing import Language, Misread, Node

SUFFIX = ".crasp"
MOST_CHARACTERS, MOST_LINES, MOST_CASES = 2_000, 10_000, 256
"""Of a line, of a text, and of the cases of a count."""
LARGEST = 10**6
"""The largest number that may be written."""
_BETWEEN: dict[str, tuple[int | None, int | None]] = {
    ">=": (0, None),
    ">": (1, None),
    "<=": (None, 0),
    "<": (None, -1),
    "=": (0, 0),
    "!=": (0, 0),
}
"""Between which numbers a difference lies if it compares so; or does not, for !=."""
_SAME = {"≤": "<=", "≥": ">=", "≠": "!=", "==": "="}
_FORMULA = ("LETTER", "NAME", "_TRUE", "_FALSE", "COUNT", "EXTREME", "LPAR")
_LANGUAGE = Language(
    Path(__file__).with_name("grammar.lark"),
    phrases={
        "a formula or a count": ("NUMBER", *_FORMULA, "_NOT", "MINUS"),
        "a formula": ("_NOT", *_FORMULA),
        "a count": ("COUNT", *_FORMULA),
        "an operator": (
            *("PLUS", "MINUS", "_TIMES", "COMPARED", "_AND", "_OR", "QMARK", "PLACE"),
        ),
        "a name": ("NAME",),
        "'(i)'": ("PLACE",),
    },
    hints={("COMPARED", "_AND"): "; join comparisons by 'and'"},
)
_PLAIN = re.compile(r"[^\W_]\w*|[()\[\]{}<>]")
"""The letters that need no quotes after ``Q_``."""
_WORDS = re.compile(r'"(?:[^"\\]|\\.)*+"(?!\S)|\S++')
"""What stands between blanks; those in quotes are part of it."""
_PLACE = re.compile(r"\([ \t]*[ij][ \t]*\)")
Sum = dict[int, int]
Case = tuple[int, Sum, int]
"""A formula that says when, the counts by their factors, and what is added to them."""


@dataclass(frozen=True)
class Count:
    """A number at each position, by cases of which exactly one holds."""

    cases: tuple[Case, ...]


def parse(text: str, file: str) -> CountingProgram:
    """The counting program of a text.

    Args:
        text: The lines.
        file: The name of its file; the program has it without the suffix.

    Raises:
        Refused: If a line is wrong; the message names it.
    """
    lines = text.splitlines()
    demand(len(lines) <= MOST_LINES, f"{file} has more than {MOST_LINES} lines")
    numbered_lines = [(n, line.strip()) for n, line in enumerate(lines, 1)]
    numbered_lines = [
        (n, line) for n, line in numbered_lines if line and line[0] != "#"
    ]
    demand(
        bool(numbered_lines),
        f"{file} says nothing; a program begins with: letters a b …",
    )
    number, first = numbered_lines[0]
    begins, *words = _WORDS.findall(first)
    demand(
        begins == "letters" and words,
        f"{file}:{number}: a program begins with: letters a b …",
    )
    with told_as(Refused, f"{file}:{number}: "):
        names = tuple(map(_unquote_letter, words))
    demand(len(set(names)) == len(names), f"{file}:{number}: a letter is there twice")
    long = next((n for n, line in numbered_lines if len(line) > MOST_CHARACTERS), None)
    demand(long is None, f"{file}:{long}: the line is too long")
    reader = _Reader(Builder(names))
    try:
        below = _LANGUAGE.parse("\n" * number + "\n".join([*lines[number:], ""])).parts
    except Misread as wrong:
        place = f"{wrong.line}:{wrong.column}" if wrong.column else wrong.line
        raise Refused(f"{file}:{place}: {wrong.reason}") from None
    for definition in below:
        with told_as(Refused, f"{file}:{definition.line}: "):
            reader.define(*definition.parts)
    last = reader.last
    demand(
        isinstance(last, int),
        f"{file}: the last line is the output, and must be a formula, not a count",
    )
    assert isinstance(last, int)
    return reader.builder.program(PurePath(file).stem, last, *reader.names())


@dataclass
class _Reader:
    """The reader of a text; a method for each kind of node makes its value."""

    builder: Builder
    known: dict[str, int | Count] = field(default_factory=dict)

    def define(self, name: str, *said: Any) -> None:
        """A line: a name, its place if that is said, and what it stands for."""
        demand(name not in self.known, f"{name!r} has a meaning already")
        _check_places([name, *said], "i")
        self.known[name] = self._value(said[-1])

    def names(self) -> tuple[Names, Names]:
        """The names of formulas, and of counts of one formula, with its number."""
        formulas, counts = list[tuple[str, int]](), list[tuple[str, int]]()
        for name, value in self.known.items():
            match value:
                case int():
                    formulas.append((name, value))
                case Count(((_, factors, 0),)) if [*factors.values()] == [1]:
                    counts.append((name, next(iter(factors))))
        return tuple(formulas), tuple(counts)

    @property
    def last(self) -> int | Count | None:
        """The last line that was read stands for it."""
        return next(reversed(self.known.values()), None)

    def _value(self, node: Node) -> int | Count:
        """A formula or a count, made from its parts in their order."""
        parts = (self._value(p) if isinstance(p, Node) else p for p in node.parts)
        value: int | Count = getattr(self, f"_{node.kind}")(*parts)
        return value

    def _some(self, *parts: int | Count) -> int:
        return self.builder.some(*map(self._formula, parts))

    def _every(self, *parts: int | Count) -> int:
        return self.builder.every(*map(self._formula, parts))

    def _no(self, part: int | Count) -> int:
        return self.builder.no(self._formula(part))

    def _letter(self, name: str, _: str = "") -> int:
        return self.builder.letter(_unquote_letter(name.removeprefix("Q_")))

    def _named(self, name: str, _: str = "") -> int | Count:
        known = ", ".join(self.known) or "none yet"
        demand(
            name in self.known,
            f"{name!r} has no meaning (there are: {known}); the letter is Q_{name}",
        )
        return self.known[name]

    def _compared(self, left: int | Count, sign: str, right: int | Count) -> int:
        first, second = self._demand_count(left), self._demand_count(right)
        return self._relation(first, _SAME.get(sign, sign), second)

    def _relation(self, left: Count, relation: str, right: Count) -> int:
        """Whether two counts compare so."""
        builder, formulas = self.builder, list[int]()
        for when, factors, constant in self._both(left, right, -1).cases:
            least, most = _BETWEEN[relation]
            holds = builder.sum_between(
                factors,
                None if least is None else least - constant,
                None if most is None else most - constant,
            )
            holds = builder.no(holds) if relation == "!=" else holds
            formulas.append(builder.every(when, holds))
        return builder.some(*formulas)

    def _sum(self, first: int | Count, *more: Any) -> Count:
        total = self._demand_count(first)
        for sign, part in zip(more[::2], more[1::2], strict=True):
            total = self._both(
                total, self._demand_count(part), 1 if sign == "+" else -1
            )
        return total

    def _negative(self, _: str, count: int | Count) -> Count:
        return self._times(-1, self._demand_count(count))

    def _number(self, digits: str) -> Count:
        return Count(((self.builder.every(), {}, _number(digits)),))

    def _scaled(self, digits: str, count: int | Count) -> Count:
        return self._times(_number(digits), self._demand_count(count))

    def _count(self, sign: str, part: int | Count) -> Count:
        """At how many positions so far a formula held, with this one or without."""
        counted = self._formula(part)
        if "<" not in sign or "<=" in sign:
            return Count(((self.builder.every(), {counted: 1}, 0),))
        other = self.builder.no(counted)
        return Count(((counted, {counted: 1}, -1), (other, {counted: 1}, 0)))

    def _chosen(
        self, when: int | Count, first: int | Count, second: int | Count
    ) -> Count:
        return self._split(
            self._formula(when), self._demand_count(first), self._demand_count(second)
        )

    def _extreme(self, name: str, first: int | Count, second: int | Count) -> Count:
        """The smaller or the larger one of two counts."""
        one, other = self._demand_count(first), self._demand_count(second)
        when = self._relation(one, "<=" if name == "min" else ">=", other)
        return self._split(when, one, other)

    def _split(self, when: int, first: Count, second: Count) -> Count:
        """One count where a formula holds, and another one elsewhere."""
        other = self.builder.no(when)
        return Count((*self._where(when, first), *self._where(other, second)))

    def _where(self, when: int, count: Count) -> list[Case]:
        return [
            (self.builder.every(when, case), factors, constant)
            for case, factors, constant in count.cases
        ]

    def _both(self, left: Count, right: Count, factor: int) -> Count:
        """The sum of two counts, the second one times a factor, in every two cases."""
        many = len(left.cases) * len(right.cases) <= MOST_CASES
        demand(many, f"a count has more than {MOST_CASES} cases")
        cases = []
        for first, some, constant in left.cases:
            for second, others, more in right.cases:
                factors = dict(some)
                for i, k in others.items():
                    factors[i] = factors.get(i, 0) + factor * k
                when = self.builder.every(first, second)
                cases.append((when, factors, constant + factor * more))
        return Count(tuple(cases))

    def _times(self, number: int, count: Count) -> Count:
        return Count(
            tuple(
                (when, {i: number * k for i, k in factors.items()}, number * constant)
                for when, factors, constant in count.cases
            )
        )

    def _formula(self, value: int | Count) -> int:
        demand(isinstance(value, int), "a count stands where a formula is needed")
        assert isinstance(value, int)
        return value

    def _demand_count(self, value: int | Count) -> Count:
        demand(isinstance(value, Count), "a formula stands where a count is needed")
        assert isinstance(value, Count)
        return value


def _check_places(parts: Sequence[Any], here: str) -> None:
    """Refuse another place than that of a formula: i, and j of what is counted.

    Args:
        parts: The parts of a node.
        here: The place; empty in counts that name none, as ``#P``.
    """
    for before, part in zip(["", *parts], parts, strict=False):
        if isinstance(part, Node):
            sign = str(part.parts[0]) if part.kind == "count" else None
            inside = here if sign is None else "j" * ("[" in sign)
            _check_places(part.parts, inside)
        elif here and _PLACE.fullmatch(part) and part.strip("( \t)") != here:
            where = "outside of" if here == "i" else "in"
            raise Refused(f"{where} a count #[j <= i] write {before}({here})")


def _unquote_letter(word: str) -> str:
    """The letter that a word stands for, with quotes or without.

    Raises:
        Refused: If it may have been meant otherwise.
    """
    if len(word) == 1:
        return word
    if word[0] == '"':
        with suppress(ValueError):
            letter = json.loads(word)
            demand(letter, "a letter needs a name")
            return str(letter)
    demand(
        word[0] not in "\"'" and word[-1] != ",",
        f"letters have blanks between them; if {word} is one, write {json.dumps(word)}",
    )
    return word


def _number(digits: str) -> int:
    small = len(digits) <= len(str(LARGEST)) and int(digits) <= LARGEST
    demand(small, f"{digits[:20]} is too large a number")
    return int(digits)


# Counting programs as the text that is read again.


LONG = 60
"""A formula with so many signs has a line and a name of its own."""
ATOM, CONDITION, EVERY, SOME = range(4)
"""How loosely a text holds together: what binds more loosely stands in brackets."""


def write_program(program: CountingProgram) -> str:
    """A program as text that `parse` reads: short lines, with the names that it has.

    A formula that is used once stands where it is used. Others without a name are
    ``f0``, ``f1``, ….
    """
    return _Writer(program).text()


class _Writer:
    """The writer of a program's text, line by line.

    Attributes:
        lines: Those so far.
        said: For each formula so far: its text where it is used, and how loosely this
            holds together.
    """

    def __init__(self, program: CountingProgram) -> None:
        self.program = program
        spelled = (a if _is_bare(a) else json.dumps(a) for a in program.letters)
        self.lines = [f"letters {' '.join(spelled)}"]
        self.said = list[tuple[str, int]]()
        self._names, self._counted = _by_number(program.names), dict[int, str]()
        self._taken = {name for name, _ in (*program.names, *program.counts)}
        read = [i for formula in program.formulas for i in parts(formula)]
        self._once = {i for i in read if read.count(i) == 1}

    def text(self) -> str:
        """All lines."""
        program, counts = self.program, _by_number(self.program.counts)
        for number, formula in enumerate(program.formulas):
            self.said.append(self._name_formula(number, formula))
            if number in counts and number != program.output:
                self._define(counts[number], f"#[j <= i] {self._in(number, ATOM)}")
                self._counted[number] = counts[number]
        return "\n".join(self.lines) + "\n"

    def _name_formula(self, number: int, formula: Formula) -> tuple[str, int]:
        """The text of a formula where it is used; a line for it, if it needs one."""
        last, text, loose = number == self.program.output, *self._right(formula)
        short = isinstance(formula, Letter) or (
            number in self._once and len(text) < LONG
        )
        if not last and short and number not in self._names:
            return text, loose
        name = self._names.get(number) or self._new()
        if isinstance(formula, Letter) and not last:
            return text, loose
        self._define(name, text)
        return name, ATOM

    def _define(self, name: str, text: str) -> None:
        self.lines.append(f"{name} := {text}")

    def _new(self) -> str:
        """A name that nothing has."""
        name = next(n for n in map("f{}".format, count()) if n not in self._taken)
        self._taken.add(name)
        return name

    def _in(self, number: int, most: int) -> str:
        """The text of a formula, in brackets if it holds together too loosely."""
        text, loose = self.said[number]
        return text if loose <= most else f"({text})"

    def _right(self, formula: Formula) -> tuple[str, int]:
        match formula:
            case Letter(letter):
                return _letter_text(self.program.letters[letter]), ATOM
            case Negation(part):
                return f"not {self._in(part, ATOM)}", CONDITION
            case Junction(every, ()):
                return str(every).lower(), ATOM
            case Junction(True, read):
                return " and ".join(self._in(i, CONDITION) for i in read), EVERY
            case Junction(_, read):
                return " or ".join(self._in(i, EVERY) for i in read), SOME
            case Comparison(counts, least, most):
                return self._write_comparison(counts, least, most)

    def _write_comparison(
        self, counts: Counts, least: int | None, most: int | None
    ) -> tuple[str, int]:
        texts = [
            self._counted.get(i) or f"#[j <= i] {self._in(i, ATOM)}" for i, _ in counts
        ]
        falls = any(k < 0 for _, k in counts)
        if least == most or (not falls and not least and most == 0):
            return _relation(counts, texts, "=", most or 0), CONDITION
        low = [] if least is None else [_relation(counts, texts, ">=", least)]
        high = [] if most is None else [_relation(counts, texts, "<=", most)]
        loose = EVERY if low and high else CONDITION
        return " and ".join([*low, *high]), loose


def _relation(counts: Counts, texts: Sequence[str], sign: str, number: int) -> str:
    """A sum compared with a number, without negative numbers: what falls is right."""
    both = [*zip(counts, texts, strict=True)]
    sides = [
        [((i, abs(k)), text) for (i, k), text in both if (k < 0) == right]
        for right in (False, True)
    ]
    left, right = (
        [sum_text([c for c, _ in side], [text for _, text in side])] if side else []
        for side in sides
    )
    if right and (sign, number) in ((">=", 1), ("<=", -1)):
        return f"{left[0]} {sign[0]} {right[0]}"
    left += [str(-number)] if number < 0 else []
    right += [str(number)] if number > 0 or not right else []
    return f"{' + '.join(left)} {sign} {' + '.join(right)}"


def _by_number(names: Names) -> dict[int, str]:
    """From numbers to the first name of each."""
    return {number: name for name, number in reversed(names)}


def _letter_text(name: str) -> str:
    """The formula that the letter is here: short if no quotes are needed."""
    return f"Q_{name}" if _PLAIN.fullmatch(name) else f"Q_{json.dumps(name)}"


def _is_bare(name: str) -> bool:
    """Whether a letter of the first line needs no quotes."""
    return name.isprintable() and not set(name) & set(" \"',")


def sum_text(counts: Sequence[tuple[int, int]], texts: Sequence[str]) -> str:
    """A sum of counts, by the text of each count in their order."""
    summands = [
        f"{'-' if k < 0 else '+'} {'' if abs(k) == 1 else f'{abs(k)} * '}{text}"
        for (_, k), text in zip(counts, texts, strict=True)
    ]
    return " ".join(summands).removeprefix("+ ")
