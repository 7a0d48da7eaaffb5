"""Modules under a public name whose contents a slice brings."""

from collections.abc import Callable
from typing import Any

from krohn.program.extras import name_missing_extra
from krohn.program.slices import needed_part


def contents(
    word: str, what: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """What a module needs as its ``__getattr__`` and ``__dir__``.

    Args:
        word: The word that leads to the part of a slice, and the name below `krohn`.
        what: What it is, for people.
    """

    def get(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        with name_missing_extra(f"krohn.{word}"):
            return getattr(needed_part(word, what), name)

    def names() -> list[str]:
        return list(needed_part(word, what).__all__)

    return get, names
