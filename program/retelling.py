"""Errors that are told again, as those of what a user named."""

from collections.abc import Iterator
from contextlib import contextmanager

from krohn.program.errors import KrohnError, Refused


@contextmanager
def told_as(error: type[Exception] = KrohnError, about: str = "") -> Iterator[None]:
    """Raise what is refused inside as an error of a kind, with words before the reason."""
    try:
        yield
    except Refused as reason:
        raise error(f"{about}{reason}") from None
