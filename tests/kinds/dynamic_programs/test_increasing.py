"""Longest increasing subsequences: their short texts, and the Program that writes them."""

from bisect import bisect_left
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest
import torch

import krohn
from krohn.kinds.dynamic_programs.source_increasing import text_of
from krohn.kinds.dynamic_programs.statement_increasing import (
    Increasing,
    program_of,
)
from krohn.network.model import Model
from krohn.program.errors import Refused
from krohn.program.interpreter import states

SOURCE, EXACT = Increasing("small", 1, 5, 3), Increasing("exact", 5, 5, 3)
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


@pytest.mark.parametrize("source", [SOURCE, EXACT])
def test_the_program_writes_the_text_of_every_list(source: Increasing) -> None:
    program = program_of(source)
    for n in range(source.shortest, 6):
        lines = [line for line in LINES if len(line) == n]
        texts = np.array([text_of(source, line, 99) for line in lines])
        said = states(program, texts[:, :-1])
        assert np.array_equal(said[:, n:], texts[:, n + 1 :])


def sizes(line: tuple[int, ...]) -> list[int]:
    """How long subsequences are that end with each number: patience sorting, no table."""
    piles, found = list[int](), list[int]()
    for x in line:
        at = bisect_left(piles, x)
        piles[at : at + 1] = [x]
        found.append(at + 1)
    return found


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "layers"), [("ShortLIS6,4", 3), ("ShortLIS6,4:exact", 2)]
)
@pytest.mark.parametrize("every", [97, pytest.param(1, marks=pytest.mark.slow)])
def test_the_network_writes_the_text_of_every_list(
    source: str, layers: int, every: int
) -> None:
    """All 19,530 lists of up to 6 numbers below 5, whatever the text before says."""
    model = krohn.compile(source)
    blocks = model.file.header["architecture"]["blocks"]
    assert [block["heads"] for block in blocks] == [1, 2, 1][-layers:]
    net = Model(model.file)
    for n in range(6 if layers == 2 else 1, 7):
        lines = list(product(range(5), repeat=n))[::every]
        end = max(4, 7) + 1
        meant = np.array(
            [[*x, end, *sizes(x), end, max(sizes(x)), end + 1] for x in lines]
        )
        shown = net(torch.from_numpy(meant[:, :-1])).argmax(-1).numpy()
        assert np.array_equal(shown[:, n:], meant[:, n + 1 :])


def test_it_survives_a_file() -> None:
    assert Increasing.from_wire(SOURCE.to_wire()) == SOURCE


@pytest.mark.parametrize(
    "change",
    [
        *({"longest": 0}, {"largest": 9999}, {"letters": ["0"]}, {"kind": "x"}),
        *({"shortest": 2}, {"shortest": True}),
    ],
)
def test_what_is_malformed_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        Increasing.from_wire({**SOURCE.to_wire(), **change})
