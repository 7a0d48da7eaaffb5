"""The belief in log depth by heads whose weights are factors: for every model.

A head of ReLU attention multiplies a vector by its score, which is not divided by
anything. So n² heads multiply two matrices: head (i, k) has the score X_ik at one earlier
position, and takes row k of Y there. Products of numbers that are not negative are off by
a few roundings of themselves, and a 0 stays 0. So operators may have zeros, and nothing
need be forgotten: what is proved is Theorem W13 of docs/proofs/beliefs.md.

Windows double as in `normalised_products`. Vectors are normalised at the end, and matrices
where they might become too small: heads that weigh a 1 by max(a − v, 0), v the sum of all
entries, make one number near 1/v, by which a head of the next block weighs all entries. So
an entry is rounded once, and what that number is off by is the same for all of them.

Departure from Hu et al. 2024, Theorem 5.3: their products are made by an MLP.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import ceil, log, log1p, log2
from typing import NamedTuple

import numpy as np

from krohn.compiler import CompileError, Unsuited
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.pipeline import Options
from krohn.compiler.transformer import Network, transformer_network
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_beliefs import Sizes
from krohn.network.precision import FloatArray, Precision
from krohn.program.domains import BoolArray, IntArray

NAME = "attention-products"
MOST_NUMBERS = 2**26
"""Of a network: 512 MiB in float64."""
SHUT = 4.0
"""The loss of a score by each wrong digit of a position, in units of the largest."""
KNOTS = {"float32": (16, 24, 3), "float64": (16,)}
"""By how many pieces each stage approximates 1/v, at least, and all behind them by as many
as the last: each piece of that one is a rounding of the sum, which is to be 1."""
WIDEST, NARROW = 24, 8
"""How many binary digits a piece spans at most, of vectors and of matrices."""
NEAR, AFTER = 2.0**-20, -(2.0**-30)
"""When sums are near enough to 1, as a binary logarithm, and the least one of those that
were made near to it."""
SHARE_OF_SUMS = 0.25
"""What part of an error sums may be off by."""
LONGEST = 2**12
"""Letters of a word: the proof looks at the sizes of the products of each length."""
MOST_STAGES = 6
LARGEST = {"float32": 100, "float64": 990}
"""The binary logarithm of the largest weight of a value."""
Tensors = dict[str, FloatArray]
Heads = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True)
class Layout:
    """The dimensions of the residual stream.

    Attributes:
        size: n.
        length: T.
        stages: How often vectors are normalised.
        factors: How often anything is.
        rows: ``(n,)``: in which row of a matrix a state is held.
        possible: ``(letters + 1, n)``: after which letters a state is possible, and
            whether it is at the start.
    """

    size: int
    length: int
    stages: int
    factors: int
    rows: IntArray
    possible: BoolArray

    @classmethod
    def of(
        cls, model: HiddenMarkovModel, length: int, stages: int, factors: int
    ) -> "Layout":
        """States that are possible after the same letter are held in different rows."""
        moves = (model.operators > 0).any(axis=2)
        possible = np.concatenate([moves, (model.start > 0)[None]])
        beside = (possible[:, :, None] & possible[:, None]).any(axis=0)
        rows = np.full(model.size, -1)
        for state, others in enumerate(beside):
            taken = set(rows[others].tolist())
            rows[state] = next(row for row in count() if row not in taken)
        return cls(model.size, length, stages, factors, rows, possible)

    @property
    def row_count(self) -> int:
        """How many rows are held."""
        return int(self.rows.max()) + 1

    @property
    def shares_rows(self) -> bool:
        """Whether states share rows."""
        return self.row_count < self.size

    @property
    def reachable_states(self) -> IntArray:
        """The states that some letter leads to."""
        return np.flatnonzero(self.possible[:-1].any(axis=0))

    @property
    def answers(self) -> bool:
        """Whether states that letters lead to share rows, so that a block parts them."""
        return len(set(self.rows[self.reachable_states].tolist())) < len(
            self.reachable_states
        )

    @property
    def levels(self) -> int:
        """How often windows double until they hold T letters; at least once."""
        return max(1, (self.length - 1).bit_length())

    @property
    def digits(self) -> int:
        """Binary digits of a position."""
        return self.length.bit_length()

    def matrix(self, which: int) -> range:
        """One of the two places of matrices, which take turns."""
        numbers = self.row_count * self.size
        return range(which * numbers, (which + 1) * numbers)

    def row(self, which: int, row: int) -> range:
        """A row of a matrix."""
        return self.matrix(which)[row * self.size : (row + 1) * self.size]

    @property
    def one(self) -> int:
        """The dimension that is 1 everywhere."""
        return 2 * self.row_count * self.size

    def position(self, level: int | None) -> range:
        """The digits of the position 2^level before, of the own one if there is none."""
        first = self.one + 1 + (0 if level is None else (level + 1) * self.digits)
        return range(first, first + self.digits)

    def vector(self, stage: int) -> range:
        """A vector after so many stages."""
        first = self.position(self.levels - 1).stop + stage * self.row_count
        return range(first, first + self.row_count)

    def factor(self, which: int) -> int:
        """A number that is near the inverse of a sum."""
        return self.vector(self.stages).stop + which

    @property
    def states(self) -> range:
        """1 for states that are possible after a letter, where states share rows."""
        first = self.factor(self.factors)
        return range(first, first + self.size * self.shares_rows)

    @property
    def answer(self) -> range:
        """The belief; or the rows that hold it, where no block parts them."""
        last, first = self.vector(self.stages), self.states.stop
        return range(first, first + self.size) if self.answers else last

    @property
    def width(self) -> int:
        """All of them."""
        return max(self.states.stop, self.answer.stop)


@dataclass(frozen=True)
class Stage:
    """Heads that say Σ_k in_k·out_k·max(points_k − v, 0), which is near 1/v.

    Attributes:
        points: ``(heads,)``.
        into: ``(heads,)``: values: powers of two, as large as they may be, so that no
            product is small.
        out: ``(heads,)``: what is left.
    """

    points: FloatArray
    into: FloatArray
    out: FloatArray


def network(
    model: HiddenMarkovModel, length: int, options: Options, within: float | None = None
) -> CompiledNetwork:
    """The network of a hidden Markov model for words of up to ``length`` letters.

    Args:
        model: The model.
        length: T.
        options: How to lower it.
        within: How far a belief may be off: sums are made to be so near to 1 as this
            needs. None for as near as a few roundings.

    Raises:
        CompileError: If the format is too coarse, beliefs may be too small for it, or the
            network is too large.
    """
    near = NEAR if within is None else log1p(within * SHARE_OF_SUMS) / log(2)
    design = _design_network(model, length, options.precision, near)
    return CompiledNetwork(NAME, _network(design, options.precision), {}, None)


def is_in_range(model: HiddenMarkovModel, length: int, precision: Precision) -> bool:
    """Whether there is a network for words of a length, as far as sizes say."""
    try:
        _design_network(model, length, precision)
    except CompileError:
        return False
    return True


def longest_length(model: HiddenMarkovModel, length: int, precision: Precision) -> int:
    """A length below one for which there is a network by `is_in_range`; 0 if none is found.

    It is the longest one if there are networks for all that are shorter.

    Args:
        model: The model.
        length: Above the lengths that are looked at.
        precision: The number format.
    """
    shorter = range(1, length)
    return bisect_left(
        shorter, True, key=lambda t: not is_in_range(model, t, precision)
    )


def _letters(model: HiddenMarkovModel, precision: Precision) -> FloatArray:
    """``(letters, n, n)``: operators whose largest sum of a column is near 1, below it."""
    most = model.operators.sum(axis=1).max(axis=1)
    exponents = np.ceil(np.log2(np.where(most > 0, most, 1.0)))
    return precision.round(model.operators / 2.0 ** exponents[:, None, None])


@dataclass(frozen=True)
class Plan:
    """What is normalised.

    Attributes:
        most: For each level the binary logarithm of the largest sum of a matrix.
        matrices: For some levels the stage after it.
        vectors: The stages at the end.
    """

    most: list[float]
    matrices: dict[int, Stage]
    vectors: list[Stage]


class _Design(NamedTuple):
    """All that a network is made of: `Layout`, operators, the start, and `Plan`."""

    layout: Layout
    letters: FloatArray
    start: FloatArray
    plan: Plan


def _design_network(
    model: HiddenMarkovModel, length: int, precision: Precision, near: float = NEAR
) -> _Design:
    """The design of a network that is small enough.

    Raises:
        CompileError: If the format is too coarse, beliefs may be too small for it, or the
            network is too large.
    """
    if precision.name not in LARGEST:
        raise CompileError(f"{NAME} needs float32 or float64")
    if length > LONGEST:  # before anything as long as a word is made
        raise Unsuited(
            f"{NAME} takes words of up to {LONGEST:,} letters; use a shorter length"
        )
    letters, start = _letters(model, precision), model.start / model.start.sum()
    plan = _plan_stages(model, letters, length, precision, near)
    factors = len(plan.matrices) + len(plan.vectors)
    layout = Layout.of(model, length, len(plan.vectors), factors)
    heads = layout.levels * (layout.row_count + 1) * model.size + len(plan.matrices)
    numbers = heads * layout.width * 2 * (2 * layout.digits + 2 + model.size)
    if numbers > MOST_NUMBERS:
        raise Unsuited(
            f"{NAME} needs a network of about {numbers:,} numbers for the {model.size} "
            f"states of {model.name} and {length} letters"
        )
    return _Design(layout, letters, start, plan)


def _plan_stages(
    model: HiddenMarkovModel,
    letters: FloatArray,
    length: int,
    precision: Precision,
    near: float = NEAR,
) -> Plan:
    """Matrices are normalised where the next products might be too small.

    Raises:
        CompileError: If they might be so even then.
    """
    start = model.start / model.start.sum()
    sizes, limit = Sizes.of(letters, start, length), LARGEST[precision.name] - 10
    levels, begun = max(1, (length - 1).bit_length()), float(sizes.said[0])
    plain, least, most = True, sizes.window(1)[0], 1 + log2(model.size)
    matrices, tops = dict[int, Stage](), [most]
    for level in range(levels - 1):
        ahead, share = sizes.window(2 ** (level + 1))
        least, most = (ahead, most) if plain else (2 * least, 2 * most)
        last = level == levels - 2
        after = 2 * least + (begun if last else 0.0)
        if min(after, sizes.said.min() if last and plain else after) - 3 < -limit:
            _fits(model, length, least - 3, limit)
            pieces = ceil((most + 4 - least) / NARROW)
            stage, over = _stage_of(least - 3, most + 1, pieces, precision)
            matrices[level], plain = stage, False
            least, most = share - 3, over
        tops.append(most)
    least, most = 2 * least + begun - 3, 2 * most + 1
    if plain:
        least, most = float(sizes.said.min()) - 3, 1.0
    _fits(model, length, least, limit)
    return Plan(tops, matrices, list(_stages(least, most, precision, near)))


def _fits(model: HiddenMarkovModel, length: int, least: float, limit: int) -> None:
    """Refuse numbers that are too small for a format."""
    if least < -limit:
        raise CompileError(
            f"beliefs of {model.name} after {length} letters need numbers of "
            f"2^{least:.0f}, and there are none below 2^-{limit}"
        )


def _stages(
    low: float, high: float, precision: Precision, near: float
) -> Iterator[Stage]:
    """Stages after which sums between 2^low and 2^high are near enough to 1."""
    knots = _fewest(low, high, near) if near > NEAR else KNOTS[precision.name]
    for at in range(MOST_STAGES):
        pieces = _pieces(low, high, knots[min(at, len(knots) - 1)])
        ratio = (high - low) / pieces
        stage, high = _stage_of(low, high, pieces, precision)
        yield stage
        low = AFTER
        if high + AFTER < near or ratio < 2.0 ** -(precision.digits / 2):
            return


def _fewest(low: float, high: float, near: float) -> tuple[int]:
    """The fewest pieces of each stage with which the fewest stages are enough."""
    for stages in range(1, MOST_STAGES + 1):
        for pieces in range(1, max(KNOTS["float32"]) + 1):
            least, most = low, high
            for _ in range(stages):
                each = _pieces(least, most, pieces)
                least, most = AFTER, _over((most - least) / each)
            if most < near:
                return (pieces,)
    return (max(KNOTS["float32"]),)


def _pieces(low: float, high: float, least: int) -> int:
    """Pieces between two powers of 2, none of which spans too many digits."""
    return max(least, ceil((high - low) / WIDEST))


def _stage_of(
    low: float, high: float, pieces: int, precision: Precision
) -> tuple[Stage, float]:
    """A stage for sums between powers of 2, and the largest power to which it leads.

    Between two points v/p + v/q − v²/(pq) is most in their middle.
    """
    ratio = (high - low) / pieces
    exponents = low + ratio * np.arange(1, pieces + 1)
    return _stage(2.0**low, np.exp2(exponents), precision), _over(ratio)


def _over(ratio: float) -> float:
    """The largest binary logarithm of v·c(v), by that of the quotient of two points."""
    return log2((1 + 2.0**ratio) ** 2 / (4 * 2.0**ratio)) - AFTER


def _stage(low: float, points: FloatArray, precision: Precision) -> Stage:
    """Lines between the points of 1/v, and from the last one down to 0.

    The line from p to q falls by 1/(pq), the last one by 1/p².
    """
    knots = precision.round(points)
    inverse = 1 / knots
    before = np.append(1 / low, inverse[:-1])
    after = np.append(inverse[1:], inverse[-1])
    parts = np.array(
        [
            np.append(inverse, inverse[-1]),
            np.append(before - after, inverse[-1]),
        ]
    )
    exponents = np.floor(np.log2(parts))
    whole = exponents.sum(axis=0)
    # A weight of up to the last point is multiplied with it.
    room = LARGEST[precision.name] - max(0, ceil(np.log2(knots[-1])))
    into = np.minimum(whole, room)
    out = (parts / 2.0**exponents).prod(axis=0) * 2.0 ** (whole - into)
    ends = np.append(knots, 2 * knots[-1])
    return Stage(ends, 2.0**into, precision.round(out))


def _network(design: _Design, precision: Precision) -> Network:
    """Architecture and tensors."""
    layout, letters, start, plan = design
    tensors, blocks = Tensors(), list[dict[str, object]]()
    every, which, factors = list[Heads](), 0, count()
    for level in range(layout.levels):
        shut = SHUT * _above(2 * max(1.0, 2.0 ** plan.most[level]))
        every.append(_doubling(layout, level, which, precision.round(start), shut))
        which = 1 - which
        if level in plan.matrices:
            places = layout.matrix(which), layout.matrix(1 - which)
            stage = plan.matrices[level]
            every += _normalising(layout, *places, next(factors), stage, True)
            which = 1 - which
    for at, stage in enumerate(plan.vectors):
        places = layout.vector(at), layout.vector(at + 1)
        every += _normalising(layout, *places, next(factors), stage, False)
    if layout.answers:
        every.append(_answering(layout))
    for at, heads in enumerate(every):
        pairs = zip(("query", "key", "value", "out"), heads, strict=True)
        tensors |= {f"blocks.{at}.attention.{name}": each for name, each in pairs}
        many, _, wide = heads[2].shape
        shape = {"heads": many, "d_qk": heads[0].shape[2], "d_v": wide}
        causal = {"causal": [True] * many, "attention": {"kind": "relu"}}
        blocks.append({**shape, "mlp": [], **causal})
    token, position = _embedding(layout, letters, precision.round(start))
    tensors |= {"embed.token": token, "embed.position": position}
    unembedding, reached = (
        np.zeros((layout.width, layout.size)),
        layout.reachable_states,
    )
    rows = reached if layout.answers else layout.rows[reached]
    unembedding[np.array(layout.answer)[rows], reached] = 1
    tensors |= {"unembed.weight": unembedding, "unembed.bias": np.zeros(layout.size)}
    return transformer_network(tensors, blocks, precision, True, {})


def _embedding(
    layout: Layout, letters: FloatArray, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Matrices of letters, that of BOS with the start in each column; and digits."""
    begun = np.tile(start[:, None], layout.size)[None]
    token = np.zeros((len(letters) + 1, layout.width))
    token[:, layout.states] = layout.possible[:, : len(layout.states)]
    for row, matrix, possible in zip(
        token, np.concatenate([letters, begun]), layout.possible, strict=True
    ):
        for state in np.flatnonzero(possible):
            row[layout.row(0, int(layout.rows[state]))] = matrix[state]
    t = np.arange(layout.length + 1)
    position = np.zeros((len(t), layout.width))
    position[:, layout.one] = 1
    for level in (None, *range(layout.levels)):
        at = np.maximum(t - (0 if level is None else 2**level), 0)
        digits = at[:, None] >> np.arange(layout.digits) & 1
        position[:, layout.position(level)] = digits
    return token, position


