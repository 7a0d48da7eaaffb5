"""Rewriting systems: lines of text that are changed at one place a step."""

import re
from collections.abc import Sequence
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from krohn.kinds.rewriting.source_examples import CATALOGUE
from krohn.kinds.rewriting.source_termination import (
    most_steps,
    order,
)
from krohn.kinds.rewriting.source_text import (
    MOST_TEXT,
    read_text,
)
from krohn.kinds.rewriting.statement import (
    Computed,
    Rewriting,
    Rule,
)
from krohn.program import user_input
from krohn.program.errors import Refused, demand
from krohn.program.functions import Table

__all__ = ["SUFFIX", "find_by_name", "shrinking_length", "usual_length"]


NAME = "Arithmetic"
SIGNS = ("+", "-", "*", "/", "(", ")")
LARGEST_PRIME, MOST_OPERATORS = 31, 32


def arithmetic(operators: int, prime: int = 11) -> Rewriting:
    """Expressions with so many operators, and so many brackets, modulo a prime.

    A line has up to 4n − 1 letters: n operators, n + 1 numbers, and n − 1 pairs of
    brackets. There is no rule for x / 0, so that a line may be the last one and no number.
    Brackets around a number alone are taken off, where somebody writes them.

    Args:
        operators: n.
        prime: p.

    Raises:
        Refused: If a number is out of range, or p is no prime.
    """
    fits = 1 <= operators <= MOST_OPERATORS
    demand(fits, f"an expression has 1 to {MOST_OPERATORS} operators, not {operators}")
    fits = 2 <= prime <= LARGEST_PRIME and all(prime % d for d in range(2, prime))
    demand(fits, f"numbers are modulo a prime up to {LARGEST_PRIME}, not {prime}")
    letters = (*map(str, range(prime)), *SIGNS)
    plus, minus, times, over, opening, closing = range(prime, prime + 6)
    end, numbers = len(letters), tuple(range(prime))
    every, weak = tuple(range(end + 1)), (plus, minus)
    not_before = tuple(a for a in every if a not in (times, over))

    def rules(
        signs: tuple[int, ...], left: tuple[int, ...], right: tuple[int, ...]
    ) -> list[Rule]:
        """Rules for signs between these letters; brackets are replaced with them."""
        around = int((left, right) != ((opening,), (closing,)))
        value = Computed(0, (1, 2, 3))
        divides, others = over in signs, tuple(s for s in signs if s != over)
        return [
            Rule((left, numbers, s, y, right), around, 5 - around, (value,))
            for s, y in ((others, numbers), ((over,) * divides, numbers[1:]))
            if s
        ]

    all_rules = [Rule(((opening,), numbers, (closing,)), 0, 3, (Computed(1, (1,)),))]
    all_rules += rules((plus, minus, times, over), (opening,), (closing,))
    all_rules += rules((times, over), not_before, every)
    all_rules += rules(weak, (opening, end), (*weak, closing, end))
    same = np.arange(prime)
    functions = _values(prime), Table(same[:, None], same)
    longest = 4 * operators - 1
    name = f"{NAME}{operators},{prime}"
    return Rewriting(name, letters, tuple(all_rules), functions, longest)


def longest_text(operators: int) -> int:
    """How many tokens are read at most for expressions of up to n operators.

    With k operators left, of which each has a pair of brackets at most, a line has up to
    4k + 1 letters, the first one 4n − 1 at most: with the ends of n lines in all
    4n − 1 + Σ (4k + 1) + 1 + n over 1 ≤ k < n. A line that no rule fits, as of x / 0, is
    written twice, with two ends, of which the last is not read: that is more for n = 1.
    """
    return max(2 * operators**2 + 4 * operators - 1, 2 * (4 * operators - 1) + 1)


