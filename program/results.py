"""Results as JSON and back, by the types of the fields of their classes.

A result is a frozen dataclass of plain values: numbers, texts, tuples, dicts and other
results. Its JSON Schema is made from the same types (`krohn.schemas.making`), so that each
result is described once. What a checker reads is read by `krohn.program.strict_json`.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from krohn.program.errors import KrohnError

T = TypeVar("T")


def to_object(value: Any) -> Any:
    """A result as JSON has it: fields by name, tuples as lists.

    What is no finite number, which JSON does not have, is null.
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


def from_object(kind: type[T], stated: object, at: str) -> T:
    """Read the object that `to_object` gave.

    Args:
        kind: The class of the result.
        stated: The object.
        at: What messages call it.

    Raises:
        KrohnError: If a field is unknown, of another type, or missing without a default;
            the message says which, as in ``the comparison.origin.seeds[0]``. Fields that
            were added later have defaults, so that what was kept before is read.
    """
    result: T = _value(kind, stated, at)
    return result


def _value(kind: Any, stated: Any, at: str) -> Any:
    """A value of a type, whatever it is."""
    if kind is Any:
        return stated
    if is_dataclass(kind):
        return _instance(kind, stated, at)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return _optional(inner, stated, at)
    if origin is Literal:
        if not any(stated == value and type(stated) is type(value) for value in inner):
            raise KrohnError(f"{at} is damaged: it should be one of {inner}")
        return stated
    if origin is tuple:
        return _tuple(inner, _instance_of(list, stated, at), at)
    if origin is dict:
        entries = _instance_of(dict, stated, at).items()
        return {key: _value(inner[1], each, f"{at}.{key}") for key, each in entries}
    if kind is float and type(stated) is int:
        return float(stated)
    return _instance_of(kind, stated, at)


def _instance(kind: Any, stated: Any, at: str) -> Any:
    """An instance of a dataclass, with a value for each of its fields."""
    values, types = _instance_of(dict, stated, at), get_type_hints(kind)
    known = {f.name for f in fields(kind)}
    needed = {f.name for f in fields(kind) if f.default is MISSING}
    if wrong := needed - set(values) | set(values) - known:
        raise KrohnError(f"{at} is damaged at its field {min(wrong)!r}")
    return kind(**{n: _value(types[n], values[n], f"{at}.{n}") for n in values})


def _optional(inner: tuple[Any, ...], stated: Any, at: str) -> Any:
    if stated is None and NoneType in inner:
        return None
    kinds = [kind for kind in inner if kind is not NoneType]
    return _value(kinds[0], stated, at)


def _tuple(inner: tuple[Any, ...], stated: list[Any], at: str) -> tuple[Any, ...]:
    kinds = [inner[0]] * len(stated) if inner[1:] == (...,) else list(inner)
    if len(kinds) != len(stated):
        raise KrohnError(f"{at} is damaged: it needs {len(kinds)} values")
    return tuple(
        _value(kind, each, f"{at}[{i}]")
        for i, (kind, each) in enumerate(zip(kinds, stated, strict=True))
    )


def _instance_of(kind: type, stated: Any, at: str) -> Any:
    if type(stated) is not kind:
        raise KrohnError(f"{at} is damaged: it should be of the kind {kind.__name__}")
    return stated
