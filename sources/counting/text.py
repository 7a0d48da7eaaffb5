"""Counting programs as text, in the notation of Yang and Chiang (2024)."""

from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from krohn.program.errors import Refused, demand
from krohn.program.parsing import Language, Misread, Node
from krohn.sources.counting.program import (
    Builder,
    Comparison,
    CountingProgram,
    Counts,
    Formula,
    Junction,
    Letter,
    Negation,
)

# Counting programs as text, in the notation of Yang and Chiang (2024).
#
#     letters a b
#     A := #[j <= i] Q_a(j)
#     B := #[j <= i] Q_b(j)
#     more := A > B
#     always := #[j <= i] (not more) = 0
#
# A line names a formula or a count; a formula joins letters and comparisons by ``not``,
# ``and``, ``or``. The last line is the output. ``(i)`` and ``(j)`` may be left out, and
# signs may be those of logic (``¬ ∧ ∨ ≤ ≥``). ``#`` and a blank at the start of a line,
# or a line of no words, is a remark.


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
            *("PLUS", "MINUS", "_TIMES", "COMPARED", "_AND", "_OR", "QMARK", "_PLACE"),
        ),
        "a name": ("NAME",),
        "'(i)'": ("_PLACE",),
    },
    hints={("COMPARED", "_AND"): "; join comparisons by 'and'"},
)
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
    said = [(n, line.strip()) for n, line in enumerate(lines, 1)]
    said = [(n, line) for n, line in said if line and line[0] != "#"]
    demand(bool(said), f"{file} says nothing; a program begins with: letters a b …")
    number, first = said[0]
    names = tuple(first.split()[1:])
    begins = first.split()[0] == "letters" and names
    demand(begins, f"{file}:{number}: a program begins with: letters a b …")
    demand(len(set(names)) == len(names), f"{file}:{number}: a letter is there twice")
    long = next((n for n, line in said if len(line) > MOST_CHARACTERS), None)
    demand(long is None, f"{file}:{long}: the line is too long")
    reader = _Reader(Builder(names))
    try:
        below = _LANGUAGE.parse("\n" * number + "\n".join([*lines[number:], ""])).parts
    except Misread as wrong:
        place = f"{wrong.line}:{wrong.column}" if wrong.column else wrong.line
        raise Refused(f"{file}:{place}: {wrong.reason}") from None
    for definition in below:
        try:
            reader.define(*definition.parts)
        except Refused as reason:
            raise Refused(f"{file}:{definition.line}: {reason}") from None
    last = reader.last
    demand(
        isinstance(last, int),
        f"{file}: the last line is the output, and must be a formula, not a count",
    )
    assert isinstance(last, int)
    return reader.builder.program(PurePath(file).stem, last)