def _looking(
    layout: Layout, many: int, level: int | None, shut: float
) -> tuple[FloatArray, FloatArray]:
    """Queries and keys of heads that see one position: at others scores lose ``shut``.

    A wrong digit is told by two products, both of which are exactly 0 at the right one.
    """
    query = np.zeros((many, layout.width, 1 + 2 * layout.digits + layout.shares_rows))
    key = np.zeros_like(query)
    key[:, layout.one, 0] = 1
    for digit in range(layout.digits):
        zero, one = 1 + digit, 1 + layout.digits + digit
        wanted, own = layout.position(level)[digit], layout.position(None)[digit]
        query[:, layout.one, zero], query[:, wanted, zero] = -shut, shut
        query[:, wanted, one] = -shut
        key[:, own, zero] = 1
        key[:, layout.one, one], key[:, own, one] = 1, -1
    return query, key


def _above(number: float) -> float:
    """A power of two that is not less."""
    return float(2.0 ** ceil(log2(number)))


def _doubling(
    layout: Layout, level: int, which: int, start: FloatArray, shut: float
) -> Heads:
    """Heads that multiply the window by the one before; the last say a vector.

    Where states share rows, a head sees only letters after which its state is possible.
    Other heads subtract the window itself, so that the next result finds zeros there.
    """
    size, height, last = layout.size, layout.row_count, level == layout.levels - 1
    query, key = _looking(layout, height * size, level, shut)
    value = np.zeros((height * size, layout.width, 1 if last else size))
    out = np.zeros((height * size, value.shape[2], layout.width))
    for head, (row, state) in enumerate(np.ndindex(height, size)):
        query[head, layout.matrix(which)[head], 0] = 1
        if layout.shares_rows:
            query[head, layout.one, -1] = -shut
            key[head, layout.one, -1], key[head, layout.states[state], -1] = 1, -1
        taken = layout.row(which, int(layout.rows[state]))
        if last:
            value[head, taken, 0] = start
            out[head, 0, layout.vector(0)[row]] = 1
        else:
            value[head, taken] = np.eye(size)
            out[head][:, layout.row(1 - which, row)] = np.eye(size)
    if last:
        return query, key, value, out
    own = np.zeros((height, layout.width, size))
    for row in range(height):
        own[row, layout.row(which, row)] = np.eye(size)
    return _and_less((query, key, value, out), layout, own, shut)


