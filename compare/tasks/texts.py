"""Tasks of texts: a prompt, and its continuation token by token up to an answer."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.algebra.semiautomaton import IntArray
from krohn.compare.tasks.task import Batch
from krohn.program.chain_of_thought import ChainOfThought
from krohn.program.errors import Refused
from krohn.sources.dynamic_programs import named

PAD, SEP, EOS = "<pad>", "<sep>", "<eos>"
"""After a text; before its continuation, and before its answer; its end."""


class Texts(Protocol):
    """A distribution of texts: a frozen dataclass of plain values, so that it travels."""

    @property
    def description(self) -> str:
        """A description in a few words, for tables and file names."""

    @property
    def tokens(self) -> tuple[str, ...]:
        """The names of the tokens, `SEP` and `EOS` among them."""

    @property
    def longest(self) -> int:
        """How many tokens the longest text has, with `EOS`."""

    def draw(self, rng: np.random.Generator, count: int) -> IntArray:
        """Token indices ``(count, longest)``; shorter texts are followed by `PAD`."""


@dataclass(frozen=True)
class Steps:
    """Texts of a dynamic program: each prompt alike, then the table and the answer.

    Attributes:
        source: Its name in the catalogue, with sizes and options
            (``EditDistance3,3:letters=8``).

    Raises:
        KrohnError: If there is none of this name.
    """

    source: str

    def __post_init__(self) -> None:
        assert self.chain

    @cached_property
    def chain(self) -> ChainOfThought:
        """The steps."""
        try:
            found = named(self.source)
        except Refused as reason:
            raise KrohnError(f"{self.source}: {reason}") from None
        if found is None:
            raise KrohnError(f"there is no dynamic program of the name {self.source!r}")
        return found.chain_of_thought

    @property
    def description(self) -> str:
        """Its name."""
        return self.source

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of the dynamic program."""
        return self.chain.tokens

    @property
    def longest(self) -> int:
        """All texts have as many tokens."""
        return self.chain.length

    def draw(self, rng: np.random.Generator, count: int) -> IntArray:
        """Prompts are uniform."""
        low, high = np.array(self.chain.prompt).T
        prompts = rng.integers(low, high + 1, size=(count, len(low)))
        return self.chain.continued(prompts)


@dataclass(frozen=True)
class TextTask:
    """The next token of a text, after its first `SEP`.

    Attributes:
        texts: The distribution of texts.
    """

    texts: Texts

    @property
    def name(self) -> str:
        """The name in tables."""
        return self.texts.description

    @property
    def letters(self) -> tuple[str, ...]:
        """The names of the tokens."""
        return self.texts.tokens

    @property
    def classes(self) -> tuple[str, ...]:
        """The tokens: the answer is the next token."""
        return self.texts.tokens

    @property
    def length(self) -> int:
        """How many tokens are read at most: all but the last one."""
        return self.texts.longest - 1

    def batch(self, rng: np.random.Generator, count: int, length: int) -> Batch:
        """Texts that are drawn; the label of a token is the next one.

        Raises:
            KrohnError: If another length is asked for than the texts have.
        """
        if length != self.length:
            raise KrohnError(
                f"texts of {self.name} are read to {self.length} tokens, not {length}"
            )
        texts = self.texts.draw(rng, count)
        read, labels = texts[:, :-1], texts[:, 1:]
        counts = self.in_continuation(texts)[:, 1:]
        return Batch(read, labels, counts, counts)

    def in_continuation(self, texts: IntArray) -> np.ndarray:
        """Whether tokens belong to the continuation: after the first `SEP`, up to `EOS`."""
        seps = np.cumsum(texts == self.letters.index(SEP), axis=1)
        ends = np.cumsum(texts == self.letters.index(EOS), axis=1)
        before = np.pad(seps, ((0, 0), (1, 0)))[:, :-1] > 0
        ended = np.pad(ends, ((0, 0), (1, 0)))[:, :-1] > 0
        return before & ~ended

    def answers(self, texts: IntArray) -> IntArray:
        """The token before the first `EOS` of each text; −1 if there is none."""
        ends = texts == self.letters.index(EOS)
        at = ends.argmax(axis=1)
        found = texts[np.arange(len(texts)), np.maximum(at - 1, 0)]
        return np.where(at > 0, found, -1)