@dataclass
class _Reader:
    """The reader of a text; a method for each kind of node makes its value."""

    builder: Builder
    known: dict[str, int | Count] = field(default_factory=dict)

    def define(self, name: str, said: Node) -> None:
        """A line: a name, and what it stands for."""
        demand(name not in self.known, f"{name!r} has a meaning already")
        self.known[name] = self._value(said)

    @property
    def last(self) -> int | Count | None:
        """The last line that was read stands for it."""
        return next(reversed(self.known.values()), None)

    def _value(self, node: Node) -> int | Count:
        """A formula or a count, made from its parts in their order."""
        parts = (self._value(p) if isinstance(p, Node) else p for p in node.parts)
        found: int | Count = getattr(self, f"_{node.kind}")(*parts)
        return found

    def _some(self, *parts: int | Count) -> int:
        return self.builder.some(*map(self._formula, parts))

    def _every(self, *parts: int | Count) -> int:
        return self.builder.every(*map(self._formula, parts))

    def _no(self, part: int | Count) -> int:
        return self.builder.no(self._formula(part))

    def _letter(self, name: str) -> int:
        return self.builder.letter(name.removeprefix("Q_").strip('"'))

    def _named(self, name: str) -> int | Count:
        known = ", ".join(self.known) or "none yet"
        demand(
            name in self.known,
            f"{name!r} has no meaning (there are: {known}); the letter is Q_{name}",
        )
        return self.known[name]

    def _compared(self, left: int | Count, sign: str, right: int | Count) -> int:
        first, second = self._counted(left), self._counted(right)
        return self._relation(first, _SAME.get(sign, sign), second)

    def _relation(self, left: Count, relation: str, right: Count) -> int:
        """Whether two counts compare so."""
        builder, found = self.builder, list[int]()
        for when, factors, constant in self._both(left, right, -1).cases:
            least, most = _BETWEEN[relation]
            holds = builder.between(
                factors,
                None if least is None else least - constant,
                None if most is None else most - constant,
            )
            holds = builder.no(holds) if relation == "!=" else holds
            found.append(builder.every(when, holds))
        return builder.some(*found)

    def _sum(self, first: int | Count, *more: Any) -> Count:
        found = self._counted(first)
        for sign, part in zip(more[::2], more[1::2], strict=True):
            found = self._both(found, self._counted(part), 1 if sign == "+" else -1)
        return found

    def _negative(self, _: str, count: int | Count) -> Count:
        return self._times(-1, self._counted(count))

    def _number(self, digits: str) -> Count:
        return Count(((self.builder.every(), {}, _number(digits)),))

    def _scaled(self, digits: str, count: int | Count) -> Count:
        return self._times(_number(digits), self._counted(count))

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
            self._formula(when), self._counted(first), self._counted(second)
        )

    def _extreme(self, name: str, first: int | Count, second: int | Count) -> Count:
        """The smaller or the larger one of two counts."""
        one, other = self._counted(first), self._counted(second)
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

    def _counted(self, value: int | Count) -> Count:
        demand(isinstance(value, Count), "a formula stands where a count is needed")
        assert isinstance(value, Count)
        return value


def _number(digits: str) -> int:
    small = len(digits) <= len(str(LARGEST)) and int(digits) <= LARGEST
    demand(small, f"{digits[:20]} is too large a number")
    return int(digits)


# Counting programs as the text that is read again.


def written(program: CountingProgram) -> str:
    """A program as text that `parse` reads: a line for each formula.

    Letters are named where they are used; the other formulas are ``f0``, ``f1``, ….
    """
    names, lines = list[str](), [f"letters {' '.join(program.letters)}"]
    for formula in program.formulas:
        if isinstance(formula, Letter):
            names.append(f'Q_"{program.letters[formula.letter]}"')
            continue
        names.append(f"f{len(lines) - 1}")
        lines.append(f"{names[-1]} := {_right(formula, names)}")
    if isinstance(program.formulas[program.output], Letter):
        lines.append(f"f{len(lines) - 1} := {names[program.output]}")
    return "\n".join(lines) + "\n"


def _right(formula: Formula, names: list[str]) -> str:
    """The right side of a definition."""
    match formula:
        case Negation(part):
            return f"not {names[part]}"
        case Junction(every, read):
            word = " and " if every else " or "
            return word.join(names[i] for i in read) or str(every).lower()
        case Comparison(counts, least, most):
            total = sum_text(counts, names)
            low = [] if least is None else [f"{total} >= {least}"]
            high = [] if most is None else [f"{total} <= {most}"]
            exact = [f"{total} = {least}"] if least == most else [*low, *high]
            return " and ".join(exact)
    raise AssertionError("a letter cannot be defined")


def sum_text(counts: Counts, names: list[str]) -> str:
    """A sum of counts, by the names of the formulas that are counted."""
    parts = [
        f"{'-' if k < 0 else '+'} {'' if abs(k) == 1 else f'{abs(k)} * '}"
        f"#[j <= i] {names[i]}"
        for i, k in counts
    ]
    return " ".join(parts).removeprefix("+ ")
