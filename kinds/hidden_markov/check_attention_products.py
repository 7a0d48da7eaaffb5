"""Beliefs of a hidden Markov model by heads whose weights are factors (Theorem W13).

Numbers are never negative and zeros stay zeros, so all errors are relative: they are
logarithms of quotients, and add up. What is left to show is that nothing is too small or
too large for the format, and that the last sums are near 1. How small entries of products
can be that are not 0 is bounded by binary logarithms: words of few letters are multiplied
out, by intervals; others are put together of these.
"""

from typing import NamedTuple, Self

import numpy as np

from krohn.kinds.hidden_markov.check_doubling_tensors import (
    Product,
    Scaling,
    steps,
)
from krohn.kinds.hidden_markov.check_positive_operators import (
    apart,
    birkhoff,
    contraction,
)
from krohn.kinds.hidden_markov.statement import StatedHiddenMarkov
from krohn.kinds.hidden_markov.statement_inputs import PossibleWords
from krohn.program.domains import BoolArray, FloatArray
from krohn.program.errors import demand
from krohn.program.patterns import letters_until_rectangles
from krohn.verify.checker.arithmetic import Format, Interval, fits_between, gamma
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Model

MOST_WORDS, MOST_WORK, LONGEST = 2**11, 2**26, 12
"""Words of one length whose operators are multiplied out, the work that this is, and how
many letters they have at most."""
FARTHEST = 900.0
"""Entries of what is multiplied out lie between 2 to the power of minus this, and 1."""
NEAR_ONE = 2.0**-20
"""By how much a sum of a column, or of the start, may exceed 1."""
ROUGH = 2.0**-20
"""More than a binary logarithm is off by."""


class Bounds(NamedTuple):
    """Of entries that are not 0: from below, and from below in units of the sum of all."""

    least: float
    share: float


class OperatorWords(NamedTuple):
    """Bounds for products of 0, 1, …, T operators, and for these applied to the start.

    Attributes:
        size: n.
        least: ``(T + 1,)``: of entries of products.
        share: ``(T + 1,)``: of the same, in units of the sum of all entries.
        said: ``(T + 1,)``: of entries of vectors.
        part: ``(T + 1,)``: of the same, in units of their sum.
        contraction: ``(T + 1,)``: what products multiply Hilbert's distances by, at most.
    """

    size: int
    least: FloatArray
    share: FloatArray
    said: FloatArray
    part: FloatArray
    contraction: FloatArray

    @classmethod
    def of(
        cls, letters: FloatArray, start: FloatArray, length: int, spread: Interval
    ) -> Self:
        """Those of operators ``(letters, n, n)``.

        Args:
            letters: The operators that are held.
            start: The start that is held.
            length: T.
            spread: How far logarithms of quotients of an operator and that of the source
                are apart: the contraction is that of the source.

        Raises:
            Refused: If a sum of a column is more than 1, or the start is no law.
        """
        for numbers in (letters, start):
            demand(np.isfinite(numbers) & (numbers >= 0), "a matrix has a wrong entry")
        most = Interval.of(letters).sum(axis=1).high
        demand(most <= 1 + NEAR_ONE, "a sum of a column is more than 1")
        total = Interval.of(start).sum()
        near = total.low >= 1 - NEAR_ONE and total.high <= 1 + NEAR_ONE
        demand(near, "the start does not add up to 1")
        size = len(start)
        none = Bounds(0.0, -float(np.log2(size)) - ROUGH)
        products, vectors = [none], [_bounds(Interval.of(start[None]), (1,))]
        columns, rows, contracted = -np.inf, -np.inf, list[float]()
        for words in _words(letters, length):
            products.append(_bounds(words, (1, 2)))
            vectors.append(_bounds(words @ start, (1,)))
            alike = _alike(words)
            columns = max(columns, alike)
            rows = max(rows, _alike(words.each(lambda x: x.transpose(0, 2, 1))))
            apart = 2 * len(products[1:]) * spread
            contracted.append(birkhoff(words, apart) if np.isfinite(alike) else 1.0)
        least, vector_least = _extend_bounds(products, vectors, length)
        grown = 2 * ROUGH * np.arange(length + 1)  # sums of columns, as logarithms
        column, row = np.full(length + 1, columns), np.full(length + 1, rows)
        merged = letters_until_rectangles(letters, length)
        if merged is not None:
            entry = float(least[merged] - grown[merged])
            column[merged:] = np.maximum(column[merged:], entry)
            row[merged:] = np.maximum(row[merged:], entry - np.log2(size) - ROUGH)
        share = np.maximum(least - np.log2(size) - ROUGH - grown, column + row)
        part = np.maximum(vector_least - grown, column)
        known = len(products)
        share[:known] = [each.share for each in products[: length + 1]]
        part[:known] = [each.share for each in vectors[: length + 1]]
        tau = contraction(contracted, length)
        return cls(size, least, share - ROUGH, vector_least, part - ROUGH, tau)

    def window(self, letters: int) -> Bounds:
        """Of products of so many letters, and of fewer applied to the start n times."""
        least = min(self.least[letters], self.said[:letters].min())
        beside = self.part[:letters].min() - np.log2(self.size) - ROUGH
        return Bounds(float(least), float(min(self.share[letters], beside)))

    @property
    def vector(self) -> Bounds:
        """Of vectors after up to T letters."""
        return Bounds(float(self.said.min()), float(self.part.min()))


