"""Grammars in Chomsky's normal form, and what they say of words (inside, prefixes)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.sources.grammars.grammar import Grammar, closed

MOST_PAIRS = 20_000
Numbers = npt.NDArray[Any]
"""float64, or objects that are Fractions."""
Body = tuple[str, ...]


@dataclass(frozen=True)
class Normal:
    """What becomes two symbols, or one letter: the same words with the same probabilities.

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
        found = closed(left, units)
        assert found is not None  # a subset of what a tight grammar becomes
        return [list(row) for row in zip(*found, strict=True)]

    def numbers(self, exact: bool) -> "Weights":
        """The weights as arrays of one type."""
        kind: Any = object if exact else np.float64
        size, (a, b, c) = len(self.symbols), np.array(list(self.pairs) or [(0, 0, 0)]).T
        joined = np.full((len(a), size), Fraction(), object)
        for row, (head, weight) in enumerate(zip(a, self.pairs.values(), strict=False)):
            joined[row, head] = weight
        said = np.full((len(self.grammar.letters), size), Fraction(), object)
        for (head, letter), weight in self.single.items():
            said[letter, head] = weight
        corners = np.array(self.corners, object).T
        return Weights(
            b, c, joined.astype(kind), said.astype(kind), corners.astype(kind)
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
        found = [shown[:, :0] @ self.said, shown @ self.said]
        for span in range(2, length + 1):
            places, total = length - span + 1, None
            for first in range(1, span):
                one = found[first][:, :places, self.left]
                rest = found[span - first][:, first : first + places, self.right]
                total = one * rest if total is None else total + one * rest
            found.append(total @ self.joined)
        return found

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
        for body, weight in _kept(rule.body, grammar.vanishing):
            if body and weight:
                bodies[rule.head][body] += rule.weight * weight
    for head in list(bodies):
        for body in list(bodies[head]):
            _split(body, bodies, totals, grammar)
    return _without_units(grammar, bodies, totals)


def _kept(
    body: Body, vanishing: Mapping[str, Fraction]
) -> Iterator[tuple[Body, Fraction]]:
    """What stays of a body, by which of its symbols vanish, and how likely they do."""
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
        name = _named(part, grammar)
        if name in totals:
            continue
        total = Fraction(1)
        for symbol in part:
            total *= totals.get(symbol, Fraction(1))
        totals[name] = total
        bodies[name][part] = Fraction(1)
        _split(part, bodies, totals, grammar)


def _named(body: Body, grammar: Grammar) -> str:
    """The symbol of a part of a body: no person can write its name, which has a blank."""
    return body[0] if len(body) == 1 and body[0] in grammar.of else f" {' '.join(body)}"


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
    reach = closed(units, ones)
    assert reach is not None
    pairs = defaultdict[tuple[int, int, int], Fraction](Fraction)
    single = defaultdict[tuple[int, int], Fraction](Fraction)
    for head, of in bodies.items():
        above = [(a, r) for a, r in enumerate(reach[number[head]]) if r]
        for body, weight in of.items():
            if len(body) > 1:
                two = (
                    number[_named(body[:1], grammar)],
                    number[_named(body[1:], grammar)],
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
        known = " ".join(grammar.letters)
        demand(part in index, f"{grammar.name} has no letter {part!r}; it has {known}")
    return np.array([index[part] for part in parts], np.int64)
