"""What is printed and written, held against its JSON Schema."""

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from krohn import schemas

PREFIX = "urn:krohn:schema:"


@cache
def validator(name: str) -> Draft202012Validator:
    """The validator of a schema, which is itself held against the draft."""
    found = schemas.schema(name)
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


def problem(name: str, told: Any) -> str:
    """Why an object is not as its schema says; empty if it is."""
    found = best_match(validator(name).iter_errors(told))
    return "" if found is None else f"{found.json_path}: {found.message[:300]}"


def hold(line: str) -> str:
    """A line that a command prints with ``--json``, which must be as its schema says."""
    told = json.loads(line, parse_constant=_refused)
    name, _, version = told["schema"].removeprefix(PREFIX).rpartition(":")
    assert told["schema"] == schemas.identifier(name), version
    assert problem(name, told) == "", name
    return line


def _refused(constant: str) -> None:
    raise AssertionError(f"JSON has no number {constant}")
