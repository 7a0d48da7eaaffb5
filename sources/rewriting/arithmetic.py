"""Arithmetic modulo a prime: an expression is evaluated one pair of numbers a line.

The task of Feng et al. (2023) and Yang et al. (2024, Appendix C). A *handle* is two
numbers with an operator between them that may be evaluated now; the leftmost one is.
Brackets around it go in the same step.
"""

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np

from krohn.program.errors import Refused, demand
from krohn.program.functions import Table
from krohn.program.rewriting import Computed, Rewriting, Rule

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

    found = [Rule(((opening,), numbers, (closing,)), 0, 3, (Computed(1, (1,)),))]
    found += rules((plus, minus, times, over), (opening,), (closing,))
    found += rules((times, over), not_before, every)
    found += rules(weak, (opening, end), (*weak, closing, end))
    same = np.arange(prime)
    functions = _values(prime), Table(same[:, None], same)
    longest = 4 * operators - 1
    name = f"{NAME}{operators},{prime}"
    return Rewriting(name, letters, tuple(found), functions, longest)


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
