"""The belief in log depth by heads whose weights are factors: for every model.

A head of ReLU attention multiplies a vector by its score, which is not divided by
anything. So n² heads multiply two matrices: head (i, k) has the score X_ik at one earlier
position, and takes row k of Y there. Products of numbers that are not negative are off by
a few roundings of themselves, and a 0 stays 0. So operators may have zeros, and nothing
need be forgotten: what is proved is Theorem W13 of docs/within.md.

Windows double as in `normalised_products`. Only vectors are normalised, at the end: heads
multiply a vector by max(a − v, 0), v the sum of its entries.

Departure from Hu et al. 2024, Theorem 5.3: their products are made by an MLP.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, log2

import numpy as np

from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.errors import CompileError, Unsuited
from krohn.compiler.pipeline import Options
from krohn.compiler.transformer import Network
from krohn.network.precision import FloatArray, Precision
from krohn.sources.hidden_markov import HiddenMarkovModel

NAME = "attention-products"
SUMMARY = "multiply the operators of windows that double, by heads whose weights are factors"
MOST_NUMBERS = 2**26
"""Of a network: 512 MiB in float64."""
SHUT = 4.0
"""What a score loses for each digit of a wrong position, in units of the largest."""
KNOTS, WIDEST = 16, 24
"""By how many pieces 1/v is approximated at once, at least; and how many binary digits one
of them spans at most."""
NEAR = 2.0**-20
"""When sums are near enough to 1."""
MOST_STAGES = 6
LARGEST = {"float32": 100, "float64": 990}
"""The binary logarithm of the largest weight of a value."""
Tensors = dict[str, FloatArray]


@dataclass(frozen=True)
class Layout:
    """The dimensions of the residual stream.

    Attributes:
        size: n.
        length: T.
        stages: How often vectors are normalised.
    """

    size: int
    length: int
    stages: int

    @property
    def levels(self) -> int:
        """How often windows double until they hold T letters; at least once."""
        return max(1, (self.length - 1).bit_length())

    @property
    def digits(self) -> int:
        """Binary digits of a position."""
        return self.length.bit_length()

    def matrix(self, level: int) -> int:
        """Where windows of 2^level letters begin: two places take turns."""
        return level % 2 * self.size**2

    @property
    def one(self) -> int:
        """The dimension that is 1 everywhere."""
        return 2 * self.size**2

    def position(self, level: int | None) -> range:
        """The digits of the position 2^level before, of the own one if there is none."""
        first = self.one + 1 + (0 if level is None else (level + 1) * self.digits)
        return range(first, first + self.digits)

    def vector(self, stage: int) -> range:
        """A vector after so many stages."""
        first = self.position(self.levels - 1).stop + stage * self.size
        return range(first, first + self.size)

    @property
    def width(self) -> int:
        """All of them."""
        return self.vector(self.stages).stop


@dataclass(frozen=True)
class Stage:
    """Heads that multiply vectors by Σ_k in_k·out_k·max(points_k − v, 0), near 1/v.

    Attributes:
        points: ``(heads,)``.
        into: ``(heads,)``: what values are multiplied by: powers of two, as large as they
            may be, so that no product is small.
        out: ``(heads,)``: what is left.
    """

    points: FloatArray
    into: FloatArray
    out: FloatArray


def network(
    model: HiddenMarkovModel, length: int, options: Options
) -> CompiledNetwork:
    """The network of a hidden Markov model for words of up to ``length`` letters.

    Raises:
        CompileError: If the format is too coarse, beliefs may be too small for it, or the
            network is too large.
    """
    precision = options.precision
    if precision.name not in LARGEST:
        raise CompileError(f"{NAME} needs float32 or float64")
    letters = _letters(model, precision)
    least = _least(letters, model.start, length)
    if least < -LARGEST[precision.name]:
        raise CompileError(
            f"a likelihood of {length} letters of {model.name} may be 2^{least}, and "
            f"{precision.name} has no such numbers to spare"
        )
    stages = list(_stages(least, precision))
    layout = Layout(model.size, length, len(stages))
    numbers = layout.levels * layout.width * model.size**2 * 4 * (layout.digits + 1)
    if numbers > MOST_NUMBERS:
        raise Unsuited(
            f"{NAME} needs a network of about {numbers:,} numbers for the {model.size} "
            f"states of {model.name} and {length} letters"
        )
    made = _network(layout, letters, model.start, stages, precision)
    return CompiledNetwork(NAME, made, {}, None)


def _letters(model: HiddenMarkovModel, precision: Precision) -> FloatArray:
    """``(letters, n, n)``: operators whose largest sum of a column is near 1, below it."""
    most = model.operators.sum(axis=1).max(axis=1)
    exponents = np.ceil(np.log2(np.where(most > 0, most, 1.0)))
    return precision.round(model.operators / 2.0 ** exponents[:, None, None])


def _least(letters: FloatArray, start: FloatArray, length: int) -> int:
    """The binary logarithm of a bound of all sums of entries of vectors, from below.

    Of the words of few letters the least entry is known that is not 0; others are put
    together of these.
    """
    known = [0]
    words, count = np.eye(letters.shape[1])[None], len(letters)
    while len(words) * count <= MOST_WORDS and len(known) <= min(length, LONGEST):
        words = (letters[:, None] @ words).reshape(-1, *letters.shape[1:])
        words = words[words.any(axis=(1, 2))]
        if not len(words):
            break
        known.append(floor(log2(words[words > 0].min())))
    least = list(known)
    for count in range(len(known), length + 1):
        parts = range(1, min(len(known), count))
        least.append(max((least[a] + least[count - a] for a in parts), default=0))
    return min(least) + 2 * floor(log2(start[start > 0].min())) - 2


MOST_WORDS, LONGEST = 2**11, 12
"""How many words are multiplied out, and their letters."""


def _stages(least: int, precision: Precision) -> Iterator[Stage]:
    """Stages after which sums that are between 2^least and 2 are near enough to 1."""
    low, high = float(least), 1.0
    for _ in range(MOST_STAGES):
        pieces = max(KNOTS, ceil((high - low) / WIDEST))
        ratio = (high - low) / pieces
        exponents = low + ratio * np.arange(1, pieces + 1)
        yield _stage(2.0**low, 2.0**exponents, precision)
        # Between two points v/p + v/q − v²/(pq) is most in their middle.
        over = float((1 + np.exp2(ratio)) ** 2 / (4 * np.exp2(ratio)))
        low, high = -2.0**-30, log2(over) + 2.0**-30
        if over - 1 < NEAR or ratio < 2.0 ** -(precision.digits / 2):
            return


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
    into = np.minimum(whole, LARGEST[precision.name])
    out = (parts / 2.0**exponents).prod(axis=0) * 2.0 ** (whole - into)
    ends = np.append(knots, 2 * knots[-1])
    return Stage(ends, 2.0**into, precision.round(out))


def _network(
    layout: Layout,
    letters: FloatArray,
    start: FloatArray,
    stages: list[Stage],
    precision: Precision,
) -> Network:
    """Architecture and tensors."""
    tensors, blocks = Tensors(), list[dict[str, object]]()
    levels = range(layout.levels)
    every = [
        *(_doubling(layout, level, precision.round(start)) for level in levels),
        *(_normalising(layout, at, stage) for at, stage in enumerate(stages)),
    ]
    for at, heads in enumerate(every):
        told = zip(("query", "key", "value", "out"), heads, strict=True)
        tensors |= {f"blocks.{at}.attention.{name}": each for name, each in told}
        count, _, wide = heads[2].shape
        shape = {"heads": count, "d_qk": heads[0].shape[2], "d_v": wide}
        causal = {"causal": [True] * count, "attention": {"kind": "relu"}}
        blocks.append({**shape, "mlp": [], **causal})
    token, position = _embedding(layout, letters, precision.round(start))
    tensors |= {"embed.token": token, "embed.position": position}
    said = np.zeros((layout.width, layout.size))
    said[layout.vector(layout.stages)] = np.eye(layout.size)
    tensors |= {"unembed.weight": said, "unembed.bias": np.zeros(layout.size)}
    architecture = {
        "kind": "transformer",
        "dtype": precision.name,
        "strict": True,
        "d_model": layout.width,
        "vocabulary": len(letters) + 1,
        "positions": layout.length + 1,
        "outputs": layout.size,
        "blocks": blocks,
    }
    return Network(architecture, tensors, {})


def _embedding(
    layout: Layout, letters: FloatArray, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Matrices of letters, that of BOS with the start in each column; and digits."""
    size = layout.size
    begun = np.tile(start[:, None], size)[None]
    token = np.zeros((len(letters) + 1, layout.width))
    token[:, : size**2] = np.concatenate([letters, begun]).reshape(-1, size**2)
    t = np.arange(layout.length + 1)
    position = np.zeros((len(t), layout.width))
    position[:, layout.one] = 1
    for level in (None, *range(layout.levels)):
        at = np.maximum(t - (0 if level is None else 2**level), 0)
        digits = at[:, None] >> np.arange(layout.digits) & 1
        position[:, layout.position(level)] = digits
    return token, position


