"""The Program language, said once: the fields, values, meaning and memory of operations.

Compiler and checker both read this package. How an operation becomes tensors is the
compiler's business, how tensors are shown to be it is the checker's; neither knows the
other. A proof rests on what it imports, so nothing is imported here before it is asked for.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from krohn.program.language import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """A name of the language, from `krohn.program.language`."""
    if name.startswith("_") or find_spec(f"{__name__}.{name}"):  # a module is no name
        raise AttributeError(f"there is no {name!r} in {__name__}")
    return getattr(import_module("krohn.program.language"), name)