def _answering(layout: Layout) -> Heads:
    """Heads by which each possible state takes what its row holds."""
    query, key = _looking(layout, layout.size, None, SHUT)
    value = np.zeros((layout.size, layout.width, 1))
    out = np.zeros((layout.size, 1, layout.width))
    for state, row in enumerate(layout.rows):
        query[state, layout.states[state], 0] = 1
        value[state, layout.vector(layout.stages)[row], 0] = 1
        out[state, 0, layout.answer[state]] = 1
    return query, key, value, out


def _and_less(heads: Heads, layout: Layout, own: FloatArray, shut: float) -> Heads:
    """The heads, and others that subtract what they read: then it is exactly 0."""
    query, key = _looking(layout, len(own), None, shut)
    query[:, layout.one, 0] = 1
    less = query, key, own, -own.transpose(0, 2, 1)
    first, second, third, last = map(np.concatenate, zip(heads, less, strict=True))
    return first, second, third, last


def _normalising(
    layout: Layout,
    source: range,
    result: range,
    factor: int,
    stage: Stage,
    less: bool,
) -> tuple[Heads, Heads]:
    """Heads that say what is near the inverse of a sum, and one that multiplies by it."""
    many, size = len(stage.points), len(source)
    shut = SHUT * _above(float(stage.points.max()) + 1)
    query, key = _looking(layout, many, None, shut)
    query[:, layout.one, 0] = stage.points
    query[:, source, 0] = -1
    value = np.zeros((many, layout.width, 1))
    out = np.zeros((many, 1, layout.width))
    value[:, layout.one, 0] = stage.into
    out[:, 0, layout.factor(factor)] = stage.out
    first = query, key, value, out
    most = float((stage.points * stage.into * stage.out).sum())
    shut = SHUT * _above(2 * most)
    query, key = _looking(layout, 1, None, shut)
    query[0, layout.factor(factor), 0] = 1
    value = np.zeros((1, layout.width, size))
    value[0, source] = np.eye(size)
    out = np.zeros((1, size, layout.width))
    out[0][:, result] = np.eye(size)
    heads = query, key, value, out
    return first, _and_less(heads, layout, value, shut) if less else heads
