"""Tasks of texts: a prompt, and its continuation token by token up to an answer."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from string import ascii_lowercase
from typing import ClassVar, Protocol

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
        """The names of the tokens, `SEP` and `EOS` among them."""

    @property
    def longest(self) -> int:
        """How many tokens the longest text has, with `EOS`."""

    def draw(self, rng: np.random.Generator, count: int) -> IntArray:
        """Token indices ``(count, longest)``; shorter texts are followed by `PAD`."""


class Chain(Protocol):
    """Texts that go on in one way from each prompt, step by step.

    Attributes:
        tokens: The names of the tokens, `SEP` and `EOS` among them.
        length: How many tokens each text has.
        prompt: The least and the largest token at each place of a prompt.
    """

    tokens: tuple[str, ...]
    length: int
    prompt: tuple[tuple[int, int], ...]

    def continue_prompts(self, prompts: IntArray) -> IntArray:
        """Whole texts ``(count, length)`` of prompts."""


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
    def chain(self) -> Chain:
        """The steps."""
        chain: Chain | None = source_in_form("texts", self.source)
        if chain is None:
            raise KrohnError(f"there is no dynamic program of the name {self.source!r}")
        return chain

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
        return self.chain.continue_prompts(prompts)


@dataclass(frozen=True)
class TextTask:
    """The next token of a text, after its first `SEP`.

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
        tokens = texts[np.arange(len(texts)), np.maximum(at - 1, 0)]
        return np.where(at > 0, tokens, -1)


# Texts of edit distance and increasing subsequences, in the format of Feng et al. (2023).
#
# Yang et al. (2024) train on texts of their public generator. Its vocabulary, its
# lengths and its distributions are kept; where nothing is known of a distribution, ours
# is uniform.


GAP, REPLACE = 2, 3
"""Of an insertion or deletion, and of another letter in place of one."""
RANGE = 150
"""So many numbers a sequence is drawn from, less one (see `Increasing`)."""


def _pad(rows: list[list[int]], length: int) -> IntArray:
    return np.array([row + [0] * (length - len(row)) for row in rows], np.int64)


@dataclass(frozen=True)
class EditDistances:
    """``s | t <sep> D[1,1] … D[1,m] , … D[n,m] , <sep> D[n,m] <eos>``.

    The shorter word is first. The alphabet of a pair is 3 to 10 letters; the second word is
    drawn by itself with probability 0.4, and else made of the first one by 1 to n random
    edits; it has from n − 3 to n + 2 letters and is another word.

    Attributes:
        size: n, the letters of the word that is drawn first: 6, 12, 16, 20 in the papers.
        boundary: What a letter costs in the first row and column: 1 in the public
            generator, whose inner cells count 2; 2 for the true distance.

    Raises:
        KrohnError: If words of this size have no texts of these tokens.
    """

    size: int
    boundary: int = 1

    def __post_init__(self) -> None:
        if not 4 <= self.size <= 20 or self.boundary not in (1, 2):
            raise KrohnError("texts of edit distance have a size of 4 to 20")

    @property
    def description(self) -> str:
        """A description in a few words."""
        true = ", true boundary" if self.boundary == GAP else ""
        return f"public edit distance {self.size}{true}"

    @property
    def tokens(self) -> tuple[str, ...]:
        """91 of them: five signs, the letters, the numbers to 59."""
        return (PAD, SEP, EOS, "|", ",", *ascii_lowercase, *map(str, range(60)))

    @property
    def longest(self) -> int:
        """At most n² + 5n + 6 and `EOS`: the second word has n + 2 letters."""
        return self.size**2 + 5 * self.size + 7

    def draw(self, rng: np.random.Generator, count: int) -> IntArray:
        """A text whose numbers have no token (61 or more) is drawn again."""
        rows = list[list[int]]()
        while len(rows) < count:
            row = self.text(*self.pair(rng))
            if max(row) < len(self.tokens):
                rows.append(row)
        return _pad(rows, self.longest)

    def pair(self, rng: np.random.Generator) -> tuple[list[int], list[int]]:
        """Two words as letters 0 to 25, the shorter one first."""
        own = rng.choice(26, size=rng.integers(3, 11), replace=False)
        first = rng.choice(own, self.size).tolist()
        while True:
            if rng.random() < 0.4:
                most = self.size + 2
                second = rng.choice(own, rng.integers(self.size - 3, most + 1)).tolist()
            else:
                second = _edit(first, own, rng)
            if second != first and -3 <= len(second) - self.size <= 2:
                short, long = sorted((first, second), key=len)
                return short, long

    def text(self, first: list[int], second: list[int]) -> list[int]:
        """The tokens of a pair, without padding."""
        letter, number = 5, 31
        row = [self.boundary * k for k in range(len(second) + 1)]
        tokens = [letter + x for x in first] + [3] + [letter + x for x in second] + [1]
        for j, x in enumerate(first, 1):
            above, row = row, [self.boundary * j]
            for k, y in enumerate(second, 1):
                gaps = min(above[k], row[k - 1]) + GAP
                row.append(min(gaps, above[k - 1] + REPLACE * (x != y)))
            tokens += [number + d for d in row[1:]] + [4]
        return [*tokens, 1, number + row[-1], 2]


