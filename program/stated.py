"""Objects of a model file, each declared once: by its types it is read and written.

A `Part` is any object of a header. A `StatedSource` is what a header says of a source that
is no machine: compiler, checker, commands and schemas take the same class, so that there is
nothing on which two readers could differ.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from types import NoneType, UnionType
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

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.program.strict_json import real, reals, whole

LARGEST = 2**31
MOST = 2**12
"""Parts may be empty, and so as many as a short header lists."""
Size: TypeAlias = Annotated[int, 1]
Count: TypeAlias = Annotated[int, 0]
"""A whole number from 0 on; a `Size` is one from 1 on."""
Sizes = tuple[Size, ...]
Vector: TypeAlias = Annotated[FloatArray, 1]
Matrix: TypeAlias = Annotated[FloatArray, 2]
Matrices: TypeAlias = Annotated[FloatArray, 3]
"""Real numbers in an array of so many axes."""
ARRAYS: Mapping[Any, Callable[[Any, int], Any]] = {FloatArray: reals, IntArray: whole}
"""How the arrays of a type are read."""


class Stated:
    """A dataclass whose fields are the keys of an object, by whose types they are read."""

    @classmethod
    def fields_by_key(cls) -> dict[str, Field[Any]]:
        """Its keys, with the fields that are called so."""
        return {key.name: key for key in fields(cls)}  # type: ignore[arg-type]

    @classmethod
    def read_fields(cls, said: Any) -> dict[str, Any]:
        """The values of its fields in an object, all of it.

        Raises:
            Refused: If a value has another type, one is missing that has no default, or
                there is a key that no field is named by.
        """
        name = getattr(cls, "kind", cls.__name__.lower())
        demand(isinstance(said, Mapping), f"a {name} is no object")
        known = cls.fields_by_key()
        others = sorted(map(str, said.keys() - known.keys()))
        demand(not others, f"a {name} has no {str(others[:3])[1:-1][:80]}")
        needed = {key for key, x in known.items() if x.default is MISSING}
        absent = sorted(needed - said.keys())
        demand(not absent, f"a {name} does not say its {str(absent)[1:-1]}")
        return {known[key].name: _read(known[key], said[key]) for key in said}

    def to_wire(self) -> dict[str, Any]:
        """The object. What is None by default is left out if it is None."""
        stated = {
            key: getattr(self, each.name)
            for key, each in self.fields_by_key().items()
            if each.default is MISSING or getattr(self, each.name) is not None
        }
        return {key: _serialize_value(value) for key, value in stated.items()}


@dataclass(frozen=True)
class Part(Stated):
    """An object of a header. The types of its fields say which values they may have."""

    @classmethod
    def of(cls, said: Any) -> Self:
        """Read an object, all of it.

        Raises:
            Refused: As `read_fields` does; or if values do not fit together.
        """
        return cls(**cls.read_fields(said))


class StatedSource(Stated):
    """The object ``source`` of a header.

    What compilers and reference interpreters add stands in classes that are made of the
    one that has the kind; fields of theirs are on no file.

    Attributes:
        kind: Its name on file.
        derived: Keys of names that follow from the fields; properties are called so.
    """

    kind: ClassVar[str]
    derived: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def fields_by_key(cls) -> dict[str, Field[Any]]:
        """Its keys, with the fields of the class that has the kind.

        A field whose metadata have a ``key`` is called so on file.
        """
        listed = fields(cls.declaration())
        return {x.metadata.get("key", x.name): x for x in listed}

    @classmethod
    def declaration(cls) -> Any:
        """The class that has the kind."""
        return next(each for each in cls.__mro__ if "kind" in vars(each))

    def to_wire(self) -> dict[str, Any]:
        """The object, with its kind and the names that follow."""
        names = {key: list(getattr(self, key)) for key in self.derived}
        return {"kind": self.kind, **super().to_wire(), **names}

    @classmethod
    def from_wire(cls, said: Mapping[str, Any]) -> Self:
        """Read the object, all of it.

        Raises:
            Refused: If it states no such source, or other names than those that follow.
        """
        demand(isinstance(said, Mapping), f"a {cls.kind} is no object")
        demand(said.get("kind") == cls.kind, f"this is no {cls.kind}")
        rest = said.keys() - {"kind", *cls.derived}
        source = cls(**cls.read_fields({key: said[key] for key in rest}))
        for key in cls.derived:
            right = said.get(key) == list(getattr(source, key))
            demand(right, f"of a {cls.kind} the {key} have other names")
        return source


def _read(key: Field[Any], said: Any) -> Any:
    """The value of a field. It can be null if there is no other way to leave it out."""
    if said is None and key.default is MISSING and NoneType in _inside(key.type):
        return None
    return _read_as(key.type, said, key.name)


def _read_as(rule: Any, said: Any, name: str) -> Any:
    """A value of a header that has a type."""
    form, inner = _form(rule), _inside(rule)
    if form in (Union, UnionType):
        return _read_as(_choose_type(inner, said, name), said, name)
    if form is Annotated:
        if inner[0] in ARRAYS:
            return ARRAYS[inner[0]](said, inner[1])
        fits = type(said) is int and inner[1] <= said <= LARGEST
        demand(fits, f"{name!r} is {said!r}, not a sensible size")
        return said
    if form is Literal or rule is bool:
        known = inner or (False, True)
        fits = any(type(said) is type(one) and said == one for one in known)
        demand(fits, f"{name!r} is {said!r}, and none of {', '.join(map(repr, known))}")
        return said
    if form is tuple:
        empty = isinstance(inner[0], type) and issubclass(inner[0], Part)
        most = MOST if empty else LARGEST
        few = isinstance(said, list) and len(said) <= most
        demand(few, f"{name!r} is no list of at most {most}")
        each = inner if inner[-1] is not ... else inner[:1] * len(said)
        demand(len(each) == len(said), f"{name!r} has {len(said)} entries")
        return tuple(_read_as(x, y, name) for x, y in zip(each, said, strict=True))
    if form is dict:
        demand(isinstance(said, dict), f"{name!r} is no object")
        return {key: _read_as(inner[1], each, key) for key, each in said.items()}
    if rule is str:
        demand(type(said) is str, f"{name!r} is no text")
        return said
    return real(said) if rule is float else rule.of(said)


def _choose_type(inner: tuple[Any, ...], said: Any, name: str) -> Any:
    """Of several types the one that a value is said to have: by its ``kind``, if parts."""
    parts = {x.kind: x for x in inner if hasattr(x, "kind")}
    if not parts:
        return inner[0]
    kind = said.get("kind") if isinstance(said, Mapping) else None
    known = isinstance(kind, str) and kind in parts
    demand(known, f"{name!r} is {str(kind)[:40]!r}, and none of {', '.join(parts)}")
    return parts[kind]


def _serialize_value(value: Any) -> Any:
    """A value of a field, as JSON has it."""
    if hasattr(value, "to_wire"):
        return value.to_wire()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return list(map(_serialize_value, value)) if isinstance(value, tuple) else value
