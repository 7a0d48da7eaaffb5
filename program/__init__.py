"""The Program language, said once: what operations are, mean, can be and remember.

Compiler and checker both read this package. How an operation becomes tensors is the
compiler's business, how tensors are shown to be it is the checker's; neither knows the
other. A proof rests on what it imports, so nothing is imported here before it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krohn.program.language import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """A name of the language, from `krohn.program.language`."""
    if name.startswith("_"):
        raise AttributeError(f"there is no {name!r} in program")
    return getattr(import_module("krohn.program.language"), name)
