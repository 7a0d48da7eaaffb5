"""The balanced generator of nested brackets (thesis, Theorem 1, Corollary 1, repaired)."""

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from krohn.algebra.brackets import BracketDistribution, Brackets, Stack
from krohn.compiler import CompileError
from krohn.compiler.transformer import Network
from krohn.network.precision import FloatArray, Precision

# The MLPs of a generator: steps that saturate, so that only exact 0 and 1 are combined.
#
# A *step* is two hidden layers: ReLU(1 − ReLU(ramp)) is exactly 1 below the ramp and
# exactly
# 0 above it, in every format. Four affine maps then replace the six of the thesis, and
# its
# gates (Lemmas 40 to 42, errata D5 to D7) are not needed.


# Ramps end at 9/16 of a gap and begin at 7/16: noise of 7/16 of it does no harm.
STEEPNESS = 8.0
GRID = 64.0


@dataclass(frozen=True)
class Maps:
    """Affine maps with ReLUs between them.

    Attributes:
        weights: ``(inputs, outputs)`` each.
        biases: ``(outputs,)`` each.
    """

    weights: tuple[FloatArray, ...]
    biases: tuple[FloatArray, ...]

    @property
    def widths(self) -> list[int]:
        """The hidden widths."""
        return [len(bias) for bias in self.biases[:-1]]

    def tensors(self) -> dict[str, FloatArray]:
        """By the names of a model file."""
        return {
            f"mlp.{j}.{part}": tensor
            for part, tensors in (("weight", self.weights), ("bias", self.biases))
            for j, tensor in enumerate(tensors)
        }


def _complement(width: int) -> tuple[FloatArray, FloatArray]:
    """1 − x, the second half of a step."""
    return -np.eye(width), np.ones(width)


def law_maps(law: BracketDistribution, tokens: int, share: float) -> Maps:
    """The MLP g of the balanced layer: from token and top bracket to the law.

    Args:
        law: The distribution.
        tokens: How many coordinates say the token; two for each pair follow.
        share: The least that an open bracket adds to the difference of its coordinates.

    Units, each a step: a token that opens a bracket; the stack is empty; the token
    closes and leaves depth l; the bracket of this kind and level l is open. The third
    layer keeps the first two and joins the last two. A gate of at least 64/share closes on
    brackets of other levels, whatever LayerNorm says of them.
    """
    brackets, depth = law.brackets, law.brackets.depth
    pairs = brackets.kinds * depth
    slope = 2.0 ** np.ceil(np.log2(STEEPNESS / share))
    inner = [
        (kind, level) for kind in range(brackets.kinds) for level in range(1, depth)
    ]
    width = pairs + 1 + (depth - 1) + len(inner)
    weight, bias = np.zeros((tokens + 2 * pairs, width)), np.full(width, -0.5)
    weight[:pairs, :pairs] = 2 * np.eye(pairs)
    weight[[*range(pairs, 2 * pairs, depth), tokens - 1], pairs] = 2
    for level in range(1, depth):
        weight[pairs + level : 2 * pairs : depth, pairs + level] = 2
    join = np.zeros((width, pairs + 1 + len(inner)))
    join[: pairs + 1, : pairs + 1] = -np.eye(pairs + 1)
    for j, (kind, level) in enumerate(inner):
        pair, unit = kind * depth + level - 1, pairs + depth + j
        weight[tokens + pair, unit] = slope
        weight[tokens + pairs + pair, unit] = -slope
        bias[unit] = (1 - STEEPNESS) / 2
        join[[unit, pairs + level], pairs + 1 + j] = -1, -STEEPNESS * slope
    opened = [divmod(pair, depth) for pair in range(pairs)]
    stacks: list[Stack] = [(0,) * level + (kind,) for kind, level in opened]
    stacks += [(), *((0,) * (level - 1) + (kind,) for kind, level in inner)]
    laws = np.array([law.law(stack) for stack in stacks], dtype=np.float64)
    second, ones = _complement(width)
    return Maps(
        (weight, second, join, laws),
        (bias, ones, np.ones(join.shape[1]), np.zeros(law.letters)),
    )