def _words(letters: FloatArray, length: int) -> "list[Interval]":
    """The products of each length that are not 0, while they are few."""
    size = letters.shape[1]
    positive = letters[letters > 0]
    digits = -float(np.log2(positive.min(initial=1.0))) + ROUGH
    words, products = Interval.of(np.eye(size)[None]), list[Interval]()
    for count in range(1, min(length, LONGEST) + 1):
        many = len(words.low) * len(letters)
        few = many <= MOST_WORDS and many * size**3 <= MOST_WORK
        if not few or count * digits > FARTHEST:
            break
        words = (words[:, None] @ letters[None]).each(
            lambda x: x.reshape(-1, size, size)
        )
        words = words[words.high.any(axis=(1, 2))]
        products.append(words)
    return products


def _bounds(words: Interval, axes: tuple[int, ...]) -> Bounds:
    """Of all words; where there are none, any number is a bound."""
    there = words.high > 0
    demand(words.low[there] > 0, "a product is not known")
    if not there.any():
        return Bounds(0.0, 0.0)
    total = words.sum(axis=axes[-1])
    total = total.sum(axis=1) if len(axes) > 1 else total
    shape = (-1, *(1 for _ in axes))
    part = words / total.each(lambda x: x.reshape(shape)).where(
        (total.low > 0).reshape(shape), 1.0
    )
    return Bounds(_log(words.low[there]), _log(part.low[there]))


def _log(numbers: FloatArray) -> float:
    return float(np.log2(numbers.min())) - ROUGH


def _alike(words: Interval) -> float:
    """If columns of a word that are not 0 are positive at the same places: their share.

    The share of an entry in its column, at least; −∞ if they are not.
    """
    there: BoolArray = words.high > 0
    some = there.any(axis=2, keepdims=True)
    column = there.any(axis=1, keepdims=True)
    if not (there == (some & column)).all() or not there.any():
        return -np.inf
    total = words.sum(axis=1).each(lambda x: x[:, None])
    part = words / total.where(total.low > 0, 1.0)
    return _log(part.low[there])


def _extend_bounds(
    products: list[Bounds], vectors: list[Bounds], length: int
) -> tuple[FloatArray, FloatArray]:
    """Bounds of entries for all lengths: one of UV is at least a product of two."""
    least, vector_least = np.zeros(length + 1), np.zeros(length + 1)
    known = len(products)
    least[:known] = [each.least for each in products[: length + 1]]
    vector_least[:known] = [each.least for each in vectors[: length + 1]]
    for count in range(known, length + 1):
        first = np.arange(1, known)
        if not len(first):
            return np.full(length + 1, -np.inf), np.full(length + 1, -np.inf)
        least[count] = (least[first] + least[count - first]).max()
        vector_least[count] = (least[first] + vector_least[count - first]).max()
    return least, vector_least


SLACK = 1
"""Binary digits by which bounds of exact numbers are wider than those of computed ones."""
ROOM = 24
"""Binary digits between numbers and the ends of the range of the format."""
MOST_OFF = 0.25
"""How far logarithms may be off: less than a half of SLACK, twice."""
SMALL = -30.0
"""The binary logarithm of what may be lost below the normal range, in units of numbers."""


