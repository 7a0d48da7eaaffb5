"""The types of what ``krohn run --json`` prints for each input."""

from typing import NotRequired, TypedDict

from krohn.schemas.parts import Digest
from krohn.verify.testing.counterexample import Reading


class Marked(TypedDict):
    """Answers, with which of them the file claims nothing of.

    Attributes:
        unproved: Of each answer whether the file's claim is not about it.
        note: Which answers these are.
    """

    unproved: list[bool]
    note: NotRequired[str]


class MachineAnswers(Marked):
    """The answers of the network of a machine, one after each letter.

    Attributes:
        outputs: What the machine shows.
        states: The states that the network says, unless it says outputs only.
        word: The letters.
    """

    outputs: list[str]
    states: NotRequired[list[str]]
    word: list[str]


class Laws(Marked):
    """The laws of the next letter, before the word and after each of its letters."""

    word: list[str]
    letters: list[str]
    laws: list[list[float]]


class FunctionAnswers(Marked):
    """The values of a function of a sequence at each letter."""

    word: list[str]
    outputs: list[str]
    shown: str


class Beliefs(Marked):
    """The beliefs of a hidden Markov model after each letter.

    Attributes:
        outputs: The beliefs.
        next: The law of the next letter.
        weights: Of a weighted automaton, the weight of each prefix.
        possible: Whether the model can say the word so far.
        error: How far a belief may be off; null as soon as an answer is unproved.
    """

    word: list[str]
    outputs: list[list[float]]
    next: list[list[float]]
    weights: NotRequired[list[float]]
    possible: list[bool]
    shown: str
    error: float | None


class Vectors(Marked):
    """The vectors of a linear system after each letter."""

    word: list[str]
    outputs: list[list[float]]
    passes: NotRequired[int]
    shown: str
    error: float | None


class RealOutputs(Marked):
    """The outputs of a network of real inputs.

    Attributes:
        classes: What each output is the probability of, of a posterior head.
    """

    inputs: list[list[float]]
    outputs: list[list[float]]
    shown: str
    classes: NotRequired[list[str]]
    error: float | None


class InContextLaw(Marked):
    """The law that a network learns from the demonstrations of a prompt.

    Attributes:
        condition: Of the regression problem.
        left: The share of the way to least squares that is left.
    """

    word: list[str]
    law: dict[str, float]
    next: dict[str, float]
    condition: float
    left: float
    shown: str
    error: float | None


Step = TypedDict("Step", {"token": str, "is": str, "reads": dict[str, str]})


class Text(TypedDict):
    """The text that a dynamic program or a rewriting system writes after a prompt.

    Attributes:
        answer: Null if the text does not end.
        unproved: Absent where no network was run.
    """

    prompt: list[str]
    text: list[str]
    answer: str | None
    steps: list[Step]
    shown: str
    unproved: NotRequired[list[bool]]
    note: NotRequired[str]


class ShortText(Marked):
    """The text that a network writes, and its answer."""

    text: list[str]
    answer: str
    shown: str


class TextInBlocks(ShortText):
    """A word with the states that are written into it."""

    word: list[str]
    passes: int


class Replay(TypedDict):
    """The answers of a model, held against what is expected.

    Attributes:
        position: Of the first difference, or the last letter if there is none.
    """

    word: list[str]
    agrees: bool
    position: int
    expected: str
    actual: str
    reading: Reading


class Streamed(TypedDict):
    """Where a stream of letters ended.

    Attributes:
        sha256: Of the states, a line each.
    """

    letters: int
    state: str
    sha256: Digest


Run = (
    MachineAnswers
    | Laws
    | FunctionAnswers
    | Beliefs
    | Vectors
    | RealOutputs
    | InContextLaw
    | Text
    | ShortText
    | TextInBlocks
    | Replay
    | Streamed
)