def _values(prime: int) -> Table:
    """The values of ``x op y``, but for x / 0."""
    rows = []
    for x, sign, y in product(range(prime), range(4), range(prime)):
        if sign < 3 or y:
            value = (x + y, x - y, x * y, x * pow(y, -1, prime) if y else 0)[sign]
            rows.append((x, prime + sign, y, value % prime))
    whole = np.array(rows)
    return Table(whole[:, :-1], whole[:, -1])


def no_value(source: Rewriting, last: Sequence[str]) -> str:
    """Why the last line of an expression is no number; nothing if it is one.

    Nothing is said of other rewriting systems, whatever they are called: any last line
    is an answer.
    """
    if (len(last) == 1 and last[0].isdecimal()) or not _is_arithmetic(source):
        return ""
    line, pairs = " ".join(last), pairwise(last)
    if ("/", "0") in pairs:
        return f"the expression divides by zero: {line}"
    return f"this is no expression: nothing can be evaluated in {line}"


def count_operators(source: Rewriting) -> int | None:
    """How many operators the expressions of arithmetic have at most; None of others."""
    match = _ARITHMETIC.fullmatch(source.name)
    return int(match[1]) if match and _is_arithmetic(source) else None


def _is_arithmetic(source: Rewriting) -> bool:
    """Whether it is arithmetic modulo some prime: rules do not depend on the length."""
    try:
        other = arithmetic(1, len(source.letters) - len(SIGNS))
    except Refused:
        return False
    return (source.letters, source.rules, source.functions) == (
        other.letters,
        other.rules,
        other.functions,
    )


SUFFIX = ".rules"
_ARITHMETIC = re.compile(r"Arithmetic(\d{1,4})(?:,(\d{1,4}))?")
_FORM = re.compile(r"([A-Za-z]+)(\d{1,5})")
_FILE = re.compile(r"(.+\.rules)(?::n=(\d{1,5}))?", re.DOTALL)


def find_by_name(text: str) -> Rewriting | None:
    """The rewriting system of a name or of a file; None if it is the name of none.

    Args:
        text: ``Arithmetic6,11``, operators and prime; ``Sorting8``, of the catalogue, with
            the letters of a line; or ``my.rules``, ``my.rules:n=12``.

    Raises:
        Refused: If a number is out of range, the file cannot be read, or its text is
            wrong.
    """
    if match := _ARITHMETIC.fullmatch(text):
        return arithmetic(int(match[1]), int(match[2] or 11))
    if match := _FILE.fullmatch(text):
        return _read(Path(match[1]), Path(match[1]).stem, match[2])
    match = _FORM.fullmatch(text)
    if match is None or match[1] not in CATALOGUE:
        return None
    return _read(CATALOGUE[match[1]], text, match[2])


def usual_length(system: Rewriting) -> int | None:
    """So many tokens a network reads for whole texts; None if that is not known.

    Of arithmetic all expressions with n operators count. Lines that get shorter say how
    many there are; of others an order may (`krohn.kinds.rewriting.source_termination`).
    """
    length = shrinking_length(system)
    if length is None and (weights := order(system)):
        lines = most_steps(weights, system.longest) + 1
        length = max(lines * (system.longest + 1) - 1, 2 * system.longest + 1)
    return length


def shrinking_length(system: Rewriting) -> int | None:
    """The longest text if all lines get shorter, or it is arithmetic; else None.

    If each rule makes a line shorter by s letters or more, lines have at most n, n − s, …
    letters.
    """
    n, match = system.longest, _ARITHMETIC.fullmatch(system.name)
    if match:
        return longest_text(int(match[1]))
    shrinks = min(r.stop - r.start - len(r.writes) for r in system.rules)
    if not shrinks:
        return None
    return max(sum(m + 1 for m in range(n, -1, -shrinks)) - 1, 2 * n + 1)


def _read(path: Path, name: str, longest: str | None) -> Rewriting:
    if longest is not None:
        demand(int(longest) > 0, "a line has at least one letter")
    text = user_input.read_text(path, 4 * MOST_TEXT)
    return read_text(text, name, int(longest) if longest else None)