def depth_maps(found: Brackets, start: float) -> Maps:
    """The MLP g of the depth layer: from letter and depth to the token, one-hot.

    Depth z is seen as √2·z/√(z² + start²), the difference of two coordinates. Steps:
    "this is not the letter"; "the depth is below z" for z = 1..D. Depth z and a letter
    are ReLU(below z + 1 − below z − not the letter).
    """
    letters, depth = len(found.opens), found.depth
    pairs = found.kinds * depth
    z = np.arange(depth + 1)
    seen = np.sqrt(2) * z / np.sqrt(z**2 + start**2)
    slopes = 2.0 ** np.ceil(np.log2(STEEPNESS / np.diff(seen)))
    width = letters + 1 + depth
    weight, bias = np.zeros((letters + 5, width)), np.full(width, -0.5)
    weight[: letters + 1, : letters + 1] = 2 * np.eye(letters + 1)
    weight[letters + 1, letters + 1 :], weight[letters + 2, letters + 1 :] = (
        slopes,
        -slopes,
    )
    # On a grid, so that the checker sees that the sums of steps are exact.
    bias[letters + 1 :] = (
        np.rint(GRID * (0.5 - slopes * (seen[1:] + seen[:-1]) / 2)) / GRID
    )
    join, tokens = np.zeros((width, 2 * pairs + 1)), 2 * pairs + 1
    least = np.zeros(tokens)
    for a in range(letters):
        kind = found.opens[a] if found.opens[a] is not None else found.closes[a]
        for level in range(1, depth + 1):
            opens = found.opens[a] is not None
            token = (kind or 0) * depth + level - 1 + (0 if opens else pairs)
            reached = level if opens else level - 1
            join[a, token] = -1
            if reached > 0:
                join[letters + reached, token] = -1
            if reached < depth:
                join[letters + 1 + reached, token] = 1
            else:
                least[token] = 1
    join[letters, -1], least[-1] = -1, 1
    second, ones = _complement(width)
    return Maps(
        (weight, second, join, np.eye(tokens, tokens + 2 * pairs)),
        (bias, ones, least, np.zeros(tokens + 2 * pairs)),
    )


# The balanced generator of nested brackets (thesis, Theorem 1 and Corollary 1, repaired).
#
# A query that closes a bracket sees every matched pair cancel, whatever the scores are.
# So
# LayerNorm's output says which brackets are open, and the attention pattern is free.


NAME = "balanced"
PATTERNS = ("random", "symmetric", "uniform")
DEPTHS = ("given", "attended")

STEP = 1 / 16  # sums of two scores are exact in all formats, bfloat16 included
MOST_SCORE = 8 - STEP
MOST_TOKENS = 2_000


@dataclass(frozen=True)
class Freedom:
    """The choices that the construction leaves open.

    Attributes:
        pattern: ``random`` (all scores and the offsets a between a bracket that opens
            and its partner), ``symmetric`` (random scores, a = 0) or ``uniform``.
        depth: ``given``: the first layer is a table of letter and depth (the minimal
            first layer of Assumption 10). ``attended``: a uniform layer finds the depth
            (Corollary 1).
        seed: The seed of the scores.
        scale: Their standard deviation.

    Raises:
        CompileError: If one of them is out of range.
    """

    pattern: str = "random"
    depth: str = "given"
    seed: int = 0
    scale: float = 0.25

    def __post_init__(self) -> None:
        for option, value, known in (
            ("attention", self.pattern, PATTERNS),
            ("depth-layer", self.depth, DEPTHS),
        ):
            if value not in known:
                raise CompileError(
                    f"--{option} takes {', '.join(known)}, not {value!r}"
                )
        if not 0 <= self.scale < inf:
            raise CompileError(
                f"--scale takes a number of at least 0, not {self.scale}"
            )
        if self.seed < 0:
            raise CompileError(f"--seed takes a number of at least 0, not {self.seed}")


@dataclass(frozen=True)
class Scores:
    """The free parameters of Theorem 1 on the tokens of `Sizes`.

    Attributes:
        table: ``(tokens, tokens)``: the score of a key (row) for a query (column).
        offsets: ``(pairs,)``: a, how much more an opening bracket scores than its partner.
    """

    table: FloatArray
    offsets: FloatArray


