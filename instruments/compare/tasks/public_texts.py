"""Texts in the format of Feng et al. (2023), of edit distance, subsequences, arithmetic.

Yang et al. (2024) train on texts of their public generator. Its vocabulary, its
lengths and its distributions are kept; where nothing is known of a distribution, ours
is uniform. Its texts of subsequences read all numbers before, and its edit distance reads
words that are far back: both are here in a form where steps read few places, too.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from string import ascii_lowercase
from typing import ClassVar

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.tasks.texts import EOS, PAD, SEP, Steps, pad

GAP, REPLACE = 2, 3
"""Of an insertion or deletion, and of another letter in place of one."""
RANGE = 150
"""So many numbers a sequence is drawn from, less one (see `Increasing`)."""


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
    separator: ClassVar[str] = SEP

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
        return pad(rows, self.longest)

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
        rows = distances(first, second, self.boundary)
        tokens = [letter + x for x in first] + [3] + [letter + x for x in second] + [1]
        for j, row in enumerate(rows, 1):
            tokens += self._carried(first, second, j)
            tokens += [number + d for d in row] + [4]
        return [*tokens, 1, number + rows[-1][-1], 2]

    def _carried(self, first: list[int], second: list[int], j: int) -> list[int]:
        """The tokens before the numbers of row j."""
        return []


def distances(first: list[int], second: list[int], boundary: int) -> list[list[int]]:
    """The table of edit distances, without its first row and its first column."""
    rows, row = list[list[int]](), [boundary * k for k in range(len(second) + 1)]
    for j, x in enumerate(first, 1):
        above, row = row, [boundary * j]
        for k, y in enumerate(second, 1):
            gaps = min(above[k], row[k - 1]) + GAP
            row.append(min(gaps, above[k - 1] + REPLACE * (x != y)))
        rows.append(row[1:])
    return rows


@dataclass(frozen=True)
class LocalEditDistances(EditDistances):
    """The same, where each row carries both words: the first one turned by one more letter.

    So a step looks back no further than to the row before: the letter of the first word
    that a row is about is the last one of the word in it (Yang et al. 2024, Definition
    5.3; ours, for the paper does not say its texts).
    """

    @property
    def description(self) -> str:
        """A description in a few words."""
        return f"local {super().description}"

    @property
    def longest(self) -> int:
        """3n² + 7n + 6 and `EOS`."""
        return 3 * self.size**2 + 7 * self.size + 7

    def _carried(self, first: list[int], second: list[int], j: int) -> list[int]:
        return [5 + x for x in (*first[j:], *first[:j], *second)]


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
    separator: ClassVar[str] = SEP

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


MOST_STEPS = 128
"""Numbers of a sequence whose steps are written one by one."""


@dataclass(frozen=True)
class IncreasingSteps(Increasing):
    """``s_1 … s_n <sep> c_10 b_1 , c_20 c_21 b_2 , … <sep> b_n <eos>``.

    c_jk is the length of the longest increasing subsequence that ends at j and has only the
    first k numbers beside it: c_j0 = 1, and c_jk is the larger one of c_j,k−1 and, where
    s_k < s_j, 1 + c_k,k−1. b_j is the largest so far. Each step reads four numbers at most:
    Definition 2.1 holds. The text is ours, in the signs of the public one.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size > MOST_STEPS:
            raise KrohnError(
                f"texts of the steps of subsequences have a size of 3 to {MOST_STEPS}"
            )

    @property
    def description(self) -> str:
        """A description in a few words."""
        return f"{super().description}, step by step"

    @property
    def tokens(self) -> tuple[str, ...]:
        """Those of the public texts, and a comma."""
        return (*super().tokens, ",")

    @property
    def longest(self) -> int:
        """N (n + 1) / 2 + 3n + 3 and `EOS`."""
        return self.size * (self.size + 1) // 2 + 3 * self.size + 4

    def draw(self, rng: np.random.Generator, count: int) -> IntArray:
        """All texts have as many tokens."""
        texts = [self.text(self.sequence(rng).tolist()) for _ in range(count)]
        return pad(texts, self.longest)

    def text(self, numbers: list[int]) -> list[int]:
        """The tokens of a sequence."""
        comma, last, best, steps = len(self.tokens) - 1, list[int](), 0, list[int]()
        for j, x in enumerate(numbers):
            length = 1
            row = [length]
            for k in range(j):
                length = max(length, last[k] + 1 if numbers[k] < x else 0)
                row.append(length)
            last.append(length)
            best = max(best, length)
            steps += [3 + c for c in (*row, best)] + [comma]
        return [*(3 + x for x in numbers), 1, *steps, 1, 3 + best, 2]


SIGNS = ("+", "-", "*", "/", "(", ")", "=")


@dataclass(frozen=True)
class Expressions:
    """``2 * ( 1 + 5 ) = 2 * 6 = 1 <eos>``: arithmetic modulo a prime, an operation a step.

    Attributes:
        operators: n: 6, 10, 13, 16 in the papers.
        prime: p.
        handles: Which operation is done: ``random`` of those that can be, as in the
            public texts, where only the answer is determined; or ``leftmost``.

    Raises:
        KrohnError: If there are no such expressions.
    """

    operators: int
    prime: int = 11
    handles: str = "random"
    separator: ClassVar[str] = "="

    def __post_init__(self) -> None:
        assert self.steps

    @cached_property
    def steps(self) -> Steps:
        """The texts of the rewriting system."""
        return Steps(f"Arithmetic{self.operators},{self.prime}:handles={self.handles}")

    @property
    def description(self) -> str:
        """A description in a few words."""
        return (
            f"public arithmetic {self.operators}, {self.prime}, {self.handles} handles"
        )

    @property
    def tokens(self) -> tuple[str, ...]:
        """21 for p = 11: three signs of the text, seven of expressions, the numbers."""
        return (PAD, "<cls>", EOS, *SIGNS, *map(str, range(self.prime)))

    @property
    def longest(self) -> int:
        """At most 2n (n + 2) and `EOS`."""
        return self.steps.longest

    def draw(self, rng: np.random.Generator, count: int) -> IntArray:
        """The texts of the rewriting system, by the public tokens."""
        places = np.array([self.tokens.index(name) for name in self.steps.tokens])
        public: IntArray = places[self.steps.draw(rng, count)]
        return public
