"""The types of the header of a model file."""

import pkgutil
from dataclasses import fields
from importlib import import_module
from typing import Any, Literal, NotRequired, TypedDict, get_type_hints

from krohn.algebra.formats.json_format import MachineFile
from krohn.program import architectures, operations
from krohn.program.architecture import Architecture
from krohn.program.architectures.rnn import Rnn
from krohn.program.architectures.transformer import Block
from krohn.program.functions import FUNCTIONS
from krohn.program.operations.base import Operation
from krohn.program.operations.letter_matrix import LetterMatrix
from krohn.program.operations.map import Map
from krohn.schemas.answers import Sublayer
from krohn.schemas.making import Maker, Schema
from krohn.schemas.parts import Digest, Dtype, Facts, Searched, Verdict
from krohn.sources.in_context import InContext


class SparseAttention(TypedDict):
    """Heads that see the last positions, and the ends of earlier blocks."""

    kind: Literal["sparse"]
    block: int
    windows: int
    last: int


class OtherAttention(TypedDict):
    """Heads that weigh positions in another way."""

    kind: Literal["softmax", "linear", "relu"]


class BlockBeside(TypedDict, total=False):
    """Optional keys of a block of a Transformer, beside its sizes."""

    attention: SparseAttention | OtherAttention
    activation: list[list[tuple[Literal["relu", "sine", "gelu"], int]]]
    sine: list[int]
    causal: list[bool]


class RandomNetwork(TypedDict):
    """The random network that a pruned one is cut from."""

    seed: int
    units: int


class RnnBeside(TypedDict, total=False):
    """Optional keys of an RNN, beside its sizes."""

    random: RandomNetwork


BESIDE = {Block: BlockBeside, Rnn: RnnBeside}


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


class StatedMachine(TypedDict):
    """The machine that a network of finitely many beliefs follows."""

    start: int
    transitions: list[list[int]]


class StatedProgram(TypedDict, total=False):
    """The Program of a network, with the places of its variables."""

    channels: "list[StatedChannel]"
    features: dict[str, tuple[int, int]]
    outputs: list[str]
    decode: list[tuple[list[int], int]]
    vector: list[float]
    machine: StatedMachine


class StatedChannel(TypedDict):
    """A channel of a Program; its schema is made of the operations that there are."""


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


class AnyArchitecture(TypedDict):
    """An architecture; its schema is made of those that are declared."""


# The sources of model files, by the names of their kinds.


class OuterFunction(TypedDict):
    """A function by its values on a grid."""

    low: float
    step: float
    values: list[list[float]]


class StatedAttentionTarget(TypedDict):
    """A weighted mean, F(Σ softmax[ρ] f)."""

    kind: Literal["attention-target"]
    name: str
    length: int
    causal: bool
    left: list[list[float]]
    right: list[list[float]]
    f: list[list[float]]
    outer: OuterFunction | None
    moduli: tuple[float, float, float]


class StatedSelectedMean(TypedDict):
    """A mean over selected positions."""

    kind: Literal["selected-mean"]
    name: str
    form: str
    length: int
    grid: NotRequired[int]
    masses: NotRequired[int]
    segments: NotRequired[int]
    picks: NotRequired[int]


class StatedGridFunction(TypedDict):
    """A function on a grid, by its values."""

    kind: Literal["grid-function"]
    name: str
    pieces: list[list[list[float]]]
    values: list[list[float]]


class Written(TypedDict):
    """The text of a dynamic program, with its sizes."""

    text: str
    given: dict[str, int]


class StatedChainOfThought(TypedDict):
    """The steps of a dynamic program."""

    kind: Literal["chain-of-thought"]
    name: str
    letters: list[str]
    contents: list[int]
    numbers: int
    prompt: list[tuple[int, int]]
    rules: list[Any]
    steps: list[Any]
    answer: int
    written: NotRequired[Written]


class StatedHiddenMarkov(TypedDict):
    """A hidden Markov model, or a weighted automaton."""

    kind: Literal["hidden-markov"]
    name: str
    states: list[str]
    letters: list[str]
    classes: list[str]
    matrices: list[list[list[float]]]
    start: list[float]
    final: NotRequired[list[float]]
    actions: NotRequired[list[int]]


