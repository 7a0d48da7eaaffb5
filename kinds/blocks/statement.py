"""Texts in blocks: a machine's state is written as a token after some letters."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from krohn.kinds.blocks.statement_inputs import WordsInBlocks
from krohn.program.claim import Claim
from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.program.strict_json import whole

KIND = "text-in-blocks"
"""The name of the kind in the header of a model file."""
MOST_CELLS = 2**25
"""How many transitions of legal texts are listed at most."""


def passes(letters: int, block: int) -> int:
    """How often something is written for a word; at last after its last letter."""
    return -(-letters // block)


def longest(letters: int, block: int) -> int:
    """How many tokens are read for a word: the token that is written last is not read."""
    return letters + passes(letters, block) - 1


def words_of(claim: Claim, letters: int, block: int) -> WordsInBlocks:
    """The words whose texts a claim is about.

    Args:
        claim: The claim.
        letters: How many letters there are.
        block: b.

    Raises:
        Refused: If it is about something else, or their texts are longer than it says.
    """
    inputs = claim.inputs
    demand(isinstance(inputs, WordsInBlocks), "the claim is not about texts in blocks")
    assert isinstance(inputs, WordsInBlocks)
    fits = inputs.length >= 1 and longest(inputs.length, block) <= inputs.tokens
    demand(fits, "the claim is about words whose texts do not fit")
    return replace(inputs, letters=letters, block=block)


@dataclass(frozen=True, eq=False)
class Blocks:
    """A machine whose state is written after every b letters, and read back as a token.

    The text of a word is σ_1 … σ_b q_b σ_{b+1} … σ_{2b} q_{2b} …: block chain of thought
    (Hu et al. 2024, 4.4). A written state is a letter that leads to it from everywhere.
    Tokens 0, …, m − 1 are letters, and m + q is state q.

    Attributes:
        name: What it is called.
        letters: The name of each letter.
        states: The name of each state.
        transitions: ``(letters, states)``: where a letter leads.
        start: The state before the first letter.
        block: b: no more letters than these come one after the other.

    Raises:
        Refused: If it is malformed.
    """

    name: str
    letters: tuple[str, ...]
    states: tuple[str, ...]
    transitions: IntArray
    start: int
    block: int

    def __post_init__(self) -> None:
        shape = len(self.letters), len(self.states)
        demand(min(shape) > 0, "a machine has no letters or no states")
        for what, names in (("letters", self.tokens), ("states", self.states)):
            demand(len(set(names)) == len(names), f"two {what} have the same name")
        demand(self.transitions.shape == shape, "a machine has other transitions")
        inside = (self.transitions >= 0) & (self.transitions < shape[1])
        demand(inside, "a transition leads nowhere")
        demand(0 <= self.start < shape[1], "a machine starts nowhere")
        demand(self.block >= 1, "a block has at least one letter")

    @property
    def tokens(self) -> tuple[str, ...]:
        """The name of each token: a state is written in brackets."""
        return (*self.letters, *(f"({state})" for state in self.states))

    @property
    def resets(self) -> IntArray:
        """``(tokens, states)``: where each token leads; a state to itself."""
        states = np.arange(len(self.states))
        written = np.repeat(states[:, None], len(states), axis=1)
        return np.concatenate([self.transitions, written])

    def legal(self) -> tuple[int, IntArray, IntArray]:
        """The machine of legal texts: states (q, j), j letters since one was written.

        Returns:
            Its start; ``(tokens, states)``: where tokens lead, −1 where a text with this
            token would have more than b letters in a row; and the state q of each.

        Raises:
            Refused: If it would be too large to be listed.
        """
        many = self.block + 1
        cells = len(self.tokens) * len(self.states) * many
        demand(cells <= MOST_CELLS, "the machine of texts in blocks is too large")
        q, j = np.divmod(np.arange(len(self.states) * many), many)
        after = self.resets[:, q] * many
        after[: len(self.letters)] += np.where(j < self.block, j + 1, 0)
        after[: len(self.letters), j == self.block] = -1
        return self.start * many, after, q

    def to_wire(self) -> dict[str, Any]:
        """As the header of a model file states it."""
        return {
            "kind": KIND,
            "name": self.name,
            "letters": list(self.tokens),
            "classes": list(self.states),
            "transitions": self.transitions.tolist(),
            "start": self.start,
            "block": self.block,
        }

    @classmethod
    def from_wire(cls, said: Mapping[str, Any]) -> Self:
        """Texts in blocks from their description in a model file, read strictly.

        Raises:
            Refused: If it is malformed.
            LookupError: If something is missing.
        """
        demand(said["kind"] == KIND, "this is no text in blocks")
        transitions, names = whole(said["transitions"], 2), said["letters"]
        listed = type(names) is type(said["classes"]) is list
        demand(listed, "the names are no lists")
        demand(
            [type(n) is str for n in [*names, *said["classes"]]], "a name is no text"
        )
        numbers = (int(whole(said[n], 0)) for n in ("start", "block"))
        letters, states = tuple(names[: len(transitions)]), tuple(said["classes"])
        blocks = cls(str(said["name"]), letters, states, transitions, *numbers)
        demand(names == list(blocks.tokens), "a state has another token")
        return blocks
