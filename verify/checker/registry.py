"""Which module reads a file: nothing else of the checker is imported for it.

A proof rests on what is imported to check it, so a reader of one proof reads no more
(`krohn verify F --trusted`).
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from krohn.program.errors import demand
from krohn.program.slices import slices

if TYPE_CHECKING:
    from krohn.verify.checker.model_file import Model

FOLDER = "krohn.verify.checker"


def reader_of(model: "Model") -> str:
    """The name of the module that reads a file.

    Raises:
        Refused: If there is none for such a network and its source.
    """
    claim, shape = model.claim, model.claim.architecture
    name = "" if shape is None else shape.check
    pruned = getattr(shape, "ranks", None) is not None
    if shape is not None and not claim.of_machine:
        name = "" if pruned else _reader_of_source(shape.kind, claim.kind)
    elif pruned:
        name = "relu_boxes"
    demand(name, "there is no rule for a network of such a source")
    return name


def _reader_of_source(architecture: str, source: str) -> str:
    """The module that reads claims about other sources than machines; empty if none."""
    pair = architecture, source
    return next((x.readers[pair] for x in slices().values() if pair in x.readers), "")


def reader(name: str) -> Callable[..., Any]:
    """The function of a checker's module that reads a file, its evidence and a machine."""
    found: Callable[..., Any] = rule(name).established
    return found


def rule(name: str) -> Any:
    """A module of the checker, which operations, functions and readers name."""
    return import_module(rule_module(name))


def rule_module(name: str) -> str:
    """The full name of a module of the checker, or of the slice that brings it."""
    brought = (x.rules[name] for x in slices().values() if name in x.rules)
    return next(brought, name if "." in name else f"{FOLDER}.{name}")
