"""A hidden Markov model by its operators, and its filter, predictor and sampler."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Self

import numpy as np
import numpy.typing as npt

from krohn.kinds.hidden_markov.statement import StatedHiddenMarkov
from krohn.kinds.hidden_markov.statement_masked import SUM, check_sums
from krohn.program.domains import LARGEST_MATRIX, BoolArray, FloatArray, IntArray
from krohn.program.errors import demand
from krohn.program.exact_products import (
    Ratios,
    products,
)
from krohn.program.user_input import real_array

# Models whose start says the first letter, as models that step before they say it.


BEFORE = "start"
"""The state before the first letter, where it is none of the others."""
MOST_STATES = 32
"""Of how many states the law before a step is looked for: in exact arithmetic."""


def law_before(step: FloatArray, first: FloatArray) -> FloatArray | None:
    """``(n,)``: the law s with P s = ``first``; None if there is none, or P is singular.

    It is exact up to a factor near 1, which makes it sum to 1; and then each number is
    rounded to the next one of float64. So entries of P s are off by a relative 2⁻⁵³ at
    most, and the result is the same on every machine.

    Args:
        step: ``(n, n)``: P; columns are laws.
        first: ``(n,)``: a law.
    """
    if len(first) > MOST_STATES:
        return None
    rows = [_whole([*row, x]) for row, x in zip(step.tolist(), first, strict=True)]
    size, last = len(rows), 1
    for k in range(size):  # Gauss and Jordan without fractions (Bareiss 1968)
        pivot = next((i for i in range(k, size) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        top, lead = rows[k], rows[k][k]
        for i in (i for i in range(size) if i != k):
            by = rows[i][k]
            pairs = zip(rows[i], top, strict=True)
            rows[i] = [(lead * x - by * y) // last for x, y in pairs]
        last = lead
    weights = [Fraction(row[-1], last) for row in rows]
    total = sum(weights)
    return np.array([float(x / total) for x in weights]) if min(weights) >= 0 else None


def with_one_before(
    step: FloatArray, say: FloatArray, first: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Transitions and emissions with one more state, from which a step leads to a law.

    Nothing leads to it, so that it says no letter.

    Args:
        step: ``(n, n)``: P.
        say: ``(m, n)``: O.
        first: ``(n,)``: the law.
    """
    size, letters = len(first), len(say)
    onward = np.zeros((size + 1, size + 1))
    onward[:size, :size], onward[:size, size] = step, first
    return onward, np.column_stack([say, np.full(letters, 1 / letters)])


def _whole(row: list[float]) -> list[int]:
    """Numbers in the same ratio, without fractions."""
    parts = [Fraction(x) for x in row]
    common = lcm(*(x.denominator for x in parts))
    return [int(x * common) for x in parts]


# A hidden Markov model by its operators, and its filter, predictor and sampler.


def _check_laws(what: str, matrix: FloatArray) -> None:
    demand(matrix.ndim == 2, f"the {what} are no matrix")
    demand(np.isfinite(matrix) & (matrix >= 0), f"the {what} have a negative entry")
    check_sums(what, matrix)


def _first_law(first: npt.ArrayLike, step: FloatArray) -> FloatArray:
    law = real_array(first, "first")
    fits = law.shape == step.shape[:1] == step.shape[1:]
    is_law = fits and (law >= 0).all() and abs(law.sum() - 1) <= SUM
    demand(is_law, f"first is no law of {len(step)} states")
    return law


