"""Transformers as terms of the solver: letters unknown, attention hard."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import z3

from krohn.network.meaning.arrays import points
from krohn.network.meaning.forward import read_out, through
from krohn.network.meaning.net import Net
from krohn.network.meaning.rationals import IdealRationals, Looking, Rationals, Scores

# Numbers that depend on unknowns: expressions of the solver, with bounds.
#
# The bounds come from interval arithmetic in fractions. A ReLU that they decide needs
# no case distinction, and a number that they fix is no expression at all.


ZERO = Fraction(0)


@dataclass(frozen=True)
class Term:
    """A rational number that the solver may choose, within bounds that always hold.

    Attributes:
        low: It is never less.
        high: It is never more; a constant is a term with equal bounds.
        unknown: What the solver is given, of a number that is not constant.
    """

    low: Fraction
    high: Fraction
    unknown: Any = None

    @property
    def is_constant(self) -> bool:
        """Whether it is a constant."""
        return self.low == self.high

    @property
    def expression(self) -> Any:
        """What the solver is given."""
        return z3.RealVal(self.low) if self.is_constant else self.unknown

    def __add__(self, other: "Term | Fraction") -> "Term":
        return total((self, term(other)))

    def __mul__(self, other: "Term | Fraction") -> "Term":
        return product(self, term(other))


def constant(value: Fraction | int) -> Term:
    """A number that is known."""
    exact = Fraction(value)
    return Term(exact, exact)


def term(value: Term | Fraction) -> Term:
    """A term, or the constant of a number."""
    return value if isinstance(value, Term) else Term(value, value)


def variable(name: str, low: Fraction, high: Fraction) -> tuple[Term, Any]:
    """An unknown number, and the condition that it lies within its bounds."""
    unknown = z3.Real(name)
    bounds = z3.And(unknown >= z3.RealVal(low), unknown <= z3.RealVal(high))
    return Term(low, high, unknown), bounds


def total(terms: Iterable[Term]) -> Term:
    """The sum of terms."""
    known, unknown = ZERO, []
    for each in terms:
        if each.is_constant:
            known += each.low
        else:
            unknown.append(each)
    if not unknown:
        return constant(known)
    shift = [z3.RealVal(known)] if known else []
    # Not z3.Sum: a sum of one term is no SMT-LIB for other solvers.
    expression = reduce(add, [t.expression for t in unknown] + shift)
    low, high = (sum((getattr(t, n) for t in unknown), known) for n in ("low", "high"))
    return Term(low, high, expression)


def product(left: Term, right: Term) -> Term:
    """The product of two terms; linear if one of them is a constant."""
    if left.is_constant and right.is_constant:
        return constant(left.low * right.low)
    if left.is_constant or right.is_constant:
        factor, other = (left.low, right) if left.is_constant else (right.low, left)
        if factor in (0, 1):
            return other if factor else constant(0)
        low, high = sorted((factor * other.low, factor * other.high))
        return Term(low, high, z3.RealVal(factor) * other.expression)
    ends = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    return Term(min(ends), max(ends), left.expression * right.expression)


def relu(x: Term) -> Term:
    """The greater of a term and 0."""
    if x.low >= 0:
        return x
    if x.high <= 0:
        return constant(0)
    expression = z3.If(x.expression > 0, x.expression, z3.RealVal(0))
    return Term(ZERO, x.high, expression)


def select(options: Sequence[tuple[Any, Term]]) -> Term:
    """The term whose condition holds; of the conditions, exactly one does."""
    terms = [chosen for _, chosen in options]
    low, high = min(t.low for t in terms), max(t.high for t in terms)
    if low == high:
        return constant(low)
    expression = terms[-1].expression
    for condition, chosen in reversed(options[:-1]):
        expression = z3.If(condition, chosen.expression, expression)
    return Term(low, high, expression)


# The engine of terms.
#
# Of every head the question knows a choice: for each point that looks, exactly one of
# the points that it sees, whose score is not exceeded by another one. Where two scores
# are equal the solver may choose, so what is verified holds for every way to break ties.


class Terms(np.ndarray[Any, Any]):
    """An array of terms; its products leave the zeros of matrices out."""

    def __matmul__(self, other: Any) -> "Terms":
        return _each(_inner, self, other)


def terms(values: Any) -> Terms:
    """An array of terms, from one of terms and fractions."""
    return np.asarray(_term(values), dtype=object).view(Terms)


def _each(of: Any, x: Any, y: Any) -> Terms:
    """Entries made of rows and columns as those of ``x @ y`` are."""
    columns = np.swapaxes(y, -1, -2)
    columns = columns[..., None, :, :] if y.ndim > 2 else columns
    return np.asarray(of(x[..., None, :], columns)).view(Terms)


def _by_entries(of: Any) -> Any:
    return np.vectorize(of, otypes=[object], signature="(n),(n)->()")


@_by_entries
def _inner(x: Sequence[Term], y: Sequence[Term | Fraction]) -> Term:
    return total(product(a, term(b)) for a, b in zip(x, y, strict=True) if b)


@_by_entries
def _select_values(weights: Sequence[Any], values: Sequence[Term]) -> Term:
    both = zip(weights, values, strict=True)
    return select([(taken, x) for taken, x in both if z3.is_bool(taken)])


_term = np.frompyfunc(term, 1, 1)
_relu = np.frompyfunc(relu, 1, 1)


@dataclass(frozen=True)
class Letter:
    """A letter that is not known: the condition that it is each."""

    conditions: Sequence[Any]


class IdealTerms(IdealRationals):
    """Arrays of terms, and layers of fractions: a head takes one of its largest scores.

    Args:
        name: Of what the question is about, in the names of its choices.

    Attributes:
        choices: From a head where it looks to the condition of each point that it may
            take; where only one can be, there is no choice.
        assumed: From a point to conditions on the choices there.
    """

    who = "SMT"

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self.name = name
        self.choices: dict[Looking, dict[int, Any]] = {}
        self.assumed: dict[int, list[Any]] = {}

    def gather(self, table: Any, index: Any) -> Any:
        """Rows of a table, of which a letter says one."""
        if isinstance(index, slice):
            return terms(table[index])
        return terms([[_row(table, each) for each in word] for word in index])

    def weights(self, looking: Looking, scores: Scores) -> Mapping[int, Any]:
        """The condition that a point is taken, for those whose score can be largest."""
        least = max(score.low for score in scores.values())
        possible = {j: score for j, score in scores.items() if score.high >= least}
        name = f"taken_{self.name}{looking.at}_{looking.head}_{looking.point}"
        options = {j: z3.Bool(f"{name}_{j}") for j in possible}
        if len(options) > 1:
            self.choices[looking] = options
            assumed = self.assumed.setdefault(looking.point, [])
            assumed.append(exactly_one(list(options.values())))
            for j, taken in options.items():
                rest = [s.expression for i, s in possible.items() if i != j]
                most = [possible[j].expression >= other for other in rest]
                assumed.append(z3.Implies(taken, z3.And(most)))
        return options

    def combine(self, weights: Any, values: Any, seen: Any) -> Any:
        """The values at the points that are taken."""
        del seen
        return _each(_select_values, weights, values)

    def relu(self, x: Any) -> Any:
        """max(x, 0)."""
        return _relu(x)


def _row(table: Rationals, letter: Any) -> Any:
    if not isinstance(letter, Letter):
        return table[letter]
    rows = terms(table[: len(letter.conditions)])
    each = [list(zip(letter.conditions, column, strict=True)) for column in rows.T]
    return [select(options) for options in each]


def exactly_one(conditions: list[Any]) -> Any:
    """The condition that just one of some holds."""
    pairs = [
        z3.Not(z3.And(a, b)) for i, a in enumerate(conditions) for b in conditions[:i]
    ]
    return z3.And(z3.Or(conditions), *pairs)


# A whole Transformer on all words.


Vector = Sequence[Term]


@dataclass(frozen=True)
class Words:
    """The network on all words of a length, beyond what is said of shorter ones.

    Attributes:
        assumed: Conditions on the last letter, and on choices.
        logits: From a letter's position to the logits after it: the last one only if
            no head sees the whole word.
        choices: As in `IdealTerms`.
    """

    assumed: list[Any]
    logits: dict[int, Vector]
    choices: Mapping[Looking, Mapping[int, Any]]


def encode(net: Net[Rationals], letters: Sequence[Sequence[Any]]) -> list[Words]:
    """Encode a Transformer on all words, for each length from 1 on.

    If it is causal, what is said of a longer word is what was said of its beginnings.

    Args:
        net: Its numbers are fractions.
        letters: For each position from 1 on, a condition for every letter.

    Raises:
        Refused: If it has units that are no ReLUs, or heads that make no choice.
    """
    alone = [exactly_one(list(options)) for options in letters]
    if net.causal:
        o, outputs = _run(net, letters)
        return [
            Words([new, *o.assumed.get(t, [])], {t: outputs[t - 1]}, o.choices)
            for t, new in enumerate(alone, start=1)
        ]
    encoded = []
    for n, new in enumerate(alone, start=1):
        o, outputs = _run(net, letters[:n], f"{n}_")
        assumed = [c for at in o.assumed.values() for c in at]
        encoded.append(Words([new, *assumed], dict(enumerate(outputs, 1)), o.choices))
    return encoded


def _run(
    net: Net[Rationals], letters: Sequence[Sequence[Any]], name: str = ""
) -> tuple[IdealTerms, Sequence[Vector]]:
    """The network on all words of a length: its choices, and logits after each letter."""
    o, bos = IdealTerms(name), len(net.token) - 1
    tokens = np.array([[bos, *map(Letter, letters)]], dtype=object)
    x, _ = through(net, o, points(tokens))
    return o, read_out(net, o, x[:, 1:])[0]
