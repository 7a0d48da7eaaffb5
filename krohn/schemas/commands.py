"""The types of what commands print with ``--json``, but for ``explain`` and ``run``."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from krohn.algebra.formats.json_format import MachineFile
from krohn.batch_work import RowResult
from krohn.comparison.belief_result import BeliefComparison
from krohn.comparison.result import Comparison
from krohn.equivalence.question import Answer, Notion
from krohn.formal import Formal
from krohn.learning.lstar import Kind
from krohn.schemas.parts import (
    About,
    Digest,
    Dtype,
    Facts,
    MachineRemark,
    Remarks,
    Searched,
    Sizes,
    Tried,
    Verdict,
)
from krohn.sources.grammars.bounded import Row
from krohn.verify.testing.counterexample import Reading
from krohn.verify.trusted import TrustedFile
from krohn.workbench.checking import Checked as CheckedModel
from krohn.workbench.making import Made
from krohn.workbench.scoring import Score


class Error(TypedDict):
    """Why a command did nothing; its exit code is 2.

    Attributes:
        error: The reason, and what to do, on one line.
    """

    error: str


class File(MachineRemark):
    """A picture that was drawn."""

    file: str


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
    """

    seed: int
    units: int
    weights: int
    kept: int


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
        tried: What was tried before and is not proved.
    """

    file: str
    construction: str
    about: About
    digest: Digest
    claim: Literal["exact", "within", "generates"]
    error: float | None
    length: int | None
    dtype: Dtype
    effort: NotRequired[int | None]
    cut_short: NotRequired[list[str]]
    shows: Literal["states", "outputs"]
    nonzero: int
    random: NotRequired[Masks]
    verdict: Verdict | None
    tried: list[Tried]
    seconds: float


class Batch(TypedDict):
    """The rows of a table, each compiled, proved and run.

    Attributes:
        passed: How many rows are verified, and answer every labelled word as expected.
    """

    rows: list[RowResult]
    passed: int
    failed: int


class ReadMeaning(TypedDict):
    """The meaning of a value of a component.

    Attributes:
        possible: The states of the machine that are possible before.
        leaves: For each value the states that are left.
    """

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


# krohn verify and recheck


class Counterexample(TypedDict):
    """A word on which a network and its machine differ.

    Attributes:
        expected: What the machine says along the word.
        actual: What the network says.
    """

    word: list[str]
    expected: list[str]
    actual: list[str]
    reading: Reading


HeadLimits = TypedDict(
    "HeadLimits",
    {
        "block": int,
        "head": int,
        "spread": float,
        "half among": float | None,
        "half on the first letter": int | None,
        "half on an earlier letter": int | None,
        "positions apart": float | None,
        "kappa": float | None,
        "lost at": int | None,
        "lost how": str | None,
    },
)


class Closest(TypedDict):
    """A bound, and the number that came closest to it.

    Attributes:
        operation: The kind of bound.
        channel: Which one; for logits the class.
        snapshot: Where in the residual stream.
        observed: How far the number was off; for a margin how wide it was.
        bound: What the proof allows, or demands.
        word: The letters, as indices.
        position: After how many of them.
        way: How the network was run.
        again: For a violation, whether it is there when the word is run by itself.
        share: Observed / bound; above 1 is a violation. Null if it is infinite.
    """

    operation: str
    channel: str
    snapshot: int
    observed: float
    bound: float
    word: list[int]
    position: int
    way: str
    again: bool | None
    share: float | None


class Attacked(TypedDict):
    """The result of an attack on a proof."""

    positions: int
    ways: dict[str, int]
    left_out: dict[str, str]
    numbers: dict[str, int]
    tightest: list[Closest]
    violations: list[Closest]
    seconds: float


class ChannelNoise(TypedDict):
    """How exactly a variable is stored, and where its head looks.

    Attributes:
        noise: How far its number is off at most.
        gap: By how much the right score is above all others.
        leak: The weight that is on other positions at most.
    """

    channel: str
    noise: float
    gap: NotRequired[float]
    leak: NotRequired[float]
    score_error: NotRequired[float]


class Sublayer(TypedDict):
    """Proved noise and margin of one sublayer of a Transformer."""

    sublayer: str
    channels: NotRequired[list[ChannelNoise]]
    error: NotRequired[float]
    margin: NotRequired[float]


class Checked(MachineRemark):
    """The small checker's verdict on evidence.

    Attributes:
        facts: What it has shown; nothing if it is not verified.
        found_in: Seconds of the proof that found the evidence; null if it was there.
        size: Bytes of evidence.
    """

    about: About
    verdict: Literal["verified", "undecided"]
    reason: str
    facts: Facts
    seconds: float
    found_in: float | None
    size: int
    digest: Digest


class Trusted(TypedDict):
    """The files and lines that a proof rests on."""

    files: int
    lines: int
    code: int
    ran: int
    each: list[TrustedFile]


class Verified(MachineRemark):
    """The result of a verification: all that is known of a model file.

    Attributes:
        verdict: verified: everything that was asked for holds. refuted: the network is
            wrong on a word, which was replayed. undecided: neither is shown.
            out-of-range: longer words were asked about than there are positions for.
        digest: SHA-256 of the claim.
        method: What was done, joined by +.
        reason: Why it is not verified.
        length: The longest word that the verdict is about; null for every length.
        words: How many words were run.
        largest_error: How far an output was from what is right there, at most; null if
            answers are classes, or nothing was run.
        covers: Which inputs the verdict is about, in words.
        counterexample: A word on which it is wrong.
        minimal: Whether no shorter word is one.
        evidence: The steps of the proof.
        replay: The command that shows a wrong word again.
        written: The evidence that was written to a file.
        trusted: What the proof rests on, with --trusted.
    """

    verdict: Verdict
    about: About | None
    digest: Digest | None
    claim: Literal["exact", "within", "generates"]
    error: float | None
    method: str
    reason: str
    length: int | None
    words: int
    largest_error: float | None
    covers: str
    counterexample: Counterexample | None
    minimal: bool | None
    minimality: str | None
    evidence: list[Sublayer | Facts] | None
    heads: list[HeadLimits]
    notes: list[str]
    attack: Attacked | None
    seconds: float
    replay: str | None
    written: NotRequired[Checked]
    trusted: NotRequired[Trusted]


# krohn export, attention, equivalent, crasp


class Exported(TypedDict):
    """An export, and how it answers beside the model file.

    Attributes:
        to: The library.
        arithmetic: What is computed there.
        proved: What holds of it for all words.
        words: How many words were run there.
        length: How long the longest are.
        deviation: By how much a logit differs at most.
        wrong: How many answers are wrong; no export is written that has one.
    """

    to: Literal["transformer-lens", "huggingface", "onnx", "gpt2"]
    directory: str
    arithmetic: str
    proved: str
    words: int
    length: int
    deviation: float
    against: Literal["the machine", "the source", "the network", "nothing"]
    wrong: Literal[0]


Attending = TypedDict(
    "Attending",
    {
        "file": str,
        "construction": str,
        "attention": NotRequired[str],
        "depth": NotRequired[str],
        "scale": NotRequired[float],
        "seed": NotRequired[int],
        "beta": NotRequired[float],
        "worst S/P": NotRequired[float],
        "weight on top": float,
    },
)
Attention = TypedDict(
    "Attention",
    {
        "word": list[str],
        "networks": list[Attending],
        "variations": list[list[float]],
        "mean variation": float | None,
        "random baseline": float,
        "function error": float,
        "words": int,
        "length": int,
        "picture": NotRequired[str],
    },
)


class TwoNetworks(TypedDict):
    """Whether two model files are one function, and which tensors are the same.

    Attributes:
        notion: What was compared.
        length: The longest words that the verdict is about; null for every length.
        word: A shortest word after which they say different things.
        says: What each says then.
        renamed: If they are one function up to names: which names differ.
        shared: The tensors that are equal, byte by byte.
        others: How many tensors are not.
        random: Whether both are masks of one random network.
    """

    left: str
    right: str
    about: tuple[About, About]
    notion: Notion
    verdict: Literal["verified", "refuted", "undecided"]
    reason: str
    length: int | None
    word: list[str] | None
    says: tuple[str, str] | None
    renamed: list[tuple[str, str]] | None
    shared: list[str]
    others: int
    random: bool
    digests: tuple[Digest, Digest]


@dataclass(frozen=True, kw_only=True)
class CountingProgram(Answer):
    """A counting program that was derived, and whether it accepts the same words.

    Attributes:
        depth: Counts of counts of ….
        sums: How many sums it has.
        program: Its text.
        at_least: Every program of the language is at least so deep: 0, 1 or 2.
        words: Why: a word that is accepted and one that is not, which no program of less
            depth tells apart.
    """

    depth: int
    sums: int
    program: str
    at_least: int
    words: list[list[str]] | None
    file: str | None


# krohn grammar


class Cut(TypedDict):
    """How likely a sentence lies within a depth, exactly and as a number."""

    depth: int
    within: str
    probability: float


class CutLaws(TypedDict):
    """The law of the next letter of a cut, beside that of the grammar."""

    depth: int
    states: int
    divergence: float
    lengths: list[Row]


class AskedWord(TypedDict):
    """The exact probabilities of a word."""

    word: list[str]
    probability: str
    prefix: str
    next: dict[str, str]


class HiddenLetters(TypedDict):
    """The exact laws of the hidden letters of a word, by their places."""

    word: list[str]
    hidden: dict[str, dict[str, str]]


class Sentence(TypedDict):
    """A random sentence."""

    sentence: list[str]
    depth: int


class Grammar(TypedDict):
    """A grammar with probabilities."""

    name: str
    symbols: int
    rules: int
    letters: list[str]
    mean_length: float
    depths: list[Cut]
    cut: NotRequired[CutLaws]
    asked: NotRequired[AskedWord | HiddenLetters]
    sample: NotRequired[list[Sentence]]


# krohn learn, decompile, workbench


class LearnedMachine(TypedDict):
    """The machine that a network follows.

    Attributes:
        verdict: isomorphic to the machine that it was held against, different, or
            unnamed: there is none.
        length: Words of up to so many letters were asked.
        right: The network follows the machine on all words of up to so many letters.
        spent: What ended the search early.
        parted: A word on which the network leaves every machine that so few words tell of.
        bijection: The state of the other machine for each state.
        differs: A shortest word on which both machines differ.
    """

    network: str
    verdict: Literal["isomorphic", "different", "unnamed"]
    method: str
    kind: Kind
    states: int
    length: int
    right: int
    queries: int
    words: int
    rounds: int
    spent: str | None
    chow: int | None
    parted: Counterexample | None
    shortest: bool | None
    minimality: str | None
    searched: int
    wanted: str | None
    bijection: dict[str, str] | None
    differs: list[str] | None
    machine: MachineFile
    seconds: float
    file: str | None


class DecompiledLetters(TypedDict):
    """The hidden Markov model of letters behind a network's laws.

    Attributes:
        emissions: (letters, states).
        transitions: (states, states).
        residual: How far laws of the model are off those of the network.
        error: How far an entry is off the model of the file, if it states one.
        condition: By how much errors of the laws may grow.
    """

    network: str
    task: str
    states: int
    emissions: list[list[float]]
    transitions: list[list[float]]
    residual: float
    error: float | None
    prior: list[float]
    condition: float
    file: str | None


class DecompiledPoints(TypedDict):
    """The hidden Markov model of points behind a network's laws."""

    network: str
    task: str
    states: int
    means: list[list[float]]
    transitions: list[list[float]]
    residual: float
    error: float | None
    file: str | None


class WorkbenchMade(TypedDict):
    """The networks of a workbench that were made."""

    models: list[Made]


class WorkbenchChecked(TypedDict):
    """The networks of a workbench, verified again.

    Attributes:
        wrong: How many things are wrong.
    """

    models: list[CheckedModel]
    wrong: int


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


PRINTED: dict[str, Any] = {
    "attention": Attention,
    "batch": Batch,
    "compare": Comparison | BeliefComparison,
    "compile": Compiled,
    "crasp": CountingProgram,
    "decompile": DecompiledLetters | DecompiledPoints,
    "decompose": Decomposed,
    "draw": File,
    "equivalent": Answer | TwoNetworks,
    "error": Error,
    "export": Exported,
    "formal": Formal,
    "grammar": Grammar,
    "learn": LearnedMachine,
    "recheck": Checked,
    "schema": Schemas,
    "score": Score,
    "verify": Verified,
    "workbench": WorkbenchMade | WorkbenchChecked,
    "zoo": Zoo,
}
"""The type of each command's output, by its name; and the error of any of them."""
