"""Counting programs as text, in the notation of Yang and Chiang (2024).

    letters a b
    A := #[j <= i] Q_a(j)
    B := #[j <= i] Q_b(j)
    more := A > B
    always := #[j <= i] (not more) = 0

A line names a formula or a count; a formula joins letters and comparisons by ``not``,
``and``, ``or``. The last line is the output. ``(i)`` and ``(j)`` may be left out, and signs
may be those of logic (``¬ ∧ ∨ ≤ ≥``). ``#`` and a blank at the start of a line, or a line
of no words, is a remark.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePath

from krohn.program.errors import Refused, demand
from krohn.sources.counting.builder import Builder
from krohn.sources.counting.lexemes import Lexeme, lexemes_of
from krohn.sources.counting.program import CountingProgram

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
    reader = _Reader(Builder(names))
    for number, line in said[1:]:
        try:
            demand(len(line) <= MOST_CHARACTERS, "the line is too long")
            reader.define(lexemes_of(line))
        except Refused as reason:
            raise Refused(f"{file}:{number}: {reason}") from None
        except RecursionError:
            raise Refused(f"{file}:{number}: the line is nested too deeply") from None
    last = reader.last
    demand(
        isinstance(last, int),
        f"{file}: the last line is the output, and must be a formula, not a count",
    )
    assert isinstance(last, int)
    return reader.builder.program(PurePath(file).stem, last)


@dataclass
class _Reader:
    """What has been read of a text, and the words of the line that is being read."""

    builder: Builder
    known: dict[str, int | Count] = field(default_factory=dict)
    words: list[Lexeme] = field(default_factory=list)
    at: int = 0

    def define(self, words: list[Lexeme]) -> None:
        """A line: a name, and what it stands for."""
        self.words, self.at = words, 0
        name = self._next()
        free = name.text not in self.known
        demand(name.kind == "name", "a line is NAME := FORMULA, or NAME := COUNT")
        demand(free, f"{name.text!r} has a meaning already")
        self._argument()
        self._expect(":=")
        value = self._either()
        demand(self._peek.kind == "end", f"{self._peek.text!r} is too much here")
        self.known[name.text] = value

    @property
    def last(self) -> int | Count | None:
        """The last line that was read stands for it."""
        return next(reversed(self.known.values()), None)

    @property
    def _peek(self) -> Lexeme:
        return self.words[self.at]

    def _next(self) -> Lexeme:
        self.at += 1
        return self.words[self.at - 1]

    def _takes(self, *signs: str) -> str | None:
        """The next word, if it is one of these signs."""
        found = self._peek.kind in ("sign", "name") and self._peek.text in signs
        return self._next().text if found else None

    def _expect(self, sign: str) -> None:
        found = self._peek.text or "the end of the line"
        demand(self._takes(sign), f"{sign!r} is missing before {found!r}")

    def _argument(self) -> None:
        """A position, which may be left out."""
        texts = [w.text for w in self.words[self.at : self.at + 3]]
        if texts[:1] == ["("] and texts[2:] == [")"] and texts[1] in ("i", "j"):
            self.at += 3

    def _either(self) -> int | Count:
        """A formula or a count: disjunctions bind the least."""
        found = self._joined("or", lambda: self._joined("and", self._compared))
        if self._takes("?"):
            found = self._chosen(self._formula(found))
        return found

    def _joined(self, sign: str, part: Callable[[], int | Count]) -> int | Count:
        first = part()
        if self._peek.text != sign:
            return first
        parts = [self._formula(first)]
        while self._takes(sign):
            parts.append(self._formula(part()))
        join = self.builder.some if sign == "or" else self.builder.every
        return join(*parts)

    def _compared(self) -> int | Count:
        if self._takes("not"):
            return self.builder.no(self._formula(self._compared()))
        left = self._added()
        relation = self._takes(*_BETWEEN)
        if relation is None:
            return left
        return self._relation(self._count(left), relation, self._count(self._added()))

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

    def _added(self) -> int | Count:
        found = self._times()
        while sign := self._takes("+", "-"):
            more = self._count(self._times())
            found = self._both(self._count(found), more, 1 if sign == "+" else -1)
        return found

    def _times(self) -> int | Count:
        if self._takes("-"):
            return self._scaled(-1, self._count(self._times()))
        if self._peek.kind != "number":
            return self._atom()
        number = int(self._next().text)
        demand(number <= LARGEST, f"{number} is too large a number")
        if self._takes("*") or self._peek.kind in ("name", "count"):
            return self._scaled(number, self._count(self._atom()))
        return Count(((self.builder.every(), {}, number),))

    def _atom(self) -> int | Count:
        word = self._next()
        if word.kind == "letter":
            self._argument()
            return self.builder.letter(word.text)
        if word.kind == "count" or word.text == "#":
            return self._number_of(word.text == "<")
        if word.text in ("true", "false"):
            return self.builder.every() if word.text == "true" else self.builder.some()
        if word.text in ("min", "max") and self._peek.text == "(":
            return self._extreme(word.text)
        if word.text == "(":
            found = self._either()
            self._expect(")")
            return found
        shown = word.text or "the end of the line"
        demand(word.kind == "name", f"{shown!r} is no formula and no count")
        known = ", ".join(self.known) or "none yet"
        demand(
            word.text in self.known,
            f"{word.text!r} has no meaning (there are: {known}); the letter is "
            f"Q_{word.text}",
        )
        self._argument()
        return self.known[word.text]

    def _number_of(self, strictly: bool) -> Count:
        """At how many positions so far a formula held, with this one or without."""
        counted = self._compared_alone()
        if not strictly:
            return Count(((self.builder.every(), {counted: 1}, 0),))
        other = self.builder.no(counted)
        return Count(((counted, {counted: 1}, -1), (other, {counted: 1}, 0)))

    def _compared_alone(self) -> int:
        """The formula after a #: a letter, a name, brackets, or the negation of one."""
        if self._takes("not"):
            return self.builder.no(self._compared_alone())
        return self._formula(self._atom())

    def _chosen(self, when: int) -> Count:
        first = self._count(self._either())
        self._expect(":")
        second = self._count(self._either())
        return Count(
            (*self._where(when, first), *self._where(self.builder.no(when), second))
        )

    def _where(self, when: int, count: Count) -> list[Case]:
        return [
            (self.builder.every(when, case), factors, constant)
            for case, factors, constant in count.cases
        ]

    def _extreme(self, name: str) -> Count:
        """The smaller or the larger one of two counts."""
        self._expect("(")
        first = self._count(self._either())
        self._expect(",")
        second = self._count(self._either())
        self._expect(")")
        when = self._relation(first, "<=" if name == "min" else ">=", second)
        other = self.builder.no(when)
        return Count((*self._where(when, first), *self._where(other, second)))

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

    def _scaled(self, number: int, count: Count) -> Count:
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

    def _count(self, value: int | Count) -> Count:
        demand(isinstance(value, Count), "a formula stands where a count is needed")
        assert isinstance(value, Count)
        return value
