"""The MLPs of generators: steps that saturate, so that only exact 0 and 1 are combined.

A *step* is two hidden layers: ReLU(1 − ReLU(ramp)) is exactly 1 below the ramp and exactly
0 above it, in every format. Four affine maps then replace the six of the thesis, and its
gates (Lemmas 40 to 42, errata D5 to D7) are not needed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from krohn.algebra.brackets import BracketDistribution, Brackets, Stack
from krohn.network.precision import FloatArray

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


def attended_maps(found: Brackets, start: float) -> Maps:
    """The MLP g of the layer that adds up depths: from letter and depth to the token.

    Depth z is seen as √2·z/√(z² + start²), the difference of two coordinates.
    """
    letters = len(found.opens)
    z = np.arange(found.depth + 1)
    seen = np.sqrt(2) * z / np.sqrt(z**2 + start**2)
    slopes = 2.0 ** np.ceil(np.log2(STEEPNESS / np.diff(seen)))
    weight = np.zeros((letters + 5, letters + 1 + found.depth))
    weight[: letters + 1, : letters + 1] = 2 * np.eye(letters + 1)
    weight[letters + 1, letters + 1 :] = slopes
    weight[letters + 2, letters + 1 :] = -slopes
    bias = np.full(weight.shape[1], -0.5)
    # On a grid, so that the checker sees that the sums of steps are exact.
    bias[letters + 1 :] = (
        np.rint(GRID * (0.5 - slopes * (seen[1:] + seen[:-1]) / 2)) / GRID
    )
    return _token_maps(found, weight, bias)


def angles(depth: int) -> FloatArray:
    """``(D + 1,)``: θ_d = arctan(d/(D + 2 − d)) of the depths 0..D (3.39)."""
    d = np.arange(depth + 1)
    return np.arctan2(d, depth + 2 - d)


def angle_maps(found: Brackets) -> Maps:
    """The MLP of codes letter ⊕ (cos θ_d, sin θ_d): from them to the token, one-hot.

    Between two depths sin(θ − μ) changes its sign, μ the middle of their angles. The
    start is where no letter is.
    """
    letters, theta = len(found.opens), angles(found.depth)
    middle, gap = (theta[1:] + theta[:-1]) / 2, 2 * np.sin(np.diff(theta) / 2)
    slopes = 2.0 ** np.ceil(np.log2(STEEPNESS / gap))
    weight = np.zeros((letters + 2, letters + 1 + found.depth))
    weight[:letters, :letters], weight[:letters, letters] = 2 * np.eye(letters), -2
    weight[letters:, letters + 1 :] = slopes * [-np.sin(middle), np.cos(middle)]
    bias = np.repeat([-0.5, 1.5, 0.5], [letters, 1, found.depth])
    return _token_maps(found, weight, bias)


def one_hot_maps(found: Brackets) -> Maps:
    """The MLP of codes letter ⊕ depth, both one-hot: ReLU(letter + depth − 1).

    The start is where no letter is.
    """
    letters, tokens = len(found.opens), 2 * found.kinds * found.depth + 1
    weight, bias = np.zeros((letters + found.depth + 1, tokens)), np.full(tokens, -1.0)
    for a, depth, token in _tokens(found):
        weight[[a, letters + depth], token] = 1
    weight[:letters, -1], bias[-1] = -1, 1
    out = np.eye(tokens, 2 * tokens - 1)
    return Maps((weight, out), (bias, np.zeros(2 * tokens - 1)))


def _tokens(found: Brackets) -> Iterator[tuple[int, int, int]]:
    """Each letter with each depth that it leads to, and the number of that token."""
    for a, (opens, closes) in enumerate(zip(found.opens, found.closes, strict=True)):
        for level in range(1, found.depth + 1):
            if opens is not None:
                yield a, level, opens * found.depth + level - 1
            elif closes is not None:
                yield a, level - 1, (found.kinds + closes) * found.depth + level - 1


def _token_maps(found: Brackets, weight: FloatArray, bias: FloatArray) -> Maps:
    """The MLP that recognises a token, by its first map.

    Its steps are "this is not the letter", "this is not the start", and "the depth is
    below z" for z = 1..D. Depth z and a letter are ReLU(below z + 1 − below z − not the
    letter).
    """
    letters, depth = len(found.opens), found.depth
    tokens, width = 2 * found.kinds * depth + 1, len(bias)
    join, least = np.zeros((width, tokens)), np.zeros(tokens)
    for a, reached, token in _tokens(found):
        join[a, token] = -1
        if reached > 0:
            join[letters + reached, token] = -1
        if reached < depth:
            join[letters + 1 + reached, token] = 1
        else:
            least[token] = 1
    join[letters, -1], least[-1] = -1, 1
    second, ones = _complement(width)
    out = np.eye(tokens, 2 * tokens - 1)
    return Maps(
        (weight, second, join, out), (bias, ones, least, np.zeros(out.shape[1]))
    )