def _looking(
    layout: Layout, count: int, level: int | None, shut: float
) -> tuple[FloatArray, FloatArray]:
    """Queries and keys of heads that see one position: at others scores lose ``shut``.

    A wrong digit is told by two products, both of which are exactly 0 at the right one.
    """
    query = np.zeros((count, layout.width, 1 + 2 * layout.digits))
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
    layout: Layout, level: int, start: FloatArray
) -> tuple[FloatArray, ...]:
    """Heads that multiply the window by the one before; the last say a vector.

    Other heads subtract the window itself, so that the next result finds zeros there.
    """
    size, last = layout.size, level == layout.levels - 1
    now, then = layout.matrix(level), layout.matrix(level + 1)
    rows, columns = divmod(np.arange(size**2), size)
    heads = np.arange(size**2)
    shut = SHUT * _above(2 * size)
    query, key = _looking(layout, size**2, level, shut)
    query[heads, now + heads, 0] = 1
    value = np.zeros((size**2, layout.width, 1 if last else size))
    out = np.zeros((size**2, value.shape[2], layout.width))
    for j in range(size):
        entry = now + size * columns + j
        if last:
            value[heads, entry, 0] = start[j]
        else:
            value[heads, entry, j] = out[heads, j, then + size * rows + j] = 1
    if last:
        out[heads, 0, layout.vector(0)[0] + rows] = 1
        return query, key, value, out
    own_query, own_key = _looking(layout, size, None, shut)
    own_query[:, layout.one, 0] = 1
    old = np.zeros((size, layout.width, size))
    for row, j in np.ndindex(size, size):
        old[row, now + size * row + j, j] = 1
    both = ((query, own_query), (key, own_key), (value, old))
    less = -old.transpose(0, 2, 1)
    return (*map(np.concatenate, both), np.concatenate([out, less]))


def _normalising(
    layout: Layout, stage: int, heads: Stage
) -> tuple[FloatArray, ...]:
    """Heads that multiply a vector by what is near the inverse of its sum."""
    count, size = len(heads.points), layout.size
    shut = SHUT * _above(float(heads.points.max()))
    query, key = _looking(layout, count, None, shut)
    query[:, layout.one, 0] = heads.points
    query[:, layout.vector(stage), 0] = -1
    value = np.zeros((count, layout.width, size))
    out = np.zeros((count, size, layout.width))
    for i in range(size):
        value[:, layout.vector(stage)[i], i] = heads.into
        out[:, i, layout.vector(stage + 1)[i]] = heads.out
    return query, key, value, out
