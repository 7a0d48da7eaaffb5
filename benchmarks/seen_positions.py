"""The positions that heads see and look at, in the network as it runs."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from krohn.network.transformer import Attention, Transformer

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Seen:
    """The heads of one block on one text.

    Attributes:
        block: Its number.
        depends: ``(positions, positions)``: whether the heads' output at the first
            changes with the stream at the second.
        weights: ``(heads, positions, positions)``: how much each head takes.
    """

    block: int
    depends: BoolArray
    weights: FloatArray


def observe_heads(network: Transformer, tokens: Tensor) -> list[Seen]:
    """Every block with heads, on a text ``(time,)``; position 0 is BOS.

    Each position in turn is given another vector, as large as all others together, and
    the heads are run again. So a position that is hidden by a mask changes nothing,
    whatever the weights of the network are.
    """
    found = []
    with torch.no_grad():
        stream = network.snapshots(tokens[None])
        for b, (x, heads) in enumerate(
            zip(stream[::2], network.attention, strict=False)
        ):
            if isinstance(heads, Attention):
                weights = heads.weights(x)[0].double().numpy()
                found.append(Seen(b, _depends(heads, x), weights))
    return found


def _depends(heads: Attention, x: Tensor) -> BoolArray:
    count = x.shape[1]
    made = torch.Generator().manual_seed(0)
    other = torch.randn(x.shape[2], generator=made, dtype=torch.float64)
    other = (other * x.double().abs().sum(dim=(0, 1)).clamp(min=1)).to(x.dtype)
    changed = x.repeat(count, 1, 1)
    changed[torch.arange(count), torch.arange(count)] += other
    before, after = heads(x), heads(changed)
    # [j, i] of the batch: what is written at i when j is another one.
    apart = (after != before).any(dim=2) | ~after.isfinite().all(dim=2)
    return np.asarray(apart.T.numpy())


def equation_6(count: int, block: int, windows: int, last: int) -> BoolArray:
    """Which positions may be seen (Yang et al. 2024, equation 6, and causal).

    Written down again from the equation, for the runtime is held against it:
    i sees j if i − k·B < j ≤ i, and also if (j − 1) mod B ≥ B − c.
    """
    i, j = np.arange(count)[:, None], np.arange(count)
    near = i - windows * block < j
    ends = (j - 1) % block >= block - last
    return np.asarray((j <= i) & (near | ends))
