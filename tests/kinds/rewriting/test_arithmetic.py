"""Arithmetic: texts end with the value that an ordinary parser finds."""

import ast
import operator
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pytest

from krohn.kinds.rewriting.source import (
    arithmetic,
    find_by_name,
    no_value,
    usual_length,
)
from krohn.kinds.rewriting.source_derivation import (
    applicable_rules,
    apply_rule,
    text_of,
)
from krohn.kinds.rewriting.source_text import random_line
from krohn.kinds.rewriting.statement import (
    Line,
    Rewriting,
)
from krohn.program.errors import Refused

INTEGERS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def value(node: ast.expr, prime: int) -> int:
    """By Python's own parser.

    Raises:
        ZeroDivisionError: If something is divided by 0.
    """
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, int)
        return node.value % prime
    assert isinstance(node, ast.BinOp)
    x, y = value(node.left, prime), value(node.right, prime)
    if isinstance(node.op, ast.Div):
        if y == 0:
            raise ZeroDivisionError
        return x * pow(y, -1, prime) % prime
    return INTEGERS[type(node.op)](x, y) % prime


def parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def line_of(system: Rewriting, names: list[str]) -> Line:
    return tuple(map(system.letters.index, names))


def last_of(system: Rewriting, line: Line) -> list[str]:
    text = text_of(system, line, 10_000)
    assert text[-1] == system.end + 1
    before = [-1, *(i for i, a in enumerate(text) if a == system.end)]
    return [system.letters[a] for a in text[before[-1] + 1 : -1]]


def expressions(prime: int, most: int) -> Iterator[list[str]]:
    """All with up to so many operators, brackets around the first or the last one."""
    numbers = list(map(str, range(prime)))
    for count in range(1, most + 1):
        for parts in product(*[numbers, "+-*/"] * count, numbers):
            told = list(parts)
            yield told
            if count == 2:
                yield ["(", *told[:3], ")", *told[3:]]
                yield [*told[:2], "(", *told[2:], ")"]


@pytest.mark.slow
def test_all_expressions_of_two_operators() -> None:
    system, count = arithmetic(2, 3), 0
    for names in expressions(3, 2):
        count += 1
        last = last_of(system, line_of(system, names))
        try:
            wanted = value(parsed("".join(names)), 3)
        except ZeroDivisionError:
            assert "divides by zero" in no_value(system, last)
            continue
        assert last == [str(wanted)]
        assert not no_value(system, last)
    assert count == 36 + 3 * 432


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("prime", [2, 7, 11])
def test_random_expressions(prime: int) -> None:
    system, rng = arithmetic(16, prime), np.random.default_rng(prime)
    sizes = []
    for steps in list(range(1, 17)) * 6:
        line = random_line(system, rng, steps)
        names = [system.letters[a] for a in line]
        sizes.append(sum(name in "+-*/" for name in names))
        assert last_of(system, line) == [str(value(parsed("".join(names)), prime))]
    assert max(sizes) > 10


def random_text(system: Rewriting, line: Line, rng: np.random.Generator) -> list[Line]:
    """The lines of a text where each time chance says which place that fits is taken."""
    lines = [line]
    while found := list(applicable_rules(system, lines[-1])):
        rule, at = found[rng.integers(len(found))]
        lines.append(apply_rule(system, lines[-1], rule, at))
    return lines


@pytest.mark.slow
def test_any_place_that_fits_leads_to_the_same_value() -> None:
    """So the text of a data set, whose places are random, has one answer."""
    system, rng, different = arithmetic(8, 11), np.random.default_rng(1), 0
    for _ in range(60):
        line = random_line(system, rng, 8)
        lines = random_text(system, line, rng)
        last = [system.letters[a] for a in lines[-1]]
        assert last == last_of(system, line)
        assert len(last) == 1
        joined = [token for each in lines for token in (*each, system.end)]
        different += joined[:-1] != text_of(system, line, 10_000)[:-1]
    assert different > 20


@pytest.mark.parametrize(("operators", "tokens"), [(6, 85), (10, 221), (13, 365)])
def test_texts_of_bracketed_expressions_have_the_published_lengths(
    operators: int, tokens: int
) -> None:
    """All brackets but the outermost: 2n(n + 1) + 1, and then the end of the text."""
    system = arithmetic(operators)
    names = ["1"]
    for depth in range(operators):
        names = ["(", *names, "+", "1", ")"] if depth < operators - 1 else names
    names = [*names, "+", "1"]
    line = line_of(system, names)
    assert len(line) == system.longest
    assert len(text_of(system, line, 10_000)) == tokens + 1


def test_the_longest_text_has_room() -> None:
    system, rng = arithmetic(2, 5), np.random.default_rng(0)
    line = line_of(system, list("(1*2+3)"))
    length = usual_length(system)
    assert length == len(text_of(system, line, 1000)) - 1
    assert length is not None
    for _ in range(100):
        line = random_line(system, rng, 2)
        assert len(text_of(system, line, 1000)) <= length + 1


@pytest.mark.parametrize("operators", [1, 2, 3])
def test_lines_that_no_rule_fits_have_room(operators: int) -> None:
    system = arithmetic(operators, 3)
    line = line_of(system, [*"1/0", *["*", "1"] * (operators - 1)])
    longest = line_of(system, ["("] * system.longest)
    length = usual_length(system)
    assert length is not None
    for each in (line, longest):
        text = text_of(system, each, 1000)
        assert text[-1] == system.end + 1
        assert len(text) <= length + 1


@pytest.mark.parametrize("name", ["Arithmetic0,11", "Arithmetic6,12", "Arithmetic99,3"])
def test_numbers_out_of_range_are_refused(name: str) -> None:
    with pytest.raises(Refused):
        find_by_name(name)
