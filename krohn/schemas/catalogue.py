"""The schema of each name."""

from functools import reduce
from operator import or_
from typing import Any, get_args

from krohn.schemas import commands, explanations, files
from krohn.schemas.answers import Run
from krohn.schemas.making import DRAFT, Maker, Schema

PRINTED: dict[str, Any] = {
    **commands.PRINTED,
    "explain": reduce(or_, explanations.SOURCES, explanations.MACHINES),
    "run": Run,
}
"""The type of each command's output."""
NOT_FINITE = frozenset({"compare", "run"})
"""Numbers of these may be no finite ones, which JSON writes as null."""


def made(name: str, identifier: str, about: str) -> Schema:
    """A schema, with its name and a title.

    What is printed states the schema; files have a format and a version of their own.
    """
    maker = Maker(name in NOT_FINITE, files.BESIDE)
    printed = name in PRINTED
    kind = PRINTED[name] if printed else files.WRITTEN[name]
    body = maker.of(kind)
    if name == "model":
        files.declared(maker)
    for each in get_args(kind) or (kind,) if printed else ():
        _state(maker.objects[maker.names[each]], identifier)
    for each in files.OPEN & maker.objects.keys():
        del maker.objects[each]["additionalProperties"]
    head = {"$schema": DRAFT, "$id": identifier, "title": about.replace("`", "")}
    return {**head, **body, "$defs": dict(sorted(maker.objects.items()))}


def _state(schema: Schema, identifier: str) -> None:
    """Demand the name of the schema as the first key."""
    schema["properties"] = {"schema": {"const": identifier}, **schema["properties"]}
    schema["required"] = ["schema", *schema["required"]]
