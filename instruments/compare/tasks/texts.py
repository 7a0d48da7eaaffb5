"""Tasks of texts: a prompt, and its continuation token by token up to an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.tasks.sources import source_in_form
from krohn.instruments.compare.tasks.task import TRAINING, Batch

# Tasks of texts: a prompt, and its continuation token by token up to an answer.


PAD, SEP, EOS = "<pad>", "<sep>", "<eos>"
"""After a text; before its continuation, and before its answer; its end."""


class Texts(Protocol):
    """A distribution of texts: a frozen dataclass of plain values, so that it travels."""

    @property
    def description(self) -> str:
        """A description in a few words, for tables and file names."""

    @property
    def tokens(self) -> tuple[str, ...]:
        """The names of the tokens, `EOS` among them."""

    @property
    def separator(self) -> str:
        """The token after which the continuation begins."""

    @property
    def longest(self) -> int:
        """How many tokens the longest text has, with `EOS`."""

    def draw(self, rng: np.random.Generator, count: int) -> IntArray:
        """Token indices ``(count, longest)``; shorter texts are followed by `PAD`."""


class Chain(Protocol):
    """What a kind of source says of one whose texts go on after prompts.

    Attributes:
        source: The source.
        tokens: The names of the tokens, `EOS` among them.
        length: How many tokens a text has at most.
        separator: The token after which the continuation begins.
        even: Whether all texts have as many tokens.
        prompts: How many prompts there are; None if that is not known.
    """

    source: Any
    tokens: tuple[str, ...]
    length: int
    separator: str
    even: bool
    prompts: int | None

    def draw_prompts(self, rng: np.random.Generator, count: int) -> Any:
        """So many random prompts."""

    def prompts_at(self, numbers: IntArray) -> Any:
        """Prompts by their numbers, where it is known how many there are."""

    def write_texts(
        self, prompts: Any, rng: np.random.Generator
    ) -> Sequence[Sequence[int]]:
        """The whole texts of prompts, each with `EOS`."""


@dataclass(frozen=True)
class Steps:
    """Texts of a source that is compiled: a dynamic program, or a rewriting system.

    Attributes:
        source: Its name, with sizes and options (``EditDistance3,3:letters=8``,
            ``Arithmetic4,11:handles=random``).

    Raises:
        KrohnError: If there is none of this name.
    """

    source: str

    def __post_init__(self) -> None:
        assert self.chain

    @cached_property
    def chain(self) -> Chain:
        """The steps."""
        chain: Chain | None = source_in_form("texts", self.source)
        if chain is None:
            raise KrohnError(
                f"there are no texts of {self.source!r}; there are of dynamic programs and "
                "rewriting systems, by name or file"
            )
        return chain

    @property
    def description(self) -> str:
        """Its name."""
        return self.source

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of the source, and `PAD` where texts are of several lengths."""
        return (*self.chain.tokens, *[PAD] * (not self.chain.even))

    @property
    def separator(self) -> str:
        """The token after which the continuation begins."""
        return self.chain.separator

    @property
    def longest(self) -> int:
        """How many tokens the longest text has."""
        return self.chain.length

    def draw(self, rng: np.random.Generator, count: int) -> IntArray:
        """Texts of random prompts."""
        return self._write(self.chain.draw_prompts(rng, count), rng)

    def texts_at(self, numbers: IntArray, rng: np.random.Generator) -> IntArray:
        """Texts of prompts by their numbers, where it is known how many there are."""
        return self._write(self.chain.prompts_at(numbers), rng)

    def _write(self, prompts: Any, rng: np.random.Generator) -> IntArray:
        texts = self.chain.write_texts(prompts, rng)
        return pad(texts, self.longest, len(self.chain.tokens))


def pad(rows: Sequence[Sequence[int]], length: int, token: int = 0) -> IntArray:
    """``(rows, length)``: texts side by side, each followed by a token."""
    padded = [[*row, *[token] * (length - len(row))] for row in rows]
    return np.array(padded, np.int64)


@dataclass(frozen=True)
class TextTask:
    """The next token of a text, after its first separator.

    Attributes:
        texts: The distribution of texts.
    """

    texts: Texts
    objective: ClassVar[str] = f"{TRAINING}.objective:TextObjective"

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
        """Whether tokens belong to the continuation: after its separator, up to `EOS`."""
        separator = self.letters.index(self.texts.separator)
        seps = np.cumsum(texts == separator, axis=1)
        ends = np.cumsum(texts == self.letters.index(EOS), axis=1)
        before = np.pad(seps, ((0, 0), (1, 0)))[:, :-1] > 0
        ended = np.pad(ends, ((0, 0), (1, 0)))[:, :-1] > 0
        return before & ~ended

    def answers(self, texts: IntArray) -> IntArray:
        """The token before the first `EOS` of each text; −1 if there is none."""
        ends = texts == self.letters.index(EOS)
        at = ends.argmax(axis=1)
        tokens = texts[np.arange(len(texts)), np.maximum(at - 1, 0)]
        return np.where(at > 0, tokens, -1)
