"""Longest increasing subsequences: their short texts, and the Program that writes them."""

from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest

from krohn.kinds.dynamic_programs.source_increasing import text_of
from krohn.kinds.dynamic_programs.statement_increasing import (
    Increasing,
    program_of,
)
from krohn.program.errors import Refused
from krohn.program.interpreter import states

SOURCE = Increasing("small", 5, 3)
LINES = [x for n in range(1, 6) for x in product(range(4), repeat=n)]


def longest(line: tuple[int, ...]) -> int:
    """By trying all subsequences."""
    sizes = range(len(line), 0, -1)
    parts = (part for n in sizes for part in combinations(line, n))
    return len(next(p for p in parts if all(a < b for a, b in pairwise(p))))


def test_texts_say_the_longest_one_of_each_beginning() -> None:
    for line in LINES[::7]:
        text, n = text_of(SOURCE, line, 99), len(line)
        assert len(text) == 2 * n + 4
        assert text[-2] == longest(line)
        numbers = text[n + 1 : -3]
        for i, d in enumerate(numbers):
            ends_here = [*(x for x in line[:i] if x < line[i]), line[i]]
            assert d == longest(tuple(ends_here))


def test_the_program_writes_the_text_of_every_list() -> None:
    program = program_of(SOURCE)
    for n in range(1, 6):
        lines = [line for line in LINES if len(line) == n]
        texts = np.array([text_of(SOURCE, line, 99) for line in lines])
        said = states(program, texts[:, :-1])
        assert np.array_equal(said[:, n:], texts[:, n + 1 :])


def test_it_survives_a_file() -> None:
    assert Increasing.from_wire(SOURCE.to_wire()) == SOURCE


@pytest.mark.parametrize(
    "change", [{"longest": 0}, {"largest": 9999}, {"letters": ["0"]}, {"kind": "x"}]
)
def test_what_is_malformed_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        Increasing.from_wire({**SOURCE.to_wire(), **change})
