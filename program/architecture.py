"""Architectures: the sizes that a model file states, and the tensors that follow.

Each is declared once, in `krohn.program.architectures`: for the reader of model files, for
the runtime and for the checker.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from itertools import pairwise
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeAlias,
    Union,
    get_args as _inside,
    get_origin as _form,
)

from krohn.program.errors import demand
from krohn.program.slices import slice_architectures

LARGEST = 2**31
MOST = 2**12
"""Parts may be empty, and so as many as a short header lists."""
Size: TypeAlias = Annotated[int, 1]
Count: TypeAlias = Annotated[int, 0]
"""A whole number from 0 on; a `Size` is one from 1 on."""
Sizes = tuple[Size, ...]
Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Part:
    """An object of a header. The types of its fields say which values they may have."""

    @classmethod
    def of(cls, said: Any) -> Self:
        """Read an object, all of it.

        Raises:
            Refused: If a value has another type, one is missing that has no default, or
                there is a key that no field is named by.
        """
        name = cls.__name__.lower()
        demand(isinstance(said, Mapping), f"a {name} is no object")
        known = {x.name: x for x in fields(cls)}
        others = sorted(map(str, said.keys() - known.keys()))
        demand(not others, f"nothing is about {str(others[:3])[:80]} of a {name}")
        told = [x for x in known.values() if x.name in said or x.default is MISSING]
        return cls(**{x.name: _read(x.type, said.get(x.name), x.name) for x in told})


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
    return {"transformer": "krohn.program.architectures.transformer", **brought}


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


def _read(rule: Any, said: Any, name: str) -> Any:
    """A value of a header that has a type."""
    form, inner = _form(rule), _inside(rule)
    if form in (Union, UnionType):
        return _read(_chosen(inner, said, name), said, name)
    if form is Annotated:
        fits = type(said) is int and inner[1] <= said <= LARGEST
        demand(fits, f"{name!r} is {said!r}, not a sensible size")
        return said
    if form is Literal or rule is bool:
        known = inner or (False, True)
        fits = any(type(said) is type(one) and said == one for one in known)
        demand(fits, f"{name!r} is {said!r}, and none of {', '.join(map(repr, known))}")
        return said
    if form is tuple:
        most = MOST if isinstance(inner[0], type) else LARGEST
        few = isinstance(said, list) and len(said) <= most
        demand(few, f"{name!r} is no list of at most {most}")
        each = inner if inner[-1] is not ... else inner[:1] * len(said)
        demand(len(each) == len(said), f"{name!r} has {len(said)} entries")
        return tuple(_read(x, y, name) for x, y in zip(each, said, strict=True))
    if form is dict:
        demand(isinstance(said, dict), f"{name!r} is no object")
        return {key: _read(inner[1], each, key) for key, each in said.items()}
    return rule.of(said)


def _chosen(inner: tuple[Any, ...], said: Any, name: str) -> Any:
    """Of several types the one that a value is said to have: by its ``kind``, if parts."""
    parts = {x.kind: x for x in inner if hasattr(x, "kind")}
    if not parts:
        return inner[0]
    kind = said.get("kind") if isinstance(said, Mapping) else None
    known = isinstance(kind, str) and kind in parts
    demand(known, f"{name!r} is {str(kind)[:40]!r}, and none of {', '.join(parts)}")
    return parts[kind]
