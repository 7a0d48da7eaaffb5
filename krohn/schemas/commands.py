"""The types of what the other commands print with ``--json``."""

from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

from krohn.algebra.formats.json_format import MachineFile
from krohn.instruments.equivalence.question import (
    Answer,
    Basis,
)
from krohn.instruments.learning.teacher import Kind
from krohn.instruments.workbench.checking import Checked as CheckedModel
from krohn.instruments.workbench.contents import Made
from krohn.kinds.grammars.source_bounded import Row
from krohn.schemas.answers import Counterexample
from krohn.schemas.parts import (
    About,
    Digest,
    MachineRemark,
    Verdict,
)


class File(MachineRemark):
    """A picture that was drawn."""

    file: str


# krohn export, attention, equivalent, crasp


class Exported(TypedDict):
    """An export, and how it answers beside the model file.

    Attributes:
        to: The library.
        arithmetic: What is computed there.
        verdict: That of the checker on what was written.
        proved: The same in a sentence, with what is proved, or why nothing is.
        words: How many words were run there.
        length: How long the longest are.
        deviation: By how much a logit differs at most.
        wrong: How many answers are wrong; no export is written that has one.
    """

    to: Literal["transformer-lens", "huggingface", "onnx", "gpt2"]
    directory: str
    arithmetic: str
    verdict: Verdict
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
        within: How far numbers or laws of the two may be apart; null if answers are the
            same.
        inputs: The inputs that the verdict is about, in words, where the claim of one
            file was proved of both; else empty.
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
    notion: Basis
    verdict: Literal["verified", "refuted", "undecided"]
    reason: str
    length: int | None
    within: float | None
    inputs: str
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
    """A grammar with probabilities.

    Attributes:
        remark: How its text was read, where that could be done in another way.
    """

    name: str
    remark: NotRequired[str]
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
