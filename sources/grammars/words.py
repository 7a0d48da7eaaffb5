"""What a grammar says of words: probabilities, prefixes, next and hidden letters."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.sources.grammars.grammar import Grammar
from krohn.sources.grammars.normal import Numbers, Weights, normal, numbers_of
from krohn.sources.written_letters import written

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

    def shown(self, words: IntArray) -> Numbers:
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
        begun = self.begun(self.shown(np.hstack([longer, letter])))
        ends = self.inside(self.shown(words))
        return np.hstack([begun.reshape(count, letters), ends[:, None]])

    def hidden(self, word: Sequence[str]) -> dict[int, Numbers]:
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
        told = numbers_of(self.grammar, [known if x == HIDDEN else x for x in word])
        shown = self.shown(told[None])
        shown[0, gaps] = self._ones.sum(axis=0)
        found = dict[int, Numbers]()
        for gap in gaps:
            each = np.repeat(shown, len(self._ones), axis=0)
            each[:, gap] = self._ones
            law = self.inside(each)
            demand(law.sum() > 0, f"{self.grammar.name} has no such sentence")
            found[gap] = law / law.sum()
        return found


def sentences(
    grammar: Grammar, count: int, seed: int, most: int = 1_000_000
) -> Iterator[tuple[tuple[str, ...], int]]:
    """Random sentences, each with the depth of its derivation (`bounded`).

    Args:
        grammar: The grammar.
        count: How many.
        seed: Of the random numbers.
        most: No sentence has more letters.

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
                demand(len(word) <= most, f"a sentence has more than {most:,} letters")
                continue
            deepest = max(deepest, len(waiting))
            ladder = ladders[first]
            at = int(np.searchsorted(ladder[:-1], generator.random(), side="right"))
            if body := grammar.of[first][at].body:
                waiting.append(body)
        yield tuple(word), deepest


def letters_of(grammar: Grammar, words: Iterable[str]) -> tuple[str, ...]:
    """What a person wrote: letters with blanks between them, or of one character each.

    Where neither is known, what stands between blanks is meant as a letter.
    """
    known = {*grammar.letters, HIDDEN}
    return tuple(written(words, known.__contains__, known))


def floats(numbers: Numbers) -> FloatArray:
    """As float64."""
    return np.asarray(numbers, np.float64)
