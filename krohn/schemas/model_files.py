"""The types of the header of a model file."""

from collections.abc import Sequence
from dataclasses import fields
from importlib import import_module
from typing import Any, Literal, NotRequired, TypedDict, get_type_hints

from krohn.algebra.formats.json_format import MachineFile
from krohn.program.architecture import Architecture, statements
from krohn.program.functions import FUNCTIONS
from krohn.program.operations import operation_modules
from krohn.program.operations.base import Operation
from krohn.program.operations.letter_matrix import LetterMatrix
from krohn.program.operations.map import Map
from krohn.schemas.answers import Sublayer
from krohn.schemas.making import Maker, Schema
from krohn.schemas.parts import Digest, Dtype, Facts, Searched, StatedProgram, Verdict


class NamedOutputs(TypedDict):
    """The names of what a network says."""

    names: list[str]


class MachineNames(TypedDict, total=False):
    """The names that a file of another maker has."""

    letters: list[str]
    states: list[str]
    output: NamedOutputs


class ModelClaim(TypedDict, total=False):
    """The claim of a model file; docs/model-format.md says which networks have which term.

    Attributes:
        length: The longest word; null for every length.
        error: How far any output is off at most.
        model_error: Of these, how far in exact arithmetic.
        letters: Of a text in blocks: the longest word whose text fits.
    """

    start: str
    dtype: Dtype
    shows: Literal["states", "outputs"]
    length: int | None
    kind: Literal["exact", "within", "generates"]
    error: float
    model_error: float
    letters: int
    opening: str
    tolerance: float


class ModelEvidence(TypedDict):
    """A record of what the checker established; no proof."""

    verdict: Verdict
    steps: list[Sublayer | Facts]


class Freedom(TypedDict):
    """The free parameters that were chosen for a generator of brackets."""

    attention: str
    depth: str
    scale: float
    seed: int


class PositionTable(TypedDict):
    """The position table of a compact file: rows, and of each column a formula or null."""

    rows: int
    columns: list[list[str | float] | None]


class Stored(TypedDict):
    """How the tensors of a compact file are made.

    Attributes:
        entries: The shapes of tensors that are held by their entries.
    """

    entries: dict[str, list[int]]
    positions: NotRequired[PositionTable]


class Header(TypedDict):
    """The header of a model file; a file is about a machine or about another source.

    Attributes:
        digest: SHA-256 of the claim.
        program: Of a Transformer.
        search: How much was searched for its construction.
        evidence: Null if nothing was proved.
        freedom: Of a generator of brackets.
        stored: Of a compact file.
        action: How letters act on a smaller set: a help to compile the machine anew.
    """

    format: Literal["krohn-model"]
    version: Literal[1, 2, 3, 4, 5, 6, 7]
    architecture: "AnyArchitecture"
    machine: NotRequired[MachineFile | MachineNames]
    source: NotRequired["AnySource"]
    digest: NotRequired[Digest]
    construction: NotRequired[str]
    claim: ModelClaim
    program: NotRequired[StatedProgram]
    search: NotRequired[Searched]
    evidence: NotRequired[ModelEvidence | None]
    freedom: NotRequired[Freedom]
    stored: NotRequired[Stored]
    action: NotRequired[list[list[int]]]


class AnyArchitecture(TypedDict):
    """An architecture; its schema is made of those that are declared."""


class AnySource(TypedDict):
    """A source; its schema is made of those that there are."""


def declare_objects(maker: Maker, sources: Sequence[Any]) -> None:
    """Make the objects of a header that follow from what is declared elsewhere.

    Args:
        maker: Makes them.
        sources: The types of what kinds of sources state.
    """
    for module in (*statements().values(), *operation_modules().values()):
        import_module(module)
    known = Architecture.named
    maker.objects["AnyArchitecture"] = {
        "oneOf": [_architecture(maker, known[name]) for name in sorted(known)]
    }
    each = [Operation.named[name] for name in sorted(Operation.named)]
    maker.objects["StatedChannel"] = {"oneOf": [_channel(maker, op) for op in each]}
    schemas = list(map(maker.of, sources))
    maker.objects["AnySource"] = {"oneOf": schemas}


def _add(schema: Schema, properties: dict[str, Schema]) -> None:
    """Add keys that are always there, before the others."""
    schema["properties"] = properties | {
        k: v for k, v in schema["properties"].items() if k not in properties
    }
    others = [key for key in schema["required"] if key not in properties]
    schema["required"] = [*properties, *others]


def _architecture(maker: Maker, kind: type[Architecture]) -> Schema:
    schema = maker.object_of(kind)
    _add(schema, {"kind": {"const": kind.kind}, "dtype": maker.of(Dtype)})
    return schema


def _channel(maker: Maker, kind: type[Operation]) -> Schema:
    """A channel of an operation: its fields, its values, and where it lies."""
    number, text = {"type": "integer"}, {"type": "string"}
    matrix = maker.of(list[list[float]])
    own: dict[str, Schema] = {}
    if kind is Map:
        functions: Schema = {"enum": sorted(FUNCTIONS)}
        own = {"function": functions, "inputs": maker.of(list[str])}
    elif kind is LetterMatrix:
        own = {"source": text, "matrices": {"type": "array", "items": matrix}}
    else:
        hints = get_type_hints(kind)
        own = {f.name: maker.of(hints[f.name]) for f in fields(kind)}
    beside: dict[str, Schema] = {
        "domain": {"type": "array", "items": number},
        "vectors": matrix,
        "code": {"enum": ["integer", "one-hot", "matrix", "vector"]},
        "dims": maker.of(tuple[int, int]),
        "snapshots": maker.of(tuple[int, int]),
        "head": number,
    }
    if kind is Map:
        beside |= {"rows": maker.of(list[list[int]]), "expression": {"type": "array"}}
    if kind is LetterMatrix:
        beside |= {"start": maker.of(list[float])}
    required = {"name": text, "op": {"const": kind.wire}, **own}
    return {
        "type": "object",
        "properties": {**required, **beside},
        "required": list(required),
        "additionalProperties": False,
    }
