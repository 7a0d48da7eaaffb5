"""The probabilities of words of a grammar, by its Chomsky normal form."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from krohn.kinds.grammars.source_grammar import (
    Grammar,
    solve_fixed_points,
)
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.program.word_texts import join_letters, split_letters

# Grammars in Chomsky's normal form, and what they say of words (inside, prefixes).


MOST_PAIRS = 20_000
Numbers = npt.NDArray[Any]
"""float64, or objects that are Fractions."""
Body = tuple[str, ...]


@dataclass(frozen=True)
class Normal:
    """The Chomsky normal form of a grammar: the same words with the same probabilities.

    A symbol stands for the words of at least one letter that it becomes.

    Attributes:
        grammar: The grammar.
        symbols: The names of the symbols, the start first.
        totals: How likely each is to become any such word.
        pairs: The weight of A → B C by the numbers of A, B and C.
        single: The weight of A → a by the numbers of A and a.
    """

    grammar: Grammar
    symbols: tuple[str, ...]
    totals: tuple[Fraction, ...]
    pairs: Mapping[tuple[int, int, int], Fraction]
    single: Mapping[tuple[int, int], Fraction]

    @cached_property
    def corners(self) -> list[list[Fraction]]:
        """``[A][B]``: how often the left side of A becomes B, in the mean (R_L)."""
        size = len(self.symbols)
        left = [[Fraction()] * size for _ in range(size)]
        for (a, b, c), weight in self.pairs.items():
            left[a][b] += weight * self.totals[c]
        units = [[Fraction(i == j) for i in range(size)] for j in range(size)]
        columns = solve_fixed_points(left, units)
        assert columns is not None  # a subset of what a tight grammar becomes
        return [list(row) for row in zip(*columns, strict=True)]

    def numbers(self, exact: bool) -> "Weights":
        """The weights as arrays of one type."""
        kind: Any = object if exact else np.float64
        size, (a, b, c) = len(self.symbols), np.array(list(self.pairs) or [(0, 0, 0)]).T
        joined = np.full((len(a), size), Fraction(), object)
        for row, (head, weight) in enumerate(zip(a, self.pairs.values(), strict=False)):
            joined[row, head] = weight
        terminals = np.full((len(self.grammar.letters), size), Fraction(), object)
        for (head, letter), weight in self.single.items():
            terminals[letter, head] = weight
        corners = np.array(self.corners, object).T
        return Weights(
            b, c, joined.astype(kind), terminals.astype(kind), corners.astype(kind)
        )


@dataclass(frozen=True)
class Weights:
    """A normal form as arrays, whose arithmetic is exact if they hold Fractions.

    Attributes:
        left: ``(pairs,)``: the left symbol of each pair.
        right: ``(pairs,)``: the right one.
        joined: ``(pairs, symbols)``: the weight of what becomes the pair.
        said: ``(letters, symbols)``: the weight of what becomes the letter.
        corners: ``(symbols, symbols)``: transposed left corners, [B, A].
    """

    left: IntArray
    right: IntArray
    joined: Numbers
    said: Numbers
    corners: Numbers

    def inside(self, shown: Numbers) -> list[Numbers]:
        """How likely each symbol is to become what is shown at each place (Baker 1979).

        Args:
            shown: ``(words, length, letters)``: 1 where a letter can be, else 0. So rows
                of ones are summed over.

        Returns:
            By the number of letters, from 0 (empty) on: ``(words, places, symbols)``.
        """
        length = shown.shape[1]
        by_span = [shown[:, :0] @ self.said, shown @ self.said]
        for span in range(2, length + 1):
            places, total = length - span + 1, None
            for first in range(1, span):
                one = by_span[first][:, :places, self.left]
                rest = by_span[span - first][:, first : first + places, self.right]
                total = one * rest if total is None else total + one * rest
            by_span.append(total @ self.joined)
        return by_span

    def prefixes(self, shown: Numbers) -> Numbers:
        """``(words,)``: how likely sentences begin like this (Jelinek, Lafferty 1991).

        The symbol that covers the last letter and whose left child does not is one left
        corner or another of the start; its right child begins with the other letters.
        """
        length, inside = shown.shape[1], self.inside(shown)
        begun = [shown[:, -1] @ self.said @ self.corners]
        for at in range(length - 2, -1, -1):
            total = None
            for first in range(1, length - at):
                one = inside[first][:, at, self.left] * begun[-first][:, self.right]
                total = one if total is None else total + one
            begun.append(total @ self.joined @ self.corners)
        return np.asarray(begun[-1][:, 0])


def normal(grammar: Grammar) -> Normal:
    """The normal form: no symbol vanishes, or becomes one symbol alone.

    Raises:
        Refused: If it is too large.
    """
    bodies = defaultdict[str, defaultdict[Body, Fraction]](
        lambda: defaultdict(Fraction)
    )
    totals = {head: 1 - empty for head, empty in grammar.vanishing.items()}
    for rule in grammar.rules:
        for body, weight in _without_vanishing(rule.body, grammar.vanishing):
            if body and weight:
                bodies[rule.head][body] += rule.weight * weight
    for head in list(bodies):
        for body in list(bodies[head]):
            _split(body, bodies, totals, grammar)
    return _without_units(grammar, bodies, totals)


def _without_vanishing(
    body: Body, vanishing: Mapping[str, Fraction]
) -> Iterator[tuple[Body, Fraction]]:
    """The bodies that stay when symbols vanish, and how likely each is."""
    can = [i for i, symbol in enumerate(body) if vanishing.get(symbol)]
    for gone in product((False, True), repeat=len(can)):
        lost = {i for i, away in zip(can, gone, strict=True) if away}
        weight = Fraction(1)
        for i in lost:
            weight *= vanishing[body[i]]
        yield tuple(s for i, s in enumerate(body) if i not in lost), weight


def _split(
    body: Body,
    bodies: defaultdict[str, defaultdict[Body, Fraction]],
    totals: dict[str, Fraction],
    grammar: Grammar,
) -> None:
    """Symbols for what follows the first one of a long body, and for letters in it."""
    if len(body) < 2:
        return
    for part in (*((x,) for x in body if x in grammar.letters), body[1:]):
        name = _symbol_name(part, grammar)
        if name in totals:
            continue
        total = Fraction(1)
        for symbol in part:
            total *= totals.get(symbol, Fraction(1))
        totals[name] = total
        bodies[name][part] = Fraction(1)
        _split(part, bodies, totals, grammar)


def _symbol_name(body: Body, grammar: Grammar) -> str:
    """The symbol of a part of a body: no text has its name, which has ends of lines."""
    known = len(body) == 1 and body[0] in grammar.of
    return body[0] if known else "\n" + "\n".join(body)


def _without_units(
    grammar: Grammar,
    bodies: Mapping[str, Mapping[Body, Fraction]],
    totals: Mapping[str, Fraction],
) -> Normal:
    symbols = tuple(totals)
    number, size = {s: i for i, s in enumerate(symbols)}, len(symbols)
    letter = {a: i for i, a in enumerate(grammar.letters)}
    units = [[Fraction()] * size for _ in symbols]
    for head, of in bodies.items():
        for body, weight in of.items():
            if len(body) == 1 and body[0] in grammar.of:
                units[number[head]][number[body[0]]] += weight
    ones = [[Fraction(i == j) for i in range(size)] for j in range(size)]
    reach = solve_fixed_points(units, ones)
    assert reach is not None
    pairs = defaultdict[tuple[int, int, int], Fraction](Fraction)
    single = defaultdict[tuple[int, int], Fraction](Fraction)
    for head, of in bodies.items():
        above = [(a, r) for a, r in enumerate(reach[number[head]]) if r]
        for body, weight in of.items():
            if len(body) > 1:
                two = (
                    number[_symbol_name(body[:1], grammar)],
                    number[_symbol_name(body[1:], grammar)],
                )
                for a, share in above:
                    pairs[a, *two] += share * weight
            elif body[0] in letter:
                for a, share in above:
                    single[a, letter[body[0]]] += share * weight
    demand(
        len(pairs) <= MOST_PAIRS, f"{grammar.name} has more than {MOST_PAIRS:,} pairs"
    )
    return Normal(grammar, symbols, tuple(totals.values()), pairs, single)


def numbers_of(grammar: Grammar, word: Iterable[str]) -> IntArray:
    """The letters of a word by their numbers.

    Raises:
        Refused: If one is unknown.
    """
    index = {letter: i for i, letter in enumerate(grammar.letters)}
    parts = list(word)
    for part in parts:
        known = join_letters(grammar.letters)
        demand(part in index, f"{grammar.name} has no letter {part!r}; it has {known}")
    return np.array([index[part] for part in parts], np.int64)


# The probabilities of words and prefixes of a grammar, of next and of hidden letters.


LONGEST_SENTENCE = 1_000_000
HIDDEN = "_"
"""How a person writes a letter that is not told."""


class Words:
    """A grammar that is asked about words; all answers are exact, or in float64.

    Args:
        grammar: The grammar.
        exact: Whether to calculate with Fractions.
    """

    def __init__(self, grammar: Grammar, exact: bool = False) -> None:
        self.grammar, self.exact = grammar, exact
        self._weights: Weights = normal(grammar).numbers(exact)
        ones: Numbers = np.eye(len(grammar.letters), dtype=np.int64)
        one = np.vectorize(Fraction, otypes=[object])
        self._ones = one(ones) if exact else ones.astype(np.float64)

    def encode_words(self, words: IntArray) -> Numbers:
        """``(words, length, letters)`` of ``(words, length)`` numbers of letters."""
        return np.asarray(self._ones[words])

    def inside(self, shown: Numbers) -> Numbers:
        """``(words,)``: the probability of sentences that are what is shown.

        Args:
            shown: ``(words, length, letters)``, as `Weights.inside` says.
        """
        if not shown.shape[1]:
            empty = self.grammar.vanishing[self.grammar.start]
            return np.full(len(shown), empty if self.exact else float(empty))
        return np.asarray(self._weights.inside(shown)[-1][:, 0, 0])

    def begun(self, shown: Numbers) -> Numbers:
        """``(words,)``: the probability of sentences that begin with what is shown."""
        if not shown.shape[1]:
            return np.full(len(shown), Fraction(1) if self.exact else 1.0)
        return self._weights.prefixes(shown)

    def following(self, words: IntArray) -> Numbers:
        """``(words, letters + 1)``: that a sentence begins so and goes on with each letter.

        The last column says that it ends. A row adds up to what `begun` says of the word.

        Args:
            words: ``(words, length)`` numbers of letters.
        """
        count, letters = len(words), len(self.grammar.letters)
        longer = np.repeat(words, letters, axis=0)
        letter = np.tile(np.arange(letters), count)[:, None]
        begun = self.begun(self.encode_words(np.hstack([longer, letter])))
        ends = self.inside(self.encode_words(words))
        return np.hstack([begun.reshape(count, letters), ends[:, None]])

    def predict_hidden(self, word: Sequence[str]) -> dict[int, Numbers]:
        """The law of each hidden letter of a sentence of this length.

        Args:
            word: Letters, and `HIDDEN` where one is hidden.

        Returns:
            By the place of each hidden letter ``(letters,)``.

        Raises:
            Refused: If no sentence fits.
        """
        gaps = [i for i, letter in enumerate(word) if letter == HIDDEN]
        known = self.grammar.letters[0]
        numbers = numbers_of(self.grammar, [known if x == HIDDEN else x for x in word])
        shown = self.encode_words(numbers[None])
        shown[0, gaps] = self._ones.sum(axis=0)
        laws = dict[int, Numbers]()
        for gap in gaps:
            each = np.repeat(shown, len(self._ones), axis=0)
            each[:, gap] = self._ones
            law = self.inside(each)
            demand(law.sum() > 0, f"{self.grammar.name} has no such sentence")
            laws[gap] = law / law.sum()
        return laws


def sentences(
    grammar: Grammar, count: int, seed: int
) -> Iterator[tuple[tuple[str, ...], int]]:
    """Random sentences, each with the depth of its derivation (`bounded`).

    Args:
        grammar: The grammar.
        count: How many.
        seed: Of the random numbers.

    Raises:
        Refused: If one is longer.
    """
    generator = np.random.default_rng(seed)
    ladders = {
        head: np.cumsum([float(rule.weight) for rule in rules])
        for head, rules in grammar.of.items()
    }
    for _ in range(count):
        word, deepest = list[str](), 0
        waiting: list[tuple[str, ...]] = [(grammar.start,)]
        while waiting:
            first, *rest = waiting.pop()
            waiting += [tuple(rest)] if rest else []
            if first not in ladders:
                word.append(first)
                long = len(word) > LONGEST_SENTENCE
                demand(not long, f"a sentence has over {LONGEST_SENTENCE:,} letters")
                continue
            deepest = max(deepest, len(waiting))
            ladder = ladders[first]
            at = int(np.searchsorted(ladder[:-1], generator.random(), side="right"))
            if body := grammar.of[first][at].body:
                waiting.append(body)
        yield tuple(word), deepest


def letters_of(grammar: Grammar, words: Iterable[str]) -> tuple[str, ...]:
    """The letters that a person wrote: with blanks between them, or one character each.

    Where neither is known, what stands between blanks is meant as a letter.
    """
    known = {*grammar.letters, HIDDEN}
    return tuple(split_letters(words, known.__contains__, known))


def floats(numbers: Numbers) -> FloatArray:
    """As float64."""
    return np.asarray(numbers, np.float64)
