"""Work is counted in tests, not timed: a busy machine must not make a test fail."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class TooMuchWork(AssertionError):
    """More was called than a test allows."""


@contextmanager
def calls_at_most(most: int) -> Iterator[list[int]]:
    """Functions, Python's own among them, are called so often at most inside.

    Yields:
        How often so far, in a list of one.

    Raises:
        TooMuchWork: At the first call beyond.
    """
    calls, before = [0], sys.getprofile()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event in ("call", "c_call"):
            calls[0] += 1
            if calls[0] > most:
                where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                raise TooMuchWork(f"more than {most:,} calls, the last in {where}")

    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(before)
    assert calls[0] <= most