class StatedKernel(TypedDict):
    """A convolution."""

    kind: Literal["kernel"]
    name: str
    length: int
    inputs: tuple[float, float]
    values: list[float]
    modes: list[tuple[float, float, float, float]]
    order: NotRequired[list[int]]


class StatedIncreasing(TypedDict):
    """Longest increasing subsequences."""

    kind: Literal["increasing"]
    name: str
    letters: list[str]
    longest: int
    largest: int


class StatedLinearSystem(TypedDict):
    """A linear system."""

    kind: Literal["linear-system"]
    name: str
    letters: list[str]
    classes: list[str]
    matrices: list[list[list[float]]]
    start: list[float]


class StatedVectorsInBlocks(TypedDict):
    """A linear system whose vector is written after each block."""

    kind: Literal["vectors-in-blocks"]
    name: str
    letters: list[str]
    classes: list[str]
    matrices: list[list[list[float]]]
    start: list[float]
    block: int


class StatedTextInBlocks(TypedDict):
    """A machine whose state is written after each block."""

    kind: Literal["text-in-blocks"]
    name: str
    letters: list[str]
    classes: list[str]
    transitions: list[list[int]]
    start: int
    block: int


class StatedPosteriorHead(TypedDict):
    """A guess of the letters or states of a hidden Markov model."""

    kind: Literal["posterior-head"]
    name: str
    task: str
    letters: list[str]
    classes: list[str]
    emissions: list[list[float]]
    transitions: list[list[float]]
    prior: list[float]
    radius: NotRequired[float]


class StatedRule(TypedDict):
    """A rule of a rewriting system."""

    window: list[list[int]]
    replaces: tuple[int, int]
    writes: list[int | list[Any]]


class StatedRewriting(TypedDict):
    """A rewriting system."""

    kind: Literal["rewriting"]
    name: str
    letters: list[str]
    longest: int
    functions: list[list[list[int]]]
    rules: list[StatedRule]


class StatedSequenceFunction(TypedDict):
    """A function of a sequence, as the Program that it is."""

    kind: Literal["program"]
    name: str
    letters: list[str]
    classes: list[str]
    program: StatedProgram


SOURCES: tuple[Any, ...] = (
    StatedAttentionTarget,
    StatedChainOfThought,
    StatedGridFunction,
    StatedHiddenMarkov,
    StatedIncreasing,
    StatedKernel,
    StatedLinearSystem,
    StatedPosteriorHead,
    StatedRewriting,
    StatedSelectedMean,
    StatedSequenceFunction,
    StatedTextInBlocks,
    StatedVectorsInBlocks,
)


class AnySource(TypedDict):
    """A source; its schema is made of those that there are."""


def declared(maker: Maker) -> None:
    """Make the objects of a header that follow from what is declared for the checker."""
    for package in (architectures, operations):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    known = Architecture.named
    maker.objects["AnyArchitecture"] = {
        "oneOf": [_architecture(maker, known[name]) for name in sorted(known)]
    }
    each = [Operation.named[name] for name in sorted(Operation.named)]
    maker.objects["StatedChannel"] = {"oneOf": [_channel(maker, op) for op in each]}
    maker.of(InContext)
    learner = maker.objects.pop("InContext")
    _add(learner, {"kind": {"const": "context-learner"}, "name": {"type": "string"}})
    names = {"type": "array", "items": {"type": "string"}}
    _add(learner, {"letters": names, "classes": names})
    sources = [*map(maker.of, SOURCES), learner]
    maker.objects["AnySource"] = {"oneOf": sources}


def _add(schema: Schema, properties: dict[str, Schema]) -> None:
    """Add keys that are always there, before the others."""
    schema["properties"] = properties | {
        k: v for k, v in schema["properties"].items() if k not in properties
    }
    others = [key for key in schema["required"] if key not in properties]
    schema["required"] = [*properties, *others]


def _architecture(maker: Maker, kind: type[Architecture]) -> Schema:
    found = maker.object_of(kind)
    _add(found, {"kind": {"const": kind.kind}, "dtype": maker.of(Dtype)})
    return found


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
    said = {"name": text, "op": {"const": kind.wire}, **own}
    return {
        "type": "object",
        "properties": {**said, **beside},
        "required": list(said),
        "additionalProperties": False,
    }
