"""Types of what ``krohn zoo, explain, compile, batch, decompose --json`` print."""

from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

from krohn.algebra.classification.findings import Subgroup
from krohn.algebra.classification.properties import Property
from krohn.compiler.cost import Cost
from krohn.schemas.parts import (
    About,
    Digest,
    Dtype,
    MachineRemark,
    Remarks,
    Searched,
    Sizes,
    Tried,
    Verdict,
)

# krohn zoo, compile, batch, decompose


class ZooMachine(TypedDict):
    """A machine that has a name."""

    name: str
    states: int
    letters: int
    description: str


class ZooFamily(TypedDict):
    """Other sources that have names, by an example."""

    name: str
    kind: str
    description: str


class Zoo(TypedDict):
    """The machines and other sources that have names."""

    machines: list[ZooMachine]
    families: list[ZooFamily]


class Masks(TypedDict):
    """The random network that a pruned one is cut from.

    Attributes:
        units: Its units for each input.
        weights: How many weights were drawn.
        kept: How many of them are kept.
        bytes: The size of all that were drawn, in the format of the network.
    """

    seed: int
    units: int
    weights: int
    kept: int
    bytes: int


class Compiled(Sizes, Remarks):
    """The network that was compiled, proved and written.

    Attributes:
        file: The model file.
        claim: What is proved: every answer is right, every number is within an error, or
            texts are generated.
        error: How far an output may be off; null where answers are exact.
        length: The longest word; null for every length.
        shows: Whether logits stand for states or for outputs.
        nonzero: How many parameters are not 0.
        verdict: Of the proof; null if nobody asked for one.
        covers: What was proved, in words, as `krohn verify` says it.
        tried: What was tried before and is not proved.
    """

    file: str
    construction: str
    about: About
    digest: Digest
    claim: Literal["exact", "within", "generates", "laws"]
    error: float | None
    length: int | None
    dtype: Dtype
    effort: NotRequired[int | None]
    cut_short: NotRequired[list[str]]
    shows: Literal["states", "outputs"]
    nonzero: int
    random: NotRequired[Masks]
    verdict: Verdict | None
    covers: str | None
    tried: list[Tried]
    seconds: float


class ReadMeaning(TypedDict):
    """The meaning of a value of a component.

    Attributes:
        when: The values of components above at which this is so, in words; empty if
            they do not matter.
        possible: The states of the machine that are possible before.
        leaves: For each value the states that are left.
    """

    when: str
    possible: list[str]
    leaves: dict[str, list[str]]


class Meaning(TypedDict):
    """The meaning of all values of a component, in each context."""

    contexts: int
    same_everywhere: bool
    readings: list[ReadMeaning]


class CascadePart(TypedDict):
    """A component of a cascade.

    Attributes:
        component: Its number, from 1.
        states: How many values it has.
        reads: The numbers of the components that steer it.
        nodes: Of the wiring.
    """

    component: int
    kind: str
    states: int
    group: str
    order: int
    reads: list[int]
    nodes: int
    meaning: Meaning


class Coordinates(TypedDict):
    """The coordinates of a state."""

    state: str
    coordinates: list[int]


class MethodCost(TypedDict):
    """The cost of a method, or why it does not apply."""

    method: str
    depth: int
    values: int
    nodes: int


class MethodFailed(TypedDict):
    """Why a method came to nothing."""

    method: str
    reason: str


class Decomposed(Searched, MachineRemark):
    """A machine, taken apart into a cascade that is proved to cover it."""

    machine: str
    states: int
    letters: int
    method: str
    why: str
    levels: list[list[CascadePart]]
    covers: Literal[True]
    coordinates: int
    triples: int
    start: Coordinates
    steps: int
    tried: list[MethodCost | MethodFailed]
    file: NotRequired[str]


# krohn explain, of a machine


@dataclass(frozen=True, kw_only=True)
class NetworkRow(Cost):
    """A network of a machine, with its sizes.

    Attributes:
        widest: The width of the widest layer: of ``d_model`` and ``mlp_width``, the larger.
    """

    name: str
    widest: int
    summary: str


