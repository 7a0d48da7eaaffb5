"""The workbench under its public name; what is in it lies in `instruments/workbench`."""

from typing import TYPE_CHECKING, Any

from krohn.program.extras import name_missing_extra
from krohn.program.slices import needed_part

if TYPE_CHECKING:
    from krohn.instruments.workbench.workbench import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    with name_missing_extra("krohn.workbench"):
        return getattr(needed_part("workbench", "the workbench"), name)


def __dir__() -> list[str]:
    return list(needed_part("workbench", "the workbench").__all__)
