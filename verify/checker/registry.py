"""Which module reads a file: nothing else of the checker is imported for it.

A proof rests on what is imported to check it, so a reader of one proof reads no more
(`krohn verify F --trusted`).
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krohn.program.errors import Refused, demand
from krohn.program.slices import bringer, distributions, find_in_slices

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
        pair = shape.kind, claim.kind
        name = "" if pruned else find_in_slices("readers", pair) or ""
    elif pruned:
        name = "relu_boxes"
    demand(name, "there is no rule for a network of such a source")
    return name


def program_rule(model: "Model") -> str:
    """The name of the module that says which Program a Transformer must compute."""
    return find_in_slices("programs", model.claim.kind) or "transformer"


def reader(name: str) -> Callable[..., Any]:
    """The function of a checker's module that reads a file, its evidence and a machine."""
    check: Callable[..., Any] = rule(name).check_claim
    return check


def rule(name: str) -> Any:
    """A module of the checker, which operations, functions and readers name.

    Raises:
        Refused: If no slice brings it.
    """
    try:
        return import_module(place := rule_module(name))
    except ModuleNotFoundError as missing:
        if missing.name != place:
            raise
        raise Refused(f"no slice brings the rules of a {name}") from None


def foreign_checkers(model: "Model") -> tuple[str, ...]:
    """The distributions beside Krohn that a proof rests on.

    Their slices say what the file claims, what its tensors are, or which rule is asked.
    """
    claim, shape = model.claim, model.claim.architecture
    asked: list[tuple[str, Any]] = [("sources", claim.kind), ("programs", claim.kind)]
    if shape is not None:
        asked += [("architectures", shape.kind), ("rules", shape.check)]
        asked += [("readers", (shape.kind, claim.kind))]
    channels = model.header.get("program", {}).get("channels", ())
    asked += [("operations", each["op"]) for each in channels]
    packages = {bringer(part, key) for part, key in asked}
    return tuple(sorted({d for p, d in distributions().items() if p in packages}))


def rule_module(name: str) -> str:
    """The full name of a module of the checker, or of the slice that brings it."""
    own = Path(__file__).with_name(f"{name}.py").is_file()
    module = f"{FOLDER}.{name}" if own or "." not in name else name
    return module if own else find_in_slices("rules", name) or module
