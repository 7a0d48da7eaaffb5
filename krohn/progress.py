"""How long work tells how far it has come."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and of how much."""


def silent(what: str, done: int, total: int) -> None:
    """Tell nobody."""