def _edit(word: list[int], own: IntArray, rng: np.random.Generator) -> list[int]:
    """A word after 1 to n edits: a letter goes, becomes another one, or comes."""
    edited = list(word)
    for _ in range(rng.integers(1, len(word) + 1)):
        kind, letter = rng.integers(3), int(rng.choice(own))
        at = int(rng.integers(len(edited) + (kind == 2)))
        if kind == 0 and len(edited) > 1:
            del edited[at]
        elif kind == 1:
            edited[at] = letter
        else:
            edited.insert(at, letter)
    return edited


@dataclass(frozen=True)
class Increasing:
    """``s_1 … s_n <sep> d_1 … d_n <sep> max(d) <eos>``.

    d_i is the length of the longest increasing subsequence that ends at i, strictly. So a
    number is found from all that stand before it: no dynamic program of Definition 2.1, and
    nothing that is compiled here, where each step reads a fixed number of places.

    A sequence has one to three increasing runs, of 3 to n numbers together, at random
    places; all else is uniform. Numbers are from n + 1 to n + 149: none is one of the d_i.

    Attributes:
        size: n: 40, 110, 175, 250 in the papers.

    Raises:
        KrohnError: If it is less than 3.
    """

    size: int

    def __post_init__(self) -> None:
        if not 3 <= self.size <= 2 * (RANGE - 1):
            raise KrohnError(
                f"texts of increasing subsequences have a size of 3 to {2 * RANGE - 2}"
            )

    @property
    def description(self) -> str:
        """A description in a few words."""
        return f"public LIS {self.size}"

    @property
    def tokens(self) -> tuple[str, ...]:
        """So many numbers, and three signs: n + 153."""
        return (PAD, SEP, EOS, *map(str, range(self.size + RANGE)))

    @property
    def longest(self) -> int:
        """2n + 3 and `EOS`."""
        return 2 * self.size + 4

    def draw(self, rng: np.random.Generator, count: int) -> IntArray:
        """All texts have as many tokens."""
        numbers = np.array([self.sequence(rng) for _ in range(count)])
        ends = subsequences(numbers)
        sep = np.full((count, 1), 1)
        answer = ends.max(axis=1, keepdims=True)
        return np.hstack([numbers + 3, sep, ends + 3, sep, answer + 3, sep + 1])

    def sequence(self, rng: np.random.Generator) -> IntArray:
        """``(n,)`` numbers."""
        pool = np.arange(self.size + 1, self.size + RANGE)
        numbers = rng.choice(pool, self.size)
        lengths = self._runs(rng, len(pool))
        runs = [np.sort(rng.choice(pool, n, replace=False)) for n in lengths]
        at = np.sort(rng.choice(self.size, sum(lengths), replace=False))
        numbers[at] = np.concatenate(runs)
        return numbers

    def _runs(self, rng: np.random.Generator, most: int) -> list[int]:
        """The lengths of one to three runs; none has more numbers than there are."""
        while True:
            total, parts = int(rng.integers(3, self.size + 1)), int(rng.integers(1, 4))
            cuts = np.sort(rng.choice(np.arange(1, total), parts - 1, replace=False))
            lengths = [b - a for a, b in pairwise([0, *cuts.tolist(), total])]
            if max(lengths) <= most:
                return lengths


def subsequences(numbers: IntArray) -> IntArray:
    """``(count, n)``: the longest increasing subsequence that ends at each number."""
    ends = np.ones_like(numbers)
    for i in range(1, numbers.shape[1]):
        below = numbers[:, :i] < numbers[:, i : i + 1]
        ends[:, i] += np.where(below, ends[:, :i], 0).max(axis=1)
    return ends