@dataclass(frozen=True)
class Sizes:
    """How letters with their depths are numbered.

    Pair i = kind·D + level − 1 is the bracket of a kind that is opened at a level, 1..D.
    Token i opens it, token pairs + i closes it (and leads to depth level − 1), and the
    last token is the start. The index that the thesis prints, (3.37), gives two of them
    the same number (erratum D2).

    Attributes:
        kinds: k.
        depth: D.
    """

    kinds: int
    depth: int

    @property
    def pairs(self) -> int:
        """Kinds times levels."""
        return self.kinds * self.depth

    @property
    def tokens(self) -> int:
        """Twice the pairs, and the start."""
        return 2 * self.pairs + 1

    @property
    def width(self) -> int:
        """A dimension for each token, and two fresh ones for each pair (erratum D4)."""
        return self.tokens + 2 * self.pairs

    def opening(self, level: int) -> slice:
        """The tokens that open a bracket of any kind at a level."""
        return slice(level - 1, self.pairs, self.depth)

    def closing(self, level: int) -> slice:
        """The tokens that close a bracket of any kind of a level."""
        return slice(self.pairs + level - 1, 2 * self.pairs, self.depth)


def generator(
    law: BracketDistribution, length: int, free: Freedom, precision: Precision
) -> Network:
    """The network whose output is the law of the next letter, for prefixes up to T.

    Args:
        law: The distribution.
        length: T; the constants of the LayerNorms depend on it.
        free: What is chosen freely.
        precision: The number format.

    Raises:
        CompileError: If there are too many letters with their depths.
    """
    sizes = Sizes(law.brackets.kinds, law.brackets.depth)
    if sizes.tokens > MOST_TOKENS:
        raise CompileError(
            f"the generator would need {sizes.tokens} tokens; take kinds times depth up to "
            f"{(MOST_TOKENS - 1) // 2}"
        )
    scores = draw(sizes, free)
    tensors, layers = (
        (_letters(law, sizes), list[dict[str, Any]]())
        if free.depth == "given"
        else _depth_layer(law, length)
    )
    layer, last = _balanced_layer(law, sizes, scores, length)
    tensors |= {f"layers.{len(layers)}.{name}": tensor for name, tensor in last.items()}
    architecture = {
        "kind": "generator",
        "dtype": precision.name,
        "vocabulary": law.letters,
        "outputs": law.letters,
        "moves": [-1 if kind is None else 1 for kind in law.brackets.opens],
        "depths": tensors["embed.letter"].shape[1],
        "layers": [*layers, layer],
    }
    return Network(architecture, tensors, {})


def draw(sizes: Sizes, free: Freedom) -> Scores:
    """Scores that keep the balance for every query that closes at depth 1 or more.

    Normally distributed, in steps of 1/16, less than 8 in size: so they and the sums
    with the offsets are exact in every format.
    """
    n, pairs = sizes.tokens, sizes.pairs
    if free.pattern == "uniform":
        return Scores(np.zeros((n, n)), np.zeros(pairs))
    rng = np.random.default_rng(free.seed)
    table = _round_to_step(free.scale * rng.standard_normal((n, n)))
    offsets = _round_to_step(free.scale * rng.standard_normal(pairs))
    if free.pattern == "symmetric":
        offsets = np.zeros(pairs)
    for level in range(2, sizes.depth + 1):
        after = sizes.closing(level)
        table[:pairs, after] = table[pairs : 2 * pairs, after] + offsets[:, None]
    return Scores(table, offsets)


def _round_to_step(numbers: FloatArray) -> FloatArray:
    return np.clip(np.rint(numbers / STEP) * STEP, -MOST_SCORE, MOST_SCORE)


def _letters(law: BracketDistribution, sizes: Sizes) -> dict[str, FloatArray]:
    """The minimal first layer: one-hot in letter and depth; illegal pairs are 0."""
    table = np.zeros((law.letters, sizes.depth + 1, sizes.width))
    for a, (opens, closes) in enumerate(
        zip(law.brackets.opens, law.brackets.closes, strict=True)
    ):
        for level in range(1, sizes.depth + 1):
            if opens is not None:
                table[a, level, opens * sizes.depth + level - 1] = 1
            elif closes is not None:
                i = closes * sizes.depth + level - 1
                table[a, level - 1, sizes.pairs + i] = 1
    return {"embed.letter": table, "embed.start": np.eye(sizes.width)[sizes.tokens - 1]}


