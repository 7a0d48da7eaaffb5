"""Architectures: the sizes that a model file states, and the tensors that follow.

Each is declared once, in `krohn.program.architectures`: for the reader of model files, for
the runtime and for the checker.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, ClassVar, Self

from krohn.program.errors import demand
from krohn.program.slices import slice_architectures
from krohn.program.stated import Part

Shapes = dict[str, tuple[int, ...]]


class Architecture(Part, ABC):
    """The object ``architecture`` of a header.

    Attributes:
        kind: Its name on file.
        check: The module of the checker that reads claims of such a file about a machine;
            empty if there are none.
        marks: How many tokens there are beside the letters: BOS.
        terms: What only claims about machines of such networks say.
    """

    kind: ClassVar[str]
    check: ClassVar[str] = ""
    marks: ClassVar[int] = 0
    terms: ClassVar[tuple[str, ...]] = ()
    named: ClassVar[dict[str, type["Architecture"]]] = {}

    @classmethod
    def of(cls, said: Any) -> Self:
        """Read the object; its name and the number format are read by a `Claim`.

        Raises:
            Refused: As of any other part.
        """
        demand(isinstance(said, Mapping), "an architecture is no object")
        return super().of({k: x for k, x in said.items() if k not in ("kind", "dtype")})

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls):
            Architecture.named[cls.kind] = cls

    @property
    def version(self) -> int:
        """The first version of model files whose readers know such a network."""
        return 1

    @property
    @abstractmethod
    def shapes(self) -> Shapes:
        """The shape of each tensor by its name.

        Raises:
            Refused: If the sizes do not fit together.
        """


def statements() -> Mapping[str, str]:
    """The module that declares each architecture, by its name on file."""
    brought = {name: each.statement for name, each in slice_architectures().items()}
    return {**brought, "transformer": "krohn.program.architectures.transformer"}


def architecture_named(name: Any) -> type[Architecture]:
    """The architecture of a name on file.

    Raises:
        Refused: If there is none.
    """
    demand(isinstance(name, str), f"there are no networks of kind {name!r}")
    if name not in Architecture.named and name in (known := statements()):
        import_module(known[name])
    demand(name in Architecture.named, f"there are no networks of kind {name!r}")
    return Architecture.named[name]


def affine(at: str, widths: Sequence[int]) -> Shapes:
    """The shapes of affine layers x ↦ x · weight + bias from each width to the next."""
    pairs = {f"{at}.{j}": pair for j, pair in enumerate(pairwise(widths))}
    biases = {f"{name}.bias": pair[1:] for name, pair in pairs.items()}
    return {**biases, **{f"{name}.weight": pair for name, pair in pairs.items()}}


def compressed_rows(
    matrices: Mapping[str, tuple[int, int]], entries: Mapping[str, int]
) -> Shapes:
    """The shapes of sparse matrices: three tensors each, by compressed rows."""
    shapes: Shapes = {}
    for name, (rows, _) in matrices.items():
        shapes[f"{name}.offsets"] = (rows + 1,)
        shapes[f"{name}.columns"] = shapes[f"{name}.values"] = (entries[name],)
    return shapes
