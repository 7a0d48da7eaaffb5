"""Too much work is an error, also where the code that does it goes on after errors."""

from contextlib import suppress

import pytest
from work import TooMuchWork, calls_at_most


def calls() -> None:
    """More than ten."""
    for _ in range(20):
        abs(-1)


def test_calls_are_counted() -> None:
    with calls_at_most(100) as counted:
        calls()
    assert 20 <= counted[0] <= 30


def test_too_many_are_an_error() -> None:
    with pytest.raises(TooMuchWork, match="more than 10 calls"), calls_at_most(10):
        calls()


def test_they_cannot_be_hidden() -> None:
    with pytest.raises(AssertionError), calls_at_most(10), suppress(Exception):
        calls()
