"""The types of what ``krohn run``, ``verify`` and ``recheck`` print with ``--json``."""

from typing import Literal, NotRequired, TypedDict

from krohn.schemas.parts import (
    About,
    Digest,
    Facts,
    MachineRemark,
    Verdict,
)
from krohn.verify.testing.simulation_result import Reading
from krohn.verify.trusted import TrustedFile


class Marked(TypedDict):
    """Answers, with which of them the file claims nothing of.

    Attributes:
        unproved: Of each answer whether the file's claim is not about it. Nothing is said
            of the others: ``run`` checks no claim, ``krohn verify`` does.
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
        error: How far off the file claims a belief to be at most; null as soon as an
            answer is unproved.
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


# krohn verify and recheck.


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


class FewestDigits(TypedDict):
    """With how few binary digits a network was right on some inputs: tested, not proved.

    Attributes:
        most: The most that were tried.
        everywhere: The fewest for all numbers; null if the most are too few.
        heads: Whether it has heads.
        in_heads: The fewest where only heads round; null as well without heads.
    """

    most: int
    inputs: int
    everywhere: int | None
    heads: bool
    in_heads: int | None


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
    """The files and lines that a proof rests on.

    Attributes:
        libraries: Packages that slices of other distributions have imported beside.
        beside: What else it rests on: languages, and libraries of everybody.
    """

    files: int
    lines: int
    code: int
    ran: int
    each: list[TrustedFile]
    libraries: list[str]
    beside: list[str]


class Verified(MachineRemark):
    """The result of a verification: all that is known of a model file.

    Attributes:
        verdict: verified: everything that was asked for holds. refuted: the network is
            wrong on a word, which was replayed. undecided: neither is shown.
            out-of-range: longer words were asked about than there are positions for.
        digest: SHA-256 of the claim; null where SMT decides about fractions.
        dtype: The number format of the claim; null as ``digest``.
        method: What was done, joined by +.
        reason: Why it is not verified.
        length: The longest word that the verdict is about; null for every length.
        words: How many words were run.
        largest_error: How far an output was from what is right there, at most; null if
            answers are classes, or nothing was run.
        covers: Which inputs the verdict is about, in words.
        checked_by: Who has proved it, and what is trusted; null if nobody has.
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
    dtype: str | None
    claim: Literal["exact", "within", "generates", "laws"]
    error: float | None
    method: str
    reason: str
    length: int | None
    words: int
    largest_error: float | None
    covers: str
    checked_by: str | None
    counterexample: Counterexample | None
    minimal: bool | None
    minimality: str | None
    evidence: list[Sublayer | Facts] | None
    heads: list[HeadLimits]
    notes: list[str]
    attack: Attacked | None
    digits: FewestDigits | None
    seconds: float
    replay: str | None
    written: NotRequired[Checked]
    trusted: NotRequired[Trusted]
