"""``krohn schema``."""

import json
from typing import Annotated

import typer

from krohn import schemas
from krohn.commands.options import Json, emit


def schema(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A name of the list; without, the list."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the JSON Schema of what a command prints with --json, or of a file."""
    if name is not None:
        print(json.dumps(schemas.schema(name), ensure_ascii=False, indent=1))
        return
    listed = [
        {
            "name": each,
            "version": schemas.VERSIONS[each],
            "id": schemas.identifier(each),
            "about": about.replace("`", ""),
        }
        for each, about in schemas.ABOUT.items()
    ]
    emit("schema", {"schemas": listed}, as_json, lambda: _show(listed))


def _show(listed: list[dict[str, object]]) -> None:
    for each in listed:
        print(f"{each['name']:<16} {each['version']}  {each['about']}")
