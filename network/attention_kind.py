"""How the heads of a block weigh positions, and how many operations that takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from krohn.network import ModelFileError

# How the heads of a block weigh positions: a softmax, a sparse one, linearly, by ReLUs.


@dataclass(frozen=True)
class Softmax:
    """Weights are proportional to exp(score), over all positions that a head sees."""


@dataclass(frozen=True)
class Linear:
    """Weights are proportional to φ(k_j)·φ(q_i), φ(x) = elu(x) + 1 entry by entry.

    Katharopoulos et al. 2020: sums over the positions so far are all that is remembered.
    """


@dataclass(frozen=True)
class Sparse:
    """A softmax over the last positions and some of the earlier ones.

    Position i sees those j ≤ i with i − windows·block < j or (j − 1) mod block ≥ block −
    last (Yang et al. 2024, equation 6, and causal): the last few of each block of letters.
    Position 0, BOS, is by this formula the last one of the block before the first
    letter, and so is always seen: `last` is 1 at least.

    Attributes:
        block: B, the positions of a block.
        windows: How many blocks back a position sees everything.
        last: How many positions at the end of each block are seen from everywhere.
    """

    block: int
    windows: int
    last: int

    @property
    def window(self) -> int:
        """How many of the last positions are seen, the own one among them."""
        return self.block * self.windows

    def sees(self, i: Any, j: Any) -> Any:
        """Whether positions i see positions j, arrays or tensors, BOS being 0."""
        last = (j - 1) % self.block >= self.block - self.last
        return (j <= i) & ((i - j < self.window) | last)


@dataclass(frozen=True)
class Rectified:
    """Weights are max(score, 0), over all positions that a head sees; no sum divides them.

    So a head adds up (Bai et al. 2023, whose attention is also divided by the length).
    """


AttentionKind = Softmax | Sparse | Linear | Rectified
_SIZES = ("block", "windows", "last")
_ALONE: dict[str, Softmax | Linear | Rectified] = {
    "softmax": Softmax(),
    "linear": Linear(),
    "relu": Rectified(),
}
_KEYS = {**{name: {"kind"} for name in _ALONE}, "sparse": {"kind", *_SIZES}}


def attention_kind(block: Mapping[str, Any]) -> AttentionKind:
    """How the heads of a block of an architecture weigh positions.

    Raises:
        ModelFileError: If it is no way that is known, or one that is not causal.
    """
    told = block.get("attention", {"kind": "softmax"})
    if not isinstance(told, dict) or told.keys() != _KEYS.get(str(told.get("kind"))):
        raise ModelFileError("is damaged: a block has an unknown kind of attention")
    if told["kind"] in ("softmax", "relu"):
        return _ALONE[told["kind"]]
    if not all(block.get("causal", [])):
        raise ModelFileError(
            "has heads that see the whole word in a block whose attention is "
            f"{told['kind']}, which only sees what came before"
        )
    if told["kind"] in _ALONE:
        return _ALONE[told["kind"]]
    sizes = [told[name] for name in _SIZES]
    if any(type(n) is not int or not 1 <= n <= 2**31 for n in sizes):
        raise ModelFileError("is damaged: sparse attention without sensible sizes")
    if told["last"] > told["block"]:
        raise ModelFileError("is damaged: sparse attention with more than whole blocks")
    return Sparse(*sizes)


def parts(shape: Mapping[str, Any], length: int) -> tuple[int, int]:
    """Operations of a compiled Transformer for a word: where positions meet; the rest.

    A position meets those that its kind of attention shows it: all, its window and the
    ends of blocks, or none but two running sums. Masked halves count, and a
    multiply-add twice.
    """
    d, positions = shape["d_model"], length + 1
    meeting = products = 0.0
    for block in shape["blocks"]:
        keys, values = block["d_qk"], block["d_v"]
        kind = attention_kind(block)
        seen = float(positions)
        if isinstance(kind, Sparse):
            seen = min(seen, kind.window + kind.last * positions / kind.block)
        each = (keys + values) * seen
        if isinstance(kind, Linear):
            each = 2.0 * keys * (values + 1)
        meeting += block["heads"] * each
        products += block["heads"] * (keys + values) * 2 * d
        widths = [d, *block["mlp"], d] if block["mlp"] else []
        products += sum(a * b for a, b in pairwise(widths))
    rest = 2 * (positions * products + length * d * shape["outputs"])
    return int(2 * positions * meeting), int(rest)
