"""Types of a grammar as JSON."""

from typing import NotRequired, TypedDict

from krohn.kinds.grammars.source_bounded import Row


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
