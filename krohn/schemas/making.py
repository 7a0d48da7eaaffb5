"""JSON Schemas, made of the types of what is printed and written."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from inspect import getdoc
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from krohn.program.domains import FloatArray, IntArray
from krohn.program.stated import Part, StatedSource

ENTRIES: dict[Any, type] = {FloatArray: float, IntArray: int}
"""What arrays of a type hold."""
DRAFT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
PLAIN = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    NoneType: "null",
}


@dataclass
class Maker:
    """Makes schemas of types, and keeps those of objects under their names.

    Objects are closed: they have the keys of their type and no others. A `Part` of a model
    file may leave out a key that has a default, but for its kind; of other types every key
    is there but for those that are `NotRequired`.

    Attributes:
        nulls: Whether a float may be null, where it is not finite.
        objects: The schema of each object by its name.
        names: The name of each type of objects.
    """

    nulls: bool = False
    objects: dict[str, Schema] = field(default_factory=dict)
    names: dict[Any, str] = field(default_factory=dict)

    def of(self, kind: Any) -> Schema:
        """The schema of a type.

        Raises:
            TypeError: If JSON holds no such thing.
        """
        if hasattr(kind, "json_type"):
            return self.of(kind.json_type())
        if is_typeddict(kind) or is_dataclass(kind) or hasattr(kind, "_fields"):
            return self._make_reference(kind)
        if kind is Any:
            return {}
        if kind is float and self.nulls:
            return {"type": ["number", "null"]}
        if kind in PLAIN:
            return {"type": PLAIN[kind]}
        return self._compose_schema(kind, get_origin(kind), get_args(kind))

    def _compose_schema(self, kind: Any, form: Any, inner: tuple[Any, ...]) -> Schema:
        """The schema of a type that is made of others, or of values."""
        if form in (NotRequired, Required):
            return self.of(inner[0])
        if form in (Union, UnionType):
            return _any_of(list(map(self.of, inner)))
        if form is Annotated and inner[0] in ENTRIES:
            return self.of(_rows(ENTRIES[inner[0]], inner[1]))
        if form is Annotated:
            return {**self.of(inner[0]), **_annotation_limits(inner[1])}
        if form is Literal:
            return {"const": inner[0]} if len(inner) == 1 else {"enum": list(inner)}
        if form in (dict, Mapping):
            return {"type": "object", "additionalProperties": self.of(inner[1])}
        if form in (list, tuple, Sequence):
            return self._array(form, inner)
        raise TypeError(f"{kind} is nothing that JSON holds")

    def _array(self, form: Any, inner: tuple[Any, ...]) -> Schema:
        if form is not tuple or inner[1:] == (...,):
            return {"type": "array", "items": self.of(inner[0])}
        each = [self.of(kind) for kind in inner]
        size = {"minItems": len(each), "maxItems": len(each)}
        return {"type": "array", "prefixItems": each, "items": False, **size}

    def _make_reference(self, kind: type) -> Schema:
        if kind not in self.names:
            name = kind.__name__
            if name in self.objects:  # of another module
                place = kind.__module__.removesuffix(".statement")
                name = place.rpartition(".")[2].title().replace("_", "") + name
            self.names[kind] = name
            self.objects[name] = {}  # it may hold itself
            self.objects[name] = self.object_of(kind)
        return {"$ref": f"#/$defs/{self.names[kind]}"}

    def object_of(self, kind: Any) -> Schema:
        """The schema of a dataclass, a `TypedDict` or a named tuple, without a name."""
        hints, texts = get_type_hints(kind, include_extras=True), descriptions(kind)
        if issubclass(kind, StatedSource):
            hints = _keys_of_source(kind, hints)
        elif is_dataclass(kind):
            hints = {f.name: hints[f.name] for f in fields(kind)}
        keys = list(hints)
        properties = {
            key: {**self.of(hints[key]), **texts.get(key, {})} for key in keys
        }
        doc = (getdoc(kind) or "").split("\n\n")[0]
        return {
            "description": _in_json(doc),
            "type": "object",
            "properties": properties,
            "required": [key for key in keys if key in _required_keys(kind, keys)],
            "additionalProperties": False,
        }


def _required_keys(kind: Any, keys: Sequence[str]) -> set[str]:
    """The keys that are always there."""
    if is_typeddict(kind):
        return set(kind.__required_keys__)
    if issubclass(kind, StatedSource):
        return set(keys) - {
            n for n, f in kind.fields_by_key().items() if f.default is None
        }
    if issubclass(kind, Part):
        return {
            f.name for f in fields(kind) if f.default is MISSING or f.name == "kind"
        }
    return set(keys)


def _keys_of_source(
    kind: type[StatedSource], hints: Mapping[str, Any]
) -> dict[str, Any]:
    """The types of the keys of a source: its kind, its fields, and names that follow."""
    keys: dict[str, Any] = {"kind": Literal[kind.kind]}
    for name, each in kind.fields_by_key().items():
        rule = hints[each.name]
        keys[name] = get_args(rule)[0] if each.default is None else rule
    return keys | dict.fromkeys(kind.derived, list[str])


def _rows(entry: type, axes: int) -> Any:
    """The type of an array in lists."""
    return list[_rows(entry, axes - 1)] if axes else entry  # type: ignore[misc]


def _any_of(each: list[Schema]) -> Schema:
    if all(list(one) == ["type"] and isinstance(one["type"], str) for one in each):
        return {"type": list(dict.fromkeys(one["type"] for one in each))}
    return {"anyOf": each}


def _annotation_limits(said: object) -> Schema:
    """The limits that an annotation adds to its type: the least number, or a pattern."""
    return {"pattern": said} if isinstance(said, str) else {"minimum": said}


# Descriptions, from docstrings.


WORDS = {"None": "null", "True": "true", "False": "false"}
ATTRIBUTE = re.compile(r"^    (\w+): ((?:.|\n {8})+)", re.M)


def descriptions(kind: type) -> dict[str, Schema]:
    """The description of each key that the docstring of a type, or of a base, has."""
    by_key = dict[str, Schema]()
    for base in reversed(kind.__mro__):
        listed = ((base.__doc__ and getdoc(base)) or "").partition("Attributes:\n")[2]
        for name, text in ATTRIBUTE.findall(listed):
            by_key[name] = {"description": _in_json(text)}
    return by_key


def meanings_of(*types: type) -> dict[str, str]:
    """The descriptions of the keys of some types; a later type goes first."""
    keys = (each for kind in types for each in descriptions(kind).items())
    return {name: text["description"] for name, text in keys}


def _in_json(text: str) -> str:
    """A description in one line, with the words of JSON for those of Python."""
    plain = " ".join(text.replace("`", "").split())
    return re.sub(r"\b(None|True|False)\b", lambda m: WORDS[m[0]], plain)
