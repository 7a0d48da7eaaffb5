"""Types of files that are written, of what commands print, and the schema of each name."""

from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, NotRequired, TypedDict, get_args

from krohn.algebra.formats.json_format import MachineFile
from krohn.program.slices import find, slice_schemas
from krohn.schemas import model_files
from krohn.schemas.answers import Checked, Run, Sublayer, Verified
from krohn.schemas.commands import (
    File,
)
from krohn.schemas.machines import MACHINES, Compiled, Decomposed, Zoo
from krohn.schemas.making import DRAFT, Maker, Schema
from krohn.schemas.model_files import Header
from krohn.schemas.parts import Digest, Dtype, Facts
from krohn.source_kinds import KINDS

# Cascades.


class ComponentMachine(TypedDict):
    """A component of a cascade, with its table."""

    states: list[str]
    letters: list[str]
    transitions: list[list[int]]


class WiringLayer(TypedDict):
    """The letter that a component reads at each node, and where the node leads."""

    emit: list[int]
    follow: list[list[int]]


class CascadeWiring(TypedDict):
    """The wiring of a cascade, from letters to the last component."""

    entry: list[int]
    layers: list[WiringLayer]


class CascadeFile(TypedDict):
    """A cascade, with all that its proof speaks about."""

    format: Literal["krohn-cascade"]
    version: Literal[1]
    letters: list[str]
    states: list[str]
    components: list[ComponentMachine]
    wiring: CascadeWiring
    projection: list[list[list[int]]]
    lift: list[list[int]]


# Evidence. What it holds beside this head depends on the network: docs/recheck.md.


Record = TypedDict(
    "Record",
    {
        "dtype": Dtype,
        "unit roundoff": float,
        "unit roundoff of sums": float,
        "steps": list[Sublayer | Facts],
    },
)


class Evidence(TypedDict):
    """The head of evidence: which model it is for, and what it establishes.

    Attributes:
        model: SHA-256 of the model file.
        noise: How far the numbers of each variable are off at most.
        leak: How much weight at most lies on wrong positions, by variable.
        margin: How far the right logit is ahead of every other one.
        error: How far an output is off at most.
        record: For people; the checker does not read it.
    """

    format: Literal["krohn-evidence"]
    version: Literal[1]
    model: Digest
    noise: NotRequired[dict[str, float]]
    leak: NotRequired[dict[str, float]]
    margin: NotRequired[float]
    error: NotRequired[float]
    record: NotRequired[Record]


# What ``krohn schema`` prints, and any command that cannot do what it is asked for.


class Error(TypedDict):
    """Why a command did nothing: exit code 2; 1 if a file makes another claim than asked.

    Attributes:
        error: The reason, and what to do, on one line.
    """

    error: str


class SchemaListed(TypedDict):
    """A schema.

    Attributes:
        about: What is of this form.
    """

    name: str
    version: Annotated[int, 1]
    id: str
    about: str


class Schemas(TypedDict):
    """The schemas that there are."""

    schemas: list[SchemaListed]


# All of them.


FACTS = sorted(
    (each for kind in KINDS.values() for each in kind.facts_types),
    key=lambda each: str(each.__name__),
)
"""Of each kind of source but machines the types of its facts."""
STATED = sorted(
    (kind.stated_type for kind in KINDS.values() if kind.stated_type is not None),
    key=lambda each: str(each.__name__),
)
"""Of each kind of source but machines what a model file states."""
PRINTED: dict[str, Any] = {
    "compile": Compiled,
    "decompose": Decomposed,
    "draw": File,
    "error": Error,
    "explain": reduce(or_, FACTS, MACHINES),
    "recheck": Checked,
    "run": Run,
    "schema": Schemas,
    "verify": Verified,
    "zoo": Zoo,
}
"""The type of each command's output, by its name; and the error of any of them."""
NOT_FINITE = frozenset({"compare", "run"})
"""Numbers of these may be no finite ones, which JSON writes as null."""
WRITTEN: dict[str, Any] = {
    "cascade": CascadeFile,
    "evidence": Evidence,
    "machine": MachineFile,
    "model": Header,
}
"""The type of each form of file, by its name."""
OPEN = frozenset({"Evidence"})
"""Objects that may have other keys."""


def make_schema(name: str, identifier: str, about: str) -> Schema:
    """A schema, with its name and a title.

    What is printed states the schema; files have a format and a version of their own.
    """
    maker = Maker(name in NOT_FINITE)
    kind, printed = _type(name)
    body = maker.of(kind)
    if name == "model":
        model_files.declare_objects(maker, STATED)
    for each in get_args(kind) or (kind,) if printed else ():
        _state(maker.objects[maker.names[each]], identifier)
    for each in OPEN & maker.objects.keys():
        del maker.objects[each]["additionalProperties"]
    head = {"$schema": DRAFT, "$id": identifier, "title": about.replace("`", "")}
    return {**head, **body, "$defs": dict(sorted(maker.objects.items()))}


def _type(name: str) -> tuple[Any, bool]:
    """The type of a schema, and whether it is printed."""
    if name in PRINTED:
        return PRINTED[name], True
    if name in WRITTEN:
        return WRITTEN[name], False
    brought = slice_schemas()[name]
    return find(brought.type), brought.printed


def _state(schema: Schema, identifier: str) -> None:
    """Demand the name of the schema as the first key."""
    schema["properties"] = {"schema": {"const": identifier}, **schema["properties"]}
    schema["required"] = ["schema", *schema["required"]]
