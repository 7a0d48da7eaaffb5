"""Architectures: the sizes that a model file states, and the tensors that follow.

Each is declared once, in `krohn.program.architectures`: for the reader of model files, for
the runtime and for the checker.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from itertools import pairwise
from pkgutil import iter_modules
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeAlias,
    TypeVar,
    Union,
    get_args as _inside,
    get_origin as _form,
)

from krohn.program.errors import demand

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
        """Read an object; other keys of it are left alone.

        Raises:
            Refused: If a value has another type, or one is missing that has no default.
        """
        demand(isinstance(said, Mapping), f"a {cls.__name__.lower()} is no object")
        told = [x for x in fields(cls) if x.name in said or x.default is MISSING]
        return cls(**{x.name: _read(x.type, said.get(x.name), x.name) for x in told})


class Architecture(Part, ABC):
    """The object ``architecture`` of a header.

    Attributes:
        kind: Its name on file.
        check: The module of the checker that reads claims of such a file about a machine;
            empty if there are none.
        terms: What only claims about machines of such networks say.
    """

    kind: ClassVar[str]
    check: ClassVar[str] = ""
    terms: ClassVar[tuple[str, ...]] = ()
    named: ClassVar[dict[str, type["Architecture"]]] = {}

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls):
            Architecture.named[cls.kind] = cls

    @property
    @abstractmethod
    def shapes(self) -> Shapes:
        """The shape of each tensor by its name.

        Raises:
            Refused: If the sizes do not fit together.
        """


A = TypeVar("A", bound=Architecture)


def architecture_named(name: Any) -> type[Architecture]:
    """The architecture of a name on file.

    Raises:
        Refused: If there is none.
    """
    demand(isinstance(name, str), f"there are no networks of kind {name!r}")
    if name not in Architecture.named:
        load("krohn.program.architectures", name)
    demand(name in Architecture.named, f"there are no networks of kind {name!r}")
    return Architecture.named[name]


def held(kind: type[A], header: Mapping[str, Any], tensors: Mapping[str, Any]) -> A:
    """The architecture of a file that has its tensors, and no others.

    Raises:
        Refused: If the file is of another kind, or has other tensors.
    """
    said = header["architecture"]
    found = architecture_named(said["kind"]).of(said)
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    demand(shapes == found.shapes, "the tensors are not as stated")
    demand(isinstance(found, kind), "the network is of another kind")
    assert isinstance(found, kind)
    return found


def affine(at: str, widths: Sequence[int]) -> Shapes:
    """The shapes of affine layers x ↦ x · weight + bias from each width to the next."""
    pairs = {f"{at}.{j}": pair for j, pair in enumerate(pairwise(widths))}
    biases = {f"{name}.bias": pair[1:] for name, pair in pairs.items()}
    return {**biases, **{f"{name}.weight": pair for name, pair in pairs.items()}}


def _read(rule: Any, said: Any, name: str) -> Any:
    """A value of a header that has a type."""
    form, inner = _form(rule), _inside(rule)
    if form in (Union, UnionType):
        return _read(inner[0], said, name)
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
        return tuple(_read(inner[0], each, name) for each in said)
    if form is dict:
        demand(isinstance(said, dict), f"{name!r} is no object")
        return {key: _read(inner[1], each, key) for key, each in said.items()}
    return rule.of(said)


def load(package: str, name: str) -> None:
    """Import the module of a package that is about a name on file, if there is one."""
    if type(name) is not str:
        return  # a file may say anything
    module = name.replace("-", "_")
    if module in {
        found.name for found in iter_modules(import_module(package).__path__)
    }:
        import_module(f"{package}.{module}")