class Held(NamedTuple):
    """Bounds of the matrices, or of the vector, that the stream holds.

    Entries are c·x·exp(e), |e| ≤ ``off``, with one c > 0 for each position and word; x is
    exact. Nothing is said of words that are impossible: there all entries are 0.

    Attributes:
        least: The binary logarithm of a bound, from below, of entries that are not 0.
        sums: Bounds of the sums of all entries.
        share: The binary logarithm of a bound, from below, of an entry that is not 0 in
            units of the sum.
        off: A bound of |e|.
        columns: How far logarithms of what entries of one column are off by are apart,
            where the source's own operators are multiplied.
        plain: Whether c is 1.
    """

    least: float
    sums: Interval
    share: float
    off: Interval
    columns: Interval
    plain: bool

    @property
    def most(self) -> float:
        """The binary logarithm of the largest sum."""
        return float(np.log2(self.sums.most)) + ROUGH


def prove_error(model: Model) -> Established:
    """The error that can be shown; `established.judge` says if it is enough.

    Raises:
        Refused: If the network is another one.
    """
    source, form = StatedHiddenMarkov.from_wire(model.source), model.format
    demand(form.unit == form.sum_unit, f"{form.name} is too narrow for these products")
    length = model.length or 0
    demand(length > 0, "the file claims no length")
    place, done = steps(model, source, length)
    token = model.tensors["embed.token"][:, place.matrix(0)]
    whole = place.whole(token.reshape(len(token), place.row_count, place.size))
    here = whole[:-1], (begun := whole[-1, :, 0])
    spread = _spread(source, *here)
    words = OperatorWords.of(*here, length, spread.letter)
    first = words.window(1)
    known = _plain(first, float(len(begun)), Interval.of(0.0), spread.columns)
    smallest = known.least
    for step in done:
        if isinstance(step, Product):
            known = _product(known, step, words, spread, form)
        else:
            known = _scale_numbers(known, step, words.size, form)
        smallest = min(smallest, known.least)
    off = abs(known.sums - 1) + known.sums * (known.columns / 4).through(np.tanh)
    facts = {
        "argument": "products by attention",
        "least": 2.0**smallest,
        "spread": known.columns.most,
    }
    return Established(form, PossibleWords(length), facts, off.most)


class Spread(NamedTuple):
    """How far logarithms of quotients are apart, of held numbers and those of the source.

    Attributes:
        letter: Of a letter's matrix.
        columns: Of a column of one, or the start.
        start: Of the start.
    """

    letter: Interval
    columns: Interval
    start: Interval


def _spread(
    source: StatedHiddenMarkov, letters: FloatArray, begun: FloatArray
) -> Spread:
    """How far the file holds other operators than the source.

    Raises:
        Refused: If an entry is 0 where that of the source is not, or the other way round.
    """
    whole = apart(letters.reshape(len(letters), -1, 1), source.operators)
    start = apart(begun[None, :, None], source.start)
    columns = apart(letters, source.operators)
    return Spread(whole, columns.maximum(start), start)


def _plain(bounds: Bounds, most: float, off: Interval, columns: Interval) -> Held:
    """The numbers that are held where nothing was scaled."""
    least = bounds.least - SLACK
    sums = Interval.of(2.0**least).join_with(most * 2.0**SLACK)
    return Held(least, sums, bounds.share - SLACK, off, columns, True)


def _product(
    known: Held, step: Product, words: OperatorWords, spread: Spread, form: Format
) -> Held:
    """Windows times those before them; the last ones are applied to the start."""
    size, letters = words.size, 2**step.level
    demand(
        step.shut >= 4 * max(known.sums.most, 1.0), "wrong positions are not shut out"
    )
    begun = float(words.said[0]) if step.last else 0.0
    least, most = 2 * known.least + begun, 2 * known.most
    fits_between(least, most, form, ROOM)
    rounded = _relative(form, 2 * size if step.last else size)
    off = 2 * known.off + rounded
    demand(off <= MOST_OFF, "errors are too large to be followed")
    whole = 2 * known.off + float(letters) * spread.letter + spread.start
    own, tau = known.columns.minimum(whole), float(words.contraction[letters])
    before = own + tau * (whole - own + spread.start) if step.last else own
    columns = own + tau * (whole - own + before) + 2 * rounded
    bounds = words.vector if step.last else words.window(2 * letters)
    if known.plain:
        return _plain(bounds, 1.0 if step.last else float(size), off, columns)
    sums = Interval.of(2.0 ** (least - ROUGH)).join_with(2.0 ** (most + ROUGH))
    share = max(bounds.share - SLACK, least - most - ROUGH)
    return Held(least - ROUGH, sums, share, off, columns, False)


