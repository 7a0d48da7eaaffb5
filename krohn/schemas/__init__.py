"""JSON Schemas of what commands print and write, made of the types of these objects."""

from collections.abc import Mapping
from typing import Any

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import near

ABOUT = {
    "attention": "`krohn attention --json`",
    "batch": "`krohn batch --json`, and its table as a .json file",
    "cascade": "the file of `krohn decompose -o F.json`",
    "circuit": "`circuit.json` of an export or of a workbench",
    "compare": "`krohn compare --json`",
    "compile": "`krohn compile --json`",
    "crasp": "`krohn crasp --json`",
    "decompile": "`krohn decompile --json`",
    "decompose": "`krohn decompose --json`",
    "draw": "`krohn draw --json`",
    "equivalent": "`krohn equivalent --json`",
    "error": "what `--json` prints of a command that cannot do what it is asked for",
    "evidence": "the head of evidence: `krohn verify --evidence E.json`",
    "explain": "`krohn explain --json`",
    "export": "`krohn export --json`",
    "formal": "`krohn formal --json`",
    "grammar": "`krohn grammar --json`",
    "interchange": "a line of `pairs.jsonl` of a workbench",
    "learn": "`krohn learn --json`",
    "machine": "a machine in Krohn's own format",
    "model": "the header of a model file",
    "recheck": "`krohn recheck --json`",
    "run": "`krohn run --json`, for each input",
    "schema": "`krohn schema --json`",
    "score": "`krohn score --json`",
    "verify": "`krohn verify --json`",
    "workbench": "`krohn workbench --json`",
    "workbench-index": "`workbench.json` of a workbench",
    "workbench-word": "a line of `words.jsonl` of a workbench",
    "zoo": "`krohn zoo --json`",
}
"""The subject of each schema, by its name."""
VERSIONS = {
    **dict.fromkeys(ABOUT, 1),
    "batch": 2,
    "circuit": 2,
    "compare": 2,
    "compile": 2,
    "equivalent": 2,
    "export": 2,
    "interchange": 2,
    "model": 3,
    "recheck": 2,
    "score": 2,
    "verify": 2,
    "workbench": 3,
    "workbench-index": 3,
    "workbench-word": 2,
}
"""Of each schema; raised when a reader of the one before could be wrong."""


def identifier(name: str) -> str:
    """The name of a schema with its version, as what is printed states it."""
    return f"urn:krohn:schema:{name}:{VERSIONS[name]}"


def named(name: str, printed: Mapping[str, Any]) -> dict[str, Any]:
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
    from krohn.schemas.catalogue import made

    return made(name, identifier(name), ABOUT[name])
