"""JSON Schemas of what commands print and write, made of the types of these objects."""

from collections.abc import Mapping
from typing import Any

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import near
from krohn.program.slices import slice_schemas

_ABOUT = {
    "cascade": "the file of `krohn decompose -o F.json`",
    "compile": "`krohn compile --json`",
    "decompose": "`krohn decompose --json`",
    "draw": "`krohn draw --json`",
    "error": "what `--json` prints of a command that cannot do what it is asked for",
    "evidence": "the head of evidence: `krohn verify --evidence E.json`",
    "explain": "`krohn explain --json`",
    "machine": "a machine in Krohn's own format",
    "model": "the header of a model file",
    "recheck": "`krohn recheck --json`",
    "run": "`krohn run --json`, for each input",
    "schema": "`krohn schema --json`",
    "verify": "`krohn verify --json`",
    "zoo": "`krohn zoo --json`",
}
"""The subject of each schema that is no slice's, by its name."""
ABOUT = dict(
    sorted(({name: x.about for name, x in slice_schemas().items()} | _ABOUT).items())
)
"""The subject of each schema, by its name."""
VERSIONS = {
    **dict.fromkeys(ABOUT, 1),
    **{name: schema.version for name, schema in slice_schemas().items()},
    "compile": 2,
    "decompose": 2,
    "explain": 2,
    "model": 3,
    "recheck": 2,
    "verify": 3,
}
"""Of each schema; raised when a reader of the one before could be wrong."""


def identifier(name: str) -> str:
    """The name of a schema with its version, as what is printed states it."""
    return f"urn:krohn:schema:{name}:{VERSIONS[name]}"


def with_schema(name: str, printed: Mapping[str, Any]) -> dict[str, Any]:
    """The output of a command, with the schema that it follows."""
    return {"schema": identifier(name), **printed}


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a name in `ABOUT`.

    Raises:
        KrohnError: If there is none.
    """
    if name not in ABOUT:
        raise KrohnError(
            f"there is no schema {name!r}{near(name, ABOUT)}; `krohn schema` lists them"
        )
    from krohn.schemas.catalogue import make_schema

    return make_schema(name, identifier(name), ABOUT[name])