def _scale_numbers(known: Held, step: Scaling, size: int, form: Format) -> Held:
    """All numbers times the same c(v), v their sum, which is near 1/v."""
    a, into, out = step.points, step.into, step.out
    for numbers in (a, into, out):
        demand(np.isfinite(numbers) & (numbers > 0), "a factor is not positive")
    logs = [np.log2(numbers) for numbers in (a, into, out)]
    weighed = logs[0] + logs[1]
    ends = np.concatenate([logs[1], weighed, weighed + logs[2] + np.log2(len(a))])
    fits_between(ends.min(), ends.max(), form, ROOM)
    most = 5 / 4 * float((a * into * out).sum())  # above c(v) as it is computed
    kept = step.shut >= 4 * max(a.max(), 1.0) and step.shut_out >= 4 * max(most, 1.0)
    demand(kept, "wrong positions are not shut out")
    terms = size ** (2 if step.vector < 0 else 1)
    sums = _sums(step, known.sums, gamma(terms, form.sum_unit))
    demand(sums.low > 0, "a sum may become 0")
    # Products with small weights may be below the normal range; they add little. A head
    # adds something only where the sum is at most its point.
    lost = float((np.log2(out + 1) + logs[0]).max() - np.log2(sums.low)) + SLACK
    lost += float(np.log2(4 * len(a) * form.smallest)) + ROUGH
    demand(lost <= SMALL, "a number may be too small to be scaled")
    rounded, own = _relative(form, 1), _relative(form, len(a) + 2) + 2.0**lost
    off = known.off + rounded
    demand(off <= MOST_OFF, "errors are too large to be followed")
    wide = sums * (1 - own).join_with(1 + own + own * own)
    share = known.share - 4 * rounded.most  # entries are off by this, and their sum
    least = float(np.log2(wide.low)) - ROUGH + share - ROUGH
    fits_between(least, float(np.log2(wide.most)), form, ROOM)
    return Held(least - ROUGH, wide, share, off, known.columns + 2 * rounded, False)


def _sums(step: Scaling, sums: Interval, g: Interval) -> Interval:
    """Between which numbers v·c(v) is, if heads see a − v up to g·max(a, v).

    Between two points p and q it is y·(α − βy), y = v/q: concave in y.
    """
    a, into, out = step.points, step.into, step.out
    low, high = float(sums.low), float(sums.high)
    ends = np.concatenate([[low], np.clip(np.sort(a), low, high), [high]])
    p, q = ends[:-1, None], ends[1:, None]
    each = Interval.of(np.where(a >= q, into, 0.0)) * q
    alpha, beta = ((each * x * out).sum(axis=1) for x in (a, q))
    first = (Interval.of(p) / q)[:, 0]
    least, most = (1 - g) * alpha, (1 + g) * alpha
    below = (first * (least - beta * first)).minimum(least - beta)
    above = (first * (most - beta * first)).maximum(most - beta)
    there = np.asarray(beta.low > 0)
    top = most / (2 * beta).where(there, 1.0)
    reached = there & (top.high >= first.low) & (top.low <= 1)
    above = above.maximum((top * most / 2).where(reached, 0.0))
    # A head whose point is just below may still see something above 0.
    near = np.where((a <= p) & (a >= p * (1 - 8 * g.most)), into, 0.0)
    bump = (Interval.of(near) * p * p * out).sum(axis=1) * (4 * g)
    return below.min().join_with((above + bump).max())


def _relative(form: Format, terms: int) -> Interval:
    """How far the logarithm of a sum of so many positive terms can be off, at most."""
    part = gamma(terms, form.sum_unit)
    return part / (1 - part)
