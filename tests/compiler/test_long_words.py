"""What no proof is long enough for is refused before it is built."""

import tracemalloc

import pytest

import krohn
from krohn.algebra.errors import KrohnError

LONG = 10**8
ROOM = 64 * 2**20
"""Bytes: far fewer than there are positions."""


@pytest.mark.sample(1)
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
