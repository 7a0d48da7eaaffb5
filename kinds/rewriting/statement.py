"""Rewriting systems: a line of letters is rewritten where the first rule applies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from krohn.program.domains import IntArray, joint
from krohn.program.errors import Refused, demand
from krohn.program.functions import Table
from krohn.program.strict_json import whole

KIND = "rewriting"
"""The name of the kind in the header of a model file."""
END, LAST = "=", "<eos>"
"""The tokens after a line, and after the last line."""
MOST_RULES, MOST_WINDOW, MOST_LINE = 1024, 16, 2**16
Line: TypeAlias = tuple[int, ...]


class Computed(NamedTuple):
    """A letter that a rule writes, which depends on letters that it reads.

    Attributes:
        function: The number of the function.
        places: Of which places of the window, the first one 0, it is asked.
    """

    function: int
    places: tuple[int, ...]


class Rule(NamedTuple):
    """A part of a line that is replaced, with the letters that must stand around it.

    Attributes:
        window: Which letters may stand at each place. The end of a line, as the first
            place, also means the start of one; elsewhere it can stand last only.
        start: The first place that is replaced.
        stop: One past the last one.
        writes: The replacement, which is not longer: letters, or functions of letters.
    """

    window: tuple[tuple[int, ...], ...]
    start: int
    stop: int
    writes: tuple[int | Computed, ...]


def check_rule(rule: Rule, letters: Sequence[str], functions: Sequence[Table]) -> None:
    """Refuse a rule that cannot be.

    Args:
        rule: The rule.
        letters: The name of each letter.
        functions: The functions that its replacement may use.

    Raises:
        Refused: With the mistake; the caller adds which rule it is.
    """
    size, end = len(rule.window), len(letters)
    demand(0 < size <= MOST_WINDOW, "reads nothing, or too much")
    demand(0 <= rule.start < rule.stop <= size, "replaces nothing")
    demand(len(rule.writes) <= rule.stop - rule.start, "makes a line longer")
    for place, read in enumerate(rule.window):
        inner = 0 < place < size - 1 or rule.start <= place < rule.stop
        demand(len(read) > 0, f"has no letter for place {place + 1}")
        wrong = next((x for x in read if not 0 <= x < end + (not inner)), None)
        name = END if wrong == end else repr(wrong)
        demand(
            wrong is None,
            f"reads {name} at place {place + 1}, which is no letter; {END} may be the "
            "first or the last place, outside of the replaced letters, as in "
            f"{END} [ a ] -> b",
        )
        ascending = list(read) == sorted(set(read))
        demand(ascending, f"has the letters of place {place + 1} not in their order")
    for written in rule.writes:
        if isinstance(written, Computed):
            _check_computed(rule, written, functions)
        else:
            demand(0 <= written < end, "writes a symbol that is not a letter")


def _check_computed(rule: Rule, written: Computed, functions: Sequence[Table]) -> None:
    inside = 0 <= written.function < len(functions)
    demand(inside, "asks a function that is not there")
    function = functions[written.function]
    demand(
        len(written.places) == function.rows.shape[1] > 0
        and all(0 <= place < len(rule.window) for place in written.places),
        "asks a function of other places",
    )
    read = [np.array(rule.window[place]) for place in written.places]
    known = function.place(list(joint(read).T)) >= 0
    demand(known, "asks a function of letters that it does not know")


@dataclass(frozen=True)
class Rewriting:
    """A normal algorithm of Markov whose lines never grow, written out as text.

    The text of a line x is x = x′ = x″ = … and an end. Of the places where a rule applies
    the one that ends first is taken, of several rules there the first one; the rest is
    copied. The text ends after the first line, x itself apart, to which no rule applies.

    Tokens 0, …, L − 1 are letters, L is the end of a line and L + 1 the end of the text.

    Attributes:
        name: What it is called.
        letters: The name of each letter.
        rules: The rules, the first ones first.
        functions: For letters read a letter each.
        longest: n: so many letters a line has at most.
        lines: The line of each rule in the text that says it; () if none does.
    """

    name: str
    letters: tuple[str, ...]
    rules: tuple[Rule, ...]
    functions: tuple[Table, ...]
    longest: int
    lines: tuple[int, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Refuse a malformed system.

        Raises:
            Refused: With the rule that is wrong.
        """
        tokens = self.tokens
        demand(len(set(tokens)) == len(tokens), "two letters have the same name")
        demand(len(self.letters) > 0, "a line has no letters")
        words = all(name.split() == [name] for name in self.letters)
        demand(words, "a letter has no name, or a name with blanks")
        demand(0 < len(self.rules) <= MOST_RULES, "there are no rules, or too many")
        demand(0 < self.longest <= MOST_LINE, "lines have no letters, or too many")
        for function in self.functions:
            inside = (function.values >= 0) & (function.values < self.end)
            demand(inside, "a function gives a symbol that is not a letter")
        for i, rule in enumerate(self.rules, 1):
            try:
                check_rule(rule, self.letters, self.functions)
            except Refused as reason:
                line = f"line {self.lines[i - 1]}: " if self.lines else ""
                raise Refused(f"{line}rule {i} {reason}") from None

    @property
    def end(self) -> int:
        """The token after a line; so many letters there are."""
        return len(self.letters)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The name of each token."""
        return (*self.letters, END, LAST)

    @property
    def widest(self) -> int:
        """How many places the widest window has."""
        return max(len(rule.window) for rule in self.rules)

    def to_wire(self) -> dict[str, Any]:
        """As the header of a model file states it."""
        rules = [
            {
                "window": [list(letters) for letters in rule.window],
                "replaces": [rule.start, rule.stop],
                "writes": [
                    [w.function, *w.places] if isinstance(w, Computed) else w
                    for w in rule.writes
                ],
            }
            for rule in self.rules
        ]
        return {
            "kind": KIND,
            "name": self.name,
            "letters": list(self.tokens),
            "rules": rules,
            "functions": [f.with_values.tolist() for f in self.functions],
            "longest": self.longest,
        }

    @classmethod
    def from_wire(cls, said: Mapping[str, Any]) -> Self:
        """A rewriting system from its description in a model file, read strictly.

        Raises:
            Refused: If it is malformed.
            LookupError: If something is missing.
            TypeError: If something is of another type.
            ValueError: If something is no number.
        """
        demand(said["kind"] == KIND, "this is no rewriting system")
        names, rules = said["letters"], said["rules"]
        strings = type(names) is list and all(type(n) is str for n in names)
        demand(strings, "the letters have no names")
        demand(names[-2:] == [END, LAST], "the ends of lines have other names")
        demand(type(rules) is list, "the rules are no list")
        tables = tuple(_function(rows) for rows in said["functions"])
        parsed_rules = tuple(_rule(rule) for rule in rules)
        longest = int(whole(said["longest"], 0))
        return cls(str(said["name"]), tuple(names[:-2]), parsed_rules, tables, longest)


def _function(told: Any) -> Table:
    rows = whole(told, 2)
    demand(rows.shape[0] > 0 and rows.shape[1] > 1, "a function has no rows")
    ordered = np.array_equal(np.unique(rows[:, :-1], axis=0), rows[:, :-1])
    demand(ordered, "the rows of a function are not in their order")
    return Table(rows[:, :-1], rows[:, -1])


def _rule(told: Mapping[str, Any]) -> Rule:
    window = tuple(_numbers(letters) for letters in told["window"])
    start, stop = _numbers(told["replaces"])
    return Rule(
        window, start, stop, tuple(_read_replacement(w) for w in told["writes"])
    )


def _read_replacement(told: Any) -> int | Computed:
    if type(told) is not list:
        return int(whole(told, 0))
    function, *places = _numbers(told)
    return Computed(function, tuple(places))


def _numbers(told: Any) -> tuple[int, ...]:
    numbers: IntArray = whole(told, 1)
    return tuple(numbers.tolist())
