"""The balanced generator of nested brackets (thesis, Theorem 1, Corollary 1, repaired)."""

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from krohn.algebra.brackets import BracketDistribution
from krohn.architectures.generator.build_maps import (
    Maps,
    angle_maps,
    angles,
    attended_maps,
    law_maps,
    one_hot_maps,
)
from krohn.compiler import CompileError
from krohn.compiler.transformer import Network
from krohn.network.precision import FloatArray, Precision

# The balanced generator of nested brackets (thesis, Theorem 1 and Corollary 1, repaired).
#
# A query that closes a bracket sees every matched pair cancel, whatever the scores are.
# So
# LayerNorm's output says which brackets are open, and the attention pattern is free.


NAME = "balanced"
PATTERNS = ("random", "symmetric", "uniform")
DEPTHS = ("given", "attended", "one-hot", "angle")

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
            (Corollary 1). ``one-hot`` and ``angle``: a table has the shorter codes (3.38)
            and (3.39), from which an MLP makes tokens.
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
    tensors, layers = _first_layer(law, sizes, free.depth, length)
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


def _first_layer(
    law: BracketDistribution, sizes: Sizes, depth: str, length: int
) -> tuple[dict[str, FloatArray], list[dict[str, Any]]]:
    """What the balanced layer reads: the tensors, and the layer before it, if any."""
    if depth == "given":
        return _letters(law, sizes), []
    if depth == "attended":
        return _depth_layer(law, length)
    depths = np.arange(sizes.depth + 1)
    if depth == "one-hot":
        return _codes(law, np.eye(len(depths)), one_hot_maps(law.brackets))
    circle = np.stack(
        [np.cos(angles(sizes.depth)), np.sin(angles(sizes.depth))], axis=1
    )
    return _codes(law, circle, angle_maps(law.brackets))


def _codes(
    law: BracketDistribution, depths: FloatArray, maps: Maps
) -> tuple[dict[str, FloatArray], list[dict[str, Any]]]:
    """The codes letter ⊕ depth, and a layer of an MLP alone: its head says 0.

    Args:
        law: The distribution.
        depths: ``(D + 1, n)``: the code of each depth.
        maps: The MLP.
    """
    d = law.letters + depths.shape[1]
    table = np.zeros((law.letters, len(depths), d))
    table[..., law.letters :] = depths
    table[..., : law.letters] = np.eye(law.letters)[:, None]
    tensors = {"embed.letter": table, "embed.start": np.zeros(d)}
    return _with_layer(tensors, np.zeros((d, d)), np.ones(1), maps)


def _with_layer(
    tensors: dict[str, FloatArray], value: FloatArray, constant: FloatArray, maps: Maps
) -> tuple[dict[str, FloatArray], list[dict[str, Any]]]:
    """Embeddings with a first layer, which attends uniformly."""
    at, d = "layers.0", len(value)
    layer = {
        "attention.query": np.zeros((d, 1)),
        "attention.key": np.zeros((d, 1)),
        "attention.value": value,
        "constant": constant,
        **maps.tensors(),
    }
    stated = {"d": d, "d_qk": 1, "mlp": maps.widths, "norm": "layer"}
    return tensors | {f"{at}.{name}": t for name, t in layer.items()}, [stated]


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
    tensors = {
        "embed.letter": np.eye(d)[:letters, None],
        "embed.start": np.eye(d)[letters],
    }
    constant = _below(np.sqrt(2) * start / (length + 1))
    return _with_layer(tensors, value, constant, attended_maps(brackets, start))


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
