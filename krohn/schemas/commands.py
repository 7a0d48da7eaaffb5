"""The types of what the other commands print with ``--json``."""

from typing import NotRequired, TypedDict

from krohn.schemas.parts import (
    MachineRemark,
)


class File(MachineRemark):
    """A picture that was drawn."""

    file: str


# krohn export, attention, equivalent, crasp


Attending = TypedDict(
    "Attending",
    {
        "file": str,
        "construction": str,
        "attention": NotRequired[str],
        "depth": NotRequired[str],
        "scale": NotRequired[float],
        "seed": NotRequired[int],
        "beta": NotRequired[float],
        "worst S/P": NotRequired[float],
        "weight on top": float,
    },
)
Attention = TypedDict(
    "Attention",
    {
        "word": list[str],
        "networks": list[Attending],
        "variations": list[list[float]],
        "mean variation": float | None,
        "random baseline": float,
        "function error": float,
        "words": int,
        "length": int,
        "picture": NotRequired[str],
    },
)


# krohn grammar


# krohn learn, decompile, workbench