@dataclass(frozen=True, eq=False)
class HiddenMarkovModel(StatedHiddenMarkov):
    """A hidden Markov model, with its filter, predictor and sampler.

    A_o[s', s] = Pr(s', o | s): the model goes from s to s' and then says o. So
    A_o = diag(O[o]) P for transitions P and emissions O, and Σ_o A_o = P. The first letter
    is said after the first step (Hu et al. 2024, App. C, where o_0 is a placeholder).

    If letters are chosen and not said, as in a POMDP or an automaton, then the columns of
    the operators add up to 1 over the letters of each action.

    With ``final`` it is a weighted automaton (`weighted`): its entries are weights, which
    need not add up to 1. A belief is then the vector of weights, made to sum to 1.

    Attributes:
        remark: How it was read, where that could be done in another way.

    Raises:
        Refused: If the numbers are no probabilities, or weights; the message names the
            first that is wrong.
    """

    remark: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.final is None:
            self._demand_laws()

    def _demand_laws(self) -> None:
        off = abs(self.start.sum() - 1)
        demand(off <= SUM, f"the start adds up to {self.start.sum():.9g}, not to 1")
        for action in sorted(set(self._actions)):
            sums = self.operators[np.array(self._actions) == action].sum(axis=(0, 1))
            worst = int(np.abs(sums - 1).argmax())
            demand(
                abs(sums[worst] - 1) <= SUM,
                f"the probabilities from state {self.states[worst]!r} add up to "
                f"{sums[worst]:.9g}, not to 1",
            )

    @property
    def _actions(self) -> tuple[int, ...]:
        return self.actions or (0,) * len(self.letters)

    @classmethod
    def of(
        cls,
        name: str,
        transitions: npt.ArrayLike,
        emissions: npt.ArrayLike,
        *,
        before: npt.ArrayLike | None = None,
        first: npt.ArrayLike | None = None,
        states: Iterable[str] | None = None,
        letters: Iterable[str] | None = None,
    ) -> Self:
        """The model of transitions and emissions, and of one of two laws at the start.

        ``before`` is the law of the state before the first step: the model steps, and then
        says its first letter. ``first`` is the law of the state that says the first letter,
        as software for hidden Markov models has it (``startprob_`` of hmmlearn). If one
        law before a step leads to it, that is the start. Otherwise the state
        `krohn.kinds.hidden_markov.source_model.BEFORE` is added, from which the first
        step leads to that law. So beliefs are what a filter of that software holds.

        Args:
            name: What it is called.
            transitions: ``(n, n)``: P[s', s] = Pr(s' | s); columns add up to 1.
            emissions: ``(m, n)``: O[o, s] = Pr(o | s); columns add up to 1.
            before: ``(n,)``: the law of the state before the first step.
            first: ``(n,)``: the law of the state that says the first letter.
            states: Their names; 1, 2, … if absent.
            letters: Their names; 1, 2, … if absent.

        Raises:
            Refused: If these are no probabilities, not one of the two laws is given, or a
                state has the name of the one that is added.
        """
        step = real_array(transitions, "transitions")
        say = real_array(emissions, "emissions")
        _check_laws("transitions", step)
        _check_laws("emissions", say)
        demand(
            (before is None) != (first is None),
            "say one law of the start: before=, of the state before the first step; or "
            "first=, of the state that says the first letter, as startprob of hmmlearn",
        )
        names = tuple(states or (str(i + 1) for i in range(len(step))))
        symbols = tuple(letters or (str(i + 1) for i in range(len(say))))
        if first is None:
            start = real_array(before, "before")
        else:
            law = _first_law(first, step)
            earlier = law_before(step, law)
            if earlier is None:
                step, say = with_one_before(step, say, law)
                names, earlier = (*names, BEFORE), np.eye(len(step))[-1]
            start = earlier
        return cls(name, names, symbols, say[:, :, None] * step, start)

    @classmethod
    def weighted(
        cls,
        name: str,
        start: npt.ArrayLike,
        matrices: Mapping[str, npt.ArrayLike],
        final: npt.ArrayLike,
        states: Iterable[str] | None = None,
    ) -> Self:
        """The automaton that gives a word the weight start · A_{o_1} ⋯ A_{o_t} · final.

        Where a matrix or the start has a negative entry, each state q becomes two, ``q+``
        and ``q-``, whose weights are not negative, and whose difference is that of q: the
        matrices are [[A⁺, A⁻], [A⁻, A⁺]] with A = A⁺ − A⁻.

        Args:
            name: What it is called.
            start: ``(n,)``.
            matrices: For each letter ``(n, n)``: A[s, s'] is the weight from s to s'.
            final: ``(n,)``.
            states: Their names; 1, 2, … if absent.

        Raises:
            Refused: If an array is none of numbers or has another shape, or every word
                has the weight 0.
        """
        begun, ends = real_array(start, "start"), real_array(final, "final")
        demand(begun.ndim == 1, "start is no row of numbers")
        size, letters = len(begun), tuple(map(str, matrices))
        rows = [real_array(a, f"the matrix of {o!r}") for o, a in matrices.items()]
        for letter, each in zip(letters, rows, strict=True):
            fits = each.shape == (size, size)
            demand(fits, f"the matrix of {letter!r} is not one of {size} states")
        names = tuple(states or (str(i + 1) for i in range(size)))
        moves = np.array(rows).reshape(-1, size, size)
        if (moves < 0).any() or (begun < 0).any():
            more, less = np.maximum(moves, 0), np.maximum(-moves, 0)
            moves = np.block([[more, less], [less, more]])
            begun = np.concatenate([np.maximum(begun, 0), np.maximum(-begun, 0)])
            ends = np.concatenate([ends, -ends])
            names = tuple(f"{q}{sign}" for sign in "+-" for q in names)
        operators = moves.transpose(0, 2, 1).copy()
        return cls(name, names, letters, operators, begun, final=ends)

    @property
    def size(self) -> int:
        """How many states it has."""
        return len(self.states)

    def filter(self, words: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """The beliefs after each letter, many words at once, for words of any length.

        Args:
            words: ``(batch, length)`` letter numbers.

        Returns:
            ``(batch, length, n)``: b_1, b_2, …, each of sum 1; and ``(batch, length)``:
            the logarithm of the probability of each letter after those before it. After
            an impossible letter beliefs are NaN, and the logarithm is −∞.

        Raises:
            Refused: If a number is that of no letter.
        """
        letters: IntArray = np.asarray(words, np.int64)
        last = len(self.letters) - 1
        demand(
            bool(((letters >= 0) & (letters <= last)).all()),
            f"a word of {self.name} has letters from 0 to {last}",
        )
        beliefs = np.empty((*letters.shape, self.size))
        belief, likelihoods = self.start, np.empty(letters.shape)
        belief = np.broadcast_to(belief, (len(letters), self.size))
        with np.errstate(divide="ignore", invalid="ignore"):
            for t in range(letters.shape[1]):
                joint = self._follow(letters[:, t], belief)
                total = joint.sum(axis=1)
                belief = joint / total[:, None]
                beliefs[:, t], likelihoods[:, t] = belief, np.log(total)
        return beliefs, likelihoods

    def _follow(self, letters: IntArray, beliefs: FloatArray) -> FloatArray:
        """``(batch, n)``: A_o b for a letter o and a belief b each."""
        if self.size <= LARGEST_MATRIX:
            each: FloatArray = (self.operators[letters] @ beliefs[:, :, None])[:, :, 0]
            return each
        joint = np.empty(beliefs.shape)  # a matrix for each word would be too much
        for letter in np.unique(letters):
            rows = letters == letter
            joint[rows] = beliefs[rows] @ self.operators[letter].T
        return joint

    def predict(self, beliefs: FloatArray) -> FloatArray:
        """``(…, letters)``: the law of the next letter, for each action apart.

        Of a weighted automaton, the weight of the word with each letter more, in units of
        the sum of the weights of all states.
        """
        ends = np.ones(self.size) if self.final is None else self.final
        law: FloatArray = beliefs @ (ends @ self.operators).T
        return law

    def weights(self, word: IntArray, beliefs: FloatArray) -> FloatArray:
        """``(length,)``: the weight of each prefix, by the beliefs after it and before.

        The sum of all states grows by the factor 1ᵀ·A_o·b with each letter.

        Args:
            word: ``(length,)`` letter numbers.
            beliefs: ``(length, n)``: b_1, b_2, ….
        """
        before = np.vstack([self.start, beliefs[:-1]])
        sums = self.operators.sum(axis=1)[word]
        ends = np.ones(self.size) if self.final is None else self.final
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            grown: FloatArray = (sums * before).sum(axis=1).cumprod() * (beliefs @ ends)
        return grown

    def sample(
        self, count: int, length: int, generator: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        """Words and the states behind them; actions are uniform and independent.

        Of a weighted automaton, letters and states are as likely as their weights are
        large. After a state that no letter leaves, words go on in any way.

        Returns:
            ``(count, length)`` letters, and ``(count, length + 1)`` states, s_0 first.
        """
        letters, n = len(self.letters), self.size
        share = 1 / len(set(self._actions))
        jumps = (self.operators * share).transpose(2, 0, 1).reshape(n, letters * n)
        possible = np.flatnonzero(jumps.any(axis=0))
        ladders, total = np.cumsum(jumps[:, possible], axis=1), jumps.sum(axis=1)
        ladders /= np.where(total > 0, total, 1.0)[:, None]
        states = np.empty((count, length + 1), np.int64)
        words = np.empty((count, length), np.int64)
        states[:, 0] = generator.choice(n, size=count, p=self.start / self.start.sum())
        for t in range(length):
            draws = generator.random(count)[:, None]
            indices = (ladders[states[:, t]] <= draws).sum(axis=1)
            indices = np.minimum(indices, len(possible) - 1)
            words[:, t], states[:, t + 1] = np.divmod(possible[indices], n)
        return words, states

    def possible(self, words: IntArray) -> BoolArray:
        """``(batch, length)``: whether a prefix of ``(batch, length)`` words is possible.

        Told by which states can be reached, so that no probability is too small.
        """
        leads, possible = self.operators > 0, np.empty(words.shape, bool)
        there = np.broadcast_to(self.start > 0, (len(words), self.size))
        for t in range(words.shape[1]):
            there = np.asarray((leads[words[:, t]] & there[:, None]).any(axis=2))
            possible[:, t] = there.any(axis=1)
        return possible

    def ratios(self, word: Iterable[int]) -> Iterator[Ratios]:
        """The beliefs b_1, b_2, … of a word, without any error; over 0 if impossible."""
        for weights, _ in products(self.operators, self.start, word):
            yield Ratios(weights, sum(weights))

    def exactly(self, word: Sequence[int]) -> list[list[Fraction]]:
        """The same, as fractions.

        Raises:
            Refused: If a letter is impossible after those before it.
        """
        beliefs = []
        for at, belief in enumerate(self.ratios(word)):
            name = self.letters[word[at]]
            possible = belief.under > 0
            demand(possible, f"letter {at + 1}, {name!r}, is impossible at its place")
            beliefs.append([Fraction(x, belief.under) for x in belief.over])
        return beliefs