def _depth_layer(
    law: BracketDistribution, length: int
) -> tuple[dict[str, FloatArray], list[dict[str, Any]]]:
    """Uniform attention adds up depth and start (Corollary 1); both have mean 0.

    The start weighs about D: then depth and start are comparable, and neighbouring depths
    differ by about 1/D after LayerNorm. With weight 1, as printed, it is 1/D² (D9).
    """
    brackets, letters = law.brackets, law.letters
    start = 2.0 ** np.ceil(np.log2(brackets.depth))
    d = letters + 5
    value = np.zeros((d, d))
    signs = [-1 if kind is None else 1 for kind in brackets.opens]
    value[:letters, letters + 1] = signs
    value[letters, letters + 3] = start
    value[:, [letters + 2, letters + 4]] = -value[:, [letters + 1, letters + 3]]
    maps = depth_maps(brackets, start)
    tensors = {
        "embed.letter": np.eye(d)[:letters, None],
        "embed.start": np.eye(d)[letters],
        "layers.0.attention.query": np.zeros((d, 1)),
        "layers.0.attention.key": np.zeros((d, 1)),
        "layers.0.attention.value": value,
        "layers.0.constant": _below(np.sqrt(2) * start / (length + 1)),
        **{f"layers.0.{name}": tensor for name, tensor in maps.tensors().items()},
    }
    return tensors, [{"d": d, "d_qk": 1, "mlp": maps.widths, "norm": "layer"}]


def _below(signal: float) -> FloatArray:
    """C: a power of two at least twice and at most four times below the signal.

    Rounding noise is divided by C where everything cancels, and a signal below C would
    not be normalised (erratum D8).
    """
    return np.array([2.0 ** np.floor(np.log2(signal / 2))])


def _balanced_layer(
    law: BracketDistribution, sizes: Sizes, scores: Scores, length: int
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """The layer in which matched brackets cancel."""
    n, pairs, d = sizes.tokens, sizes.pairs, sizes.width
    value = np.zeros((d, d))
    i = np.arange(pairs)
    for plus, sign in ((n + i, 1.0), (n + pairs + i, -1.0)):
        value[i, plus] = sign
        value[pairs + i, plus] = -sign * np.exp(scores.offsets)
    query, key = _factors(scores.table, d)
    share, signal = _bounds(sizes, scores.table, length)
    maps = law_maps(law, sizes.tokens, share)
    tensors = {
        "attention.query": query,
        "attention.key": key,
        "attention.value": value,
        "constant": _below(signal),
        **maps.tensors(),
    }
    layer = {"d": d, "d_qk": key.shape[1], "mlp": maps.widths, "norm": "layer"}
    return layer, tensors


def _factors(table: FloatArray, d: int) -> tuple[FloatArray, FloatArray]:
    """Queries and keys with these scores: a key is its token, each score one product."""
    n = len(table) if table.any() else 1
    query, key = np.zeros((d, n)), np.zeros((d, n))
    if table.any():
        query[:n] = table.T
        key[:n] = np.eye(n)
    return query, key


def _bounds(sizes: Sizes, table: FloatArray, length: int) -> tuple[float, float]:
    """The least share of the top bracket after LayerNorm, and the least norm before.

    Both over all stacks: for a given query and top bracket the other levels contribute
    between their least and their greatest weight, whatever the stack is.
    """
    share, signal = np.sqrt(2.0), np.inf
    weights = np.exp(table)
    for depth in range(1, sizes.depth):
        below = [sizes.opening(level) for level in range(1, depth)]
        for query in range(*sizes.closing(depth + 1).indices(2 * sizes.pairs)):
            w = weights[:, query]
            top = w[sizes.opening(depth)]
            least = top**2 + sum(w[level].min() ** 2 for level in below)
            most = top**2 + sum(w[level].max() ** 2 for level in below)
            share = min(share, float((np.sqrt(2) * top / np.sqrt(most)).min()))
            matched = (w[: sizes.pairs] + w[sizes.pairs : 2 * sizes.pairs]).max() / 2
            open_ = sum(w[level].max() for level in below) + top
            total = w[-1] + open_ + max(length - depth, 0) * matched
            signal = min(signal, float((np.sqrt(2 * least) / total).min()))
    return share, signal if signal < np.inf else 1.0
