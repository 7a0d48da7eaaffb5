"""Two units that subtract a number from itself (docs/proofs/mlps.md)."""

from typing import TYPE_CHECKING

import numpy as np

from krohn.program.domains import distinct_values
from krohn.verify.checker.arithmetic import (
    ERASED,
    GELU,
    STEPS,
    Interval,
    bound_underflow,
    fits,
)
from krohn.verify.checker.model_file import FloatArray, StrArray
from krohn.verify.checker.residual_stream import Stream

if TYPE_CHECKING:
    from krohn.verify.checker.mlp import Mlp


def left(mlp: "Mlp", dim: int) -> float | None:
    """The factor that two such units leave of a dimension; None if there are none."""
    pair = eraser(mlp.layers, mlp.activations, mlp.mask, dim)
    return None if pair is None else compute_erasure_factor(mlp.stream, dim, *pair)


def eraser(
    layers: list[tuple[FloatArray, FloatArray]],
    activations: list[StrArray],
    mask: FloatArray,
    dim: int,
) -> tuple[str, float] | None:
    """Whether −f(Kx)/K + f(−Kx)/K is added to x, and nothing else: f and K, or None.

    Args:
        layers: The weights of an MLP.
        activations: The names of those of its units.
        mask: ``(d,)``: which dimensions keep what they hold.
        dim: The dimension that x is in.
    """
    if len(layers) != 2 or mask[dim] != 1:
        return None
    (below, inside), (above, after) = layers
    units = np.flatnonzero(above[:, dim])
    adds, reads = above[units, dim], np.zeros((len(mask), len(units)))
    reads[dim] = -1 / adds
    kinds = distinct_values(activations[0][units]).tolist()
    pair = len(adds) == 2 and adds.sum() == 0 and len(kinds) == 1
    binary = pair and bool((np.abs(np.frexp(adds)[0]) == 0.5).all())
    alike = binary and np.array_equal(below[:, units], reads)
    if not alike or inside[units].any() or after[dim]:
        return None
    return kinds[0], float(reads[dim].max())


def compute_erasure_factor(
    stream: Stream, dim: int, kind: str, gain: float
) -> float | None:
    """The factor that such units leave of x; None if it takes another look (Lemma 16a).

    ReLUs leave nothing, whatever x is, but for what is below the normal range.

    Args:
        stream: What is known before them.
        dim: The dimension that x is in.
        kind: f.
        gain: K.
    """
    form, reader, owner = stream.form, stream.reader, int(stream.owner[dim])
    names = list(stream.noise)
    if kind == "relu" and gain == 1 and reader is None:
        noise = stream.noise[names[owner]] if owner >= 0 else stream.free[[dim]]
        return ERASED if noise.any() else 0.0
    known = kind in ("gelu", "gelu_new") or reader is not None
    if not known or form.unit > form.sum_unit or owner < 0:
        return None
    channel = stream.channel(name := names[owner])
    most = Interval.of(stream.reach(name)[dim - channel.span.start])
    fits(max(gain, 1.0) * most, form, "a number", STEPS)
    off = (2 * GELU + 4) * form.sum_unit * most
    off += bound_underflow(6 * max(1.0, 1 / gain))
    if reader is not None:
        code, noise = channel.code(channel.domain), stream.noise[name][:, None]
        apart = reader.apart(code, np.broadcast_to(noise, code.shape))
        off += (
            float(apart.max())
            + 2 * reader.bound_term_error(most)
            + stream.bound_common_shift(name)
        )
    return off.most