@dataclass(frozen=True, kw_only=True)
class FrontRow(NetworkRow):
    """A network that no other one beats in depth and parameters.

    Attributes:
        nonzero: How many parameters are not 0; null if they were not counted.
        proved: Null if it was not tried.
    """

    nonzero: int | None
    chosen: bool
    proved: bool | None


class ConstructionRow(TypedDict):
    """A construction that applies, with the sizes that its network has, or has at least.

    Attributes:
        exact: Whether these are its sizes; else it has no smaller ones, and ``heads`` and
            what follows is not known.
    """

    name: str
    depth: int
    layers: int
    d_model: int
    mlp_width: int
    parameters: int
    flops_per_token: int
    latency: float
    heads: NotRequired[int]
    largest_weight: NotRequired[float]
    narrowest: NotRequired[str]
    widest: int
    exact: bool
    summary: str


class Unavailable(TypedDict):
    """A construction that does not apply."""

    name: str
    reason: str


class Language(TypedDict):
    """The classes that a machine's language is in.

    Attributes:
        of: Which words it has.
        states: Of the minimal machine.
        tier: The letters that change a state.
        alike: Letters that act alike.
        network: What follows for networks.
    """

    of: str
    states: int
    tier: list[str]
    alike: list[list[str]]
    classes: list[Property]
    network: list[str]


class Alternative(TypedDict):
    """A network with less of some size than the chosen one.

    Attributes:
        minimise: The size, as ``--minimise`` takes it.
        name: The construction.
        latency: Predicted microseconds for a word.
    """

    minimise: str
    name: str
    layers: int
    depth: int
    widest: int
    parameters: int
    latency: float


class MachineFacts(Searched, MachineRemark):
    """The facts of a machine, and the table of its constructions.

    Attributes:
        states: How many it has.
        reachable: How many of them can be reached.
        minimal: How many states the minimal machine has.
        points: On how many points its letters act, if it is given so.
        monoid_size: Null if unknown.
        composition_factors: Of its groups; null if one is too large.
        depth: What the properties mean for the depth of networks.
        front: The networks that no other one beats in depth and parameters.
        constructions: Those that apply, best first.
        chosen: The one that compile writes; null if none serves.
        also: What has less of another size, by that size; not tried.
        proved: Whether the chosen one is; null if that was not tried, and compile may
            then find that it is not, and write another one.
        tried: What would be chosen before and is not proved.
    """

    name: str
    states: int
    letters: int
    start: str
    reachable: int
    minimal: int
    outputs: str
    points: int | None
    kind: str
    monoid_size: int | None
    monoid_at_least: int
    semigroup_size: int | None
    groups: list[Subgroup] | None
    composition_factors: list[str] | None
    aperiodic: bool | None
    solvable: bool | None
    properties: list[Property]
    depth: list[str]
    language: Language
    length: int
    dtype: Dtype
    front: list[FrontRow]
    constructions: list[ConstructionRow]
    unavailable: list[Unavailable]
    chosen: str | None
    proved: bool | None
    tried: list[Tried]
    also: list[Alternative]
    minimise: str
    why: str
    rnn_width: int


class FormRow(TypedDict):
    """How long a form of state space models is right in a format; or why there is none."""

    form: str
    dtype: Dtype | None
    layers: int | None
    right_for: str


class Forms(Searched, MachineRemark):
    """The state space models of a machine.

    Attributes:
        states: The states of the machine.
        letters: Its letters.
        every_length_by_fixed_decays: Whether a network with fixed real decays can compute
            it at every length; null if that is not known.
        every_length_by_chosen_decays: The same where letters choose decays.
        networks: The longest words on which each form is right, in each number format.
    """

    name: str
    states: int
    letters: int
    every_length_by_fixed_decays: bool | None
    every_length_by_chosen_decays: bool | None
    networks: list[FormRow]


MACHINES = MachineFacts | Forms
"""Of a machine: its facts, or those of its state space models."""
