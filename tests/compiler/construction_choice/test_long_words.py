"""What no proof is long enough for is refused before it is built."""

import tracemalloc

import pytest

import krohn
from krohn.algebra.errors import KrohnError
from krohn.compiler.construction_choice import planning
from krohn.program import limits
from krohn.verify.checker import fetches

LONG = 10**8
ROOM = 64 * 2**20
"""Bytes: far fewer than there are positions."""


def test_the_limit_of_pairs_is_where_their_scores_are_too_many() -> None:
    most = limits.MOST_PAIRED
    assert most * (most + 1) <= limits.MOST_SCORES < (most + 1) * (most + 2)


@pytest.mark.parametrize(
    ("name", "construction"),
    [("S4", "scan"), ("abab", "scan3")],
)
def test_the_checker_refuses_where_the_compiler_does(
    name: str, construction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With room for 40 · 41 scores a head, words of 40 letters are proved, of 41 not."""
    monkeypatch.setattr(fetches, "MOST", 40 * 41)
    monkeypatch.setattr(planning, "MOST_PAIRED", 40)
    assert krohn.compile(name, 40, construction).proof is not None
    with pytest.raises(KrohnError, match="every pair of positions"):
        krohn.compile(name, 41, construction)
    monkeypatch.setattr(planning, "MOST_PAIRED", 41)
    with pytest.raises(KrohnError, match="too many") as refused:
        krohn.compile(name, 41, construction)
    assert "float64" not in str(refused.value)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "source", ["C2", "Grid4", "S5", "FlipFlop", "Dyck4,2", "abab", "program:reverse"]
)
def test_words_that_are_far_too_long_are_refused_with_little_memory(
    source: str,
) -> None:
    krohn.compile("C2", 2)  # what is imported is none of it
    tracemalloc.start()
    try:
        with pytest.raises(KrohnError):
            krohn.compile(source, LONG)
        assert tracemalloc.get_traced_memory()[1] < ROOM
    finally:
        tracemalloc.stop()


def test_a_length_that_no_file_can_state_is_refused_at_once() -> None:
    with pytest.raises(KrohnError, match="too long"):
        krohn.compile("C2", length=10**20)
