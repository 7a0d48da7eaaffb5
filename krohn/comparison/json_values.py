"""Frozen dataclasses of plain values to JSON and back, by the types of their fields."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from krohn.algebra.errors import KrohnError

T = TypeVar("T")


def to_object(value: Any) -> Any:
    """A dataclass as JSON holds it; what is no finite number is null.

    Fields by name, tuples as lists.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_object(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): to_object(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [to_object(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class Written:
    """A comparison, which `krohn compare --json` writes.

    Attributes:
        version: Of how it is written.
        page: The module of `krohn.page` that shows it.
    """

    version: int
    page: ClassVar[str]

    def to_object(self) -> dict[str, Any]:
        """Itself for JSON."""
        found: dict[str, Any] = to_object(self)
        return found

    def html(self) -> str:
        """Itself as a page: no scripts, and nothing is fetched."""
        found: str = import_module(f"krohn.page.{self.page}").render(self)
        return found

    def _repr_html_(self) -> str:
        from krohn.notebook import framed

        return framed(self.html())

    @classmethod
    def from_object(cls, stated: object) -> Self:
        """What `to_object` gave.

        Raises:
            KrohnError: If it is of another version, or damaged.
        """
        if not isinstance(stated, Mapping) or "version" not in stated:
            raise KrohnError("this is no comparison that `krohn compare --json` wrote")
        if stated["version"] != cls.version:
            raise KrohnError(
                f"the comparison is of version {stated['version']!r}, and this Krohn reads "
                f"version {cls.version}; make it again"
            )
        return read(cls, stated, "the comparison")


def read(kind: type[T], stated: object, at: str) -> T:
    """A dataclass from JSON.

    Args:
        kind: Its class.
        stated: What `to_object` gave.
        at: What to call it in messages.

    Raises:
        KrohnError: If it is damaged.
    """
    found: T = _read(kind, stated, at)
    return found


def _read(kind: Any, stated: Any, at: str) -> Any:
    """A value of a type, whatever it is."""
    if kind is Any:
        return stated
    if is_dataclass(kind):
        return _fields(kind, stated, at)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return _optional(inner, stated, at)
    if origin is Literal:
        return _one_of(inner, stated, at)
    if origin is tuple:
        return _tuple(inner, _held(list, stated, at), at)
    if origin is dict:
        held = _held(dict, stated, at)
        return {k: _read(inner[1], v, f"{at}.{k}") for k, v in held.items()}
    return _plain(kind, stated, at)


def _fields(kind: Any, stated: Any, at: str) -> Any:
    held, types = _held(dict, stated, at), get_type_hints(kind)
    missing = {f.name for f in fields(kind)} ^ set(held)
    if missing:
        raise KrohnError(f"{at} is damaged at its field {min(missing)!r}")
    return kind(**{n: _read(types[n], held[n], f"{at}.{n}") for n in held})


def _optional(inner: tuple[Any, ...], stated: Any, at: str) -> Any:
    if stated is None and NoneType in inner:
        return None
    kinds = [k for k in inner if k is not NoneType]
    return _read(kinds[0], stated, at)


def _one_of(inner: tuple[Any, ...], stated: Any, at: str) -> Any:
    if not any(stated == value and type(stated) is type(value) for value in inner):
        raise KrohnError(f"{at} is damaged: it should be one of {inner}")
    return stated


def _tuple(inner: tuple[Any, ...], held: list[Any], at: str) -> tuple[Any, ...]:
    kinds = [inner[0]] * len(held) if inner[1:] == (...,) else list(inner)
    if len(kinds) != len(held):
        raise KrohnError(f"{at} is damaged: it needs {len(kinds)} values")
    return tuple(
        _read(k, v, f"{at}[{i}]")
        for i, (k, v) in enumerate(zip(kinds, held, strict=True))
    )


def _plain(kind: type, stated: Any, at: str) -> Any:
    if kind is float and type(stated) is int:
        return float(stated)
    return _held(kind, stated, at)


def _held(kind: type, stated: Any, at: str) -> Any:
    if type(stated) is not kind:
        raise KrohnError(f"{at} is damaged: it should be of the kind {kind.__name__}")
    return stated
