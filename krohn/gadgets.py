"""Gadgets under their public name; what is in it lies in `instruments/gadgets`."""

from typing import TYPE_CHECKING, Any

from krohn.program.extras import name_missing_extra
from krohn.program.slices import needed_part

if TYPE_CHECKING:
    from krohn.instruments.gadgets.library import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    with name_missing_extra("krohn.gadgets"):
        return getattr(needed_part("gadgets", "the library of gadgets"), name)


def __dir__() -> list[str]:
    return list(needed_part("gadgets", "the library of gadgets").__all__)
