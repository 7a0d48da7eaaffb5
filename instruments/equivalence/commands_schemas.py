"""Types of comparisons of two machines or models as JSON."""

from typing import Literal, TypedDict

from krohn.instruments.equivalence.question import Basis
from krohn.kinds.counting.commands_words import Answer
from krohn.schemas.parts import (
    About,
    Digest,
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
        matrices: The masked random matrices among them.
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
    matrices: list[str]
    random: bool
    digests: tuple[Digest, Digest]


EQUIVALENT = Answer | TwoNetworks
"""What ``krohn equivalent`` prints."""
