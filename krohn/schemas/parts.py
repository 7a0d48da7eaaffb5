"""The types of objects that occur in what several commands print."""

from typing import Annotated, Literal, TypedDict

Digest = Annotated[str, "^[0-9a-f]{64}$"]
Dtype = Literal["float64", "float32", "bfloat16", "float16"]
Verdict = Literal["verified", "refuted", "undecided", "out-of-range"]
Fact = str | bool | int | float | None
Facts = dict[str, Fact | list[int] | dict[str, Fact]]
"""Facts whose names depend on the network: those of a theorem, or of an argument."""


class Names(TypedDict):
    """Names of one kind.

    Attributes:
        count: How many there are.
        names: The first ones, fewer than the count where these are many.
    """

    count: int
    names: list[str]


class Answers(Names):
    """The answer that each logit stands for.

    Attributes:
        are: What answers are, in words: states, outputs, numbers within an error, …
    """

    are: str


class About(TypedDict):
    """The claim that a proof is about.

    Attributes:
        kind: machine, or the kind of another source.
        outputs: What `krohn run` prints beside answers that are states; none where
            answers are outputs themselves.
        length: The longest word; null for every length.
    """

    kind: str
    name: str
    letters: Names
    states: Names
    answers: Answers
    outputs: Names
    length: int | None
    dtype: str


class Searched(TypedDict):
    """How much was searched.

    Attributes:
        effort: The steps that a search might take; null without end.
        cut_short: What it left out because a limit was reached.
    """

    effort: int | None
    cut_short: list[str]


class Sizes(TypedDict):
    """The sizes of a network.

    Attributes:
        depth: Blocks that attend.
        layers: All blocks.
        d_model: The length of the residual stream.
        heads: The most heads of a block.
        mlp_width: The widest hidden layer.
        parameters: How many numbers the tensors have.
    """

    depth: int
    layers: int
    d_model: int
    heads: int
    mlp_width: int
    parameters: int


class SourceFacts(TypedDict, total=False):
    """Facts that many kinds of sources have, where their types do not say more.

    Attributes:
        error: The largest distance of an output from the exact one, as it is proved.
        length: The longest input; null for every length.
        construction: The method that derives the network.
        dtype: The number format of the network.
    """

    error: float
    length: int | None
    construction: str | None
    dtype: Dtype


class Tried(TypedDict):
    """A network that was tried and is not proved, with the reason."""

    construction: str
    dtype: Dtype | None
    depth: int | None
    layers: int | None
    parameters: int | None
    reason: str


class MachineRemark(TypedDict, total=False):
    """A remark about a machine.

    Attributes:
        remark: How its file was read.
    """

    remark: str


class Remarks(MachineRemark, total=False):
    """Remarks for the author of a source.

    Attributes:
        lines_that_define_no_cell: Lines of a dynamic program, counted from 1.
        rules_that_never_apply: Rules of a rewriting system, counted from 1.
        lines_of_these_rules: Where these are written.
        whole_texts: So many tokens of a text of a rewriting system are read at most;
            null if it is not known whether texts end.
    """

    lines_that_define_no_cell: list[int]
    rules_that_never_apply: list[int]
    lines_of_these_rules: list[int]
    whole_texts: int | None


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
