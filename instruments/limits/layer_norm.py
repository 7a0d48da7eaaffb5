"""Heads behind a LayerNorm: their inputs are bounded, so their scores are.

docs/proofs/limits.md, Theorem 1a.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from torch import Tensor, nn

from krohn.instruments.limits.dilution import (
    holds_among,
    kept_apart,
    rank_of,
)
from krohn.instruments.limits.head_limits import (
    HALF,
    MOST,
    HeadBounds,
)
from krohn.network.precision import FloatArray


@dataclass(frozen=True)
class Affine:
    """Queries or keys as functions of u, the input without mean and with variance ≤ 1.

    Attributes:
        matrix: ``(d, k)``.
        constant: ``(k,)``.
    """

    matrix: FloatArray
    constant: FloatArray

    @property
    def longest(self) -> float:
        """No vector is longer: |u| is at most √d."""
        stretched = float(np.sqrt(len(self.matrix))) * float(
            np.linalg.norm(self.matrix, 2)
        )
        return stretched + float(np.linalg.norm(self.constant))


def spread(query: Affine, key: Affine) -> float:
    """How far two scores of one query can differ at most (Theorem 1a)."""
    width = len(query.matrix)
    form = float(np.linalg.norm(query.matrix @ key.matrix.T, 2))
    rest = float(np.linalg.norm(key.matrix @ query.constant))
    return 2.0 * (width * form + float(np.sqrt(width)) * rest)


def module_bounds(model: object, length: int) -> tuple[HeadBounds, ...]:
    """The heads of a torch module that read a LayerNorm; nothing where there are none.

    Known are layers ``nn.TransformerEncoderLayer`` with ``norm_first``.

    Args:
        model: Any network.
        length: The longest word that is asked about.
    """
    if not isinstance(model, nn.Module):
        return ()
    layers = [m for m in model.modules() if isinstance(m, nn.TransformerEncoderLayer)]
    readers = [m for m in layers if m.norm_first and isinstance(m.norm1, nn.LayerNorm)]
    return tuple(
        _bounds(i, h, query, key, length)
        for i, layer in enumerate(readers)
        for h, (query, key) in enumerate(_heads(layer))
    )


def _heads(layer: nn.TransformerEncoderLayer) -> Iterator[tuple[Affine, Affine]]:
    """Queries, already divided by √k, and keys of each head."""
    attention, norm = layer.self_attn, layer.norm1
    width, size = attention.embed_dim, attention.head_dim
    weight = _array(attention.in_proj_weight, (3 * width, width))
    shift = _array(attention.in_proj_bias, (3 * width,))
    bias, gain = _array(norm.bias, (width,)), np.ones(width)
    if norm.weight is not None:
        gain = _array(norm.weight, (width,))
    for first in range(0, width, size):
        parts = []
        for start in (first, width + first):
            rows = weight[start : start + size]
            parts.append((gain[:, None] * rows.T, rows @ bias + shift[start:][:size]))
        (asks, asked), (answers, answered) = parts
        scale = 1.0 / np.sqrt(size)
        yield Affine(asks * scale, asked * scale), Affine(answers, answered)


def _bounds(
    layer: int, head: int, query: Affine, key: Affine, length: int
) -> HeadBounds:
    score_spread = spread(query, key)
    rank = rank_of(query.matrix, key.matrix) + 1
    return HeadBounds(
        block=layer,
        head=head,
        spread=score_spread,
        among=holds_among(score_spread, HALF),
        first=None,
        earlier=None,
        length=length,
        apart=kept_apart(query.longest, key.longest, rank, MOST),
        product=None,
        lost=None,
    )


def _array(parameter: Tensor | None, shape: tuple[int, ...]) -> FloatArray:
    """A parameter in float64; zeros where a layer has none of the kind (a bias)."""
    if parameter is None:
        return np.zeros(shape)
    return parameter.detach().double().cpu().numpy()
