"""How the heads of a block weigh positions, and which of them each head sees.

A header is read into these types once. Whoever runs, proves, exports or measures heads
matches them, and refuses by name what it is not about
(`krohn.program.errors.refuse_unknown`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from krohn.program.errors import demand, refuse_unknown
from krohn.program.stated import Part, Size


class Sight(StrEnum):
    """The positions that a head sees; from BOS every head sees BOS only."""

    CAUSAL = "causal"
    """None after its own."""
    WHOLE = "whole"
    """All of the word."""


def sees_ahead(sight: Sight, who: str) -> bool:
    """Whether a head sees positions after its own.

    Args:
        sight: What it sees.
        who: Who asks, as a message begins.

    Raises:
        Refused: If nobody has said so of what it sees.
    """
    match sight:
        case Sight.CAUSAL:
            return False
        case Sight.WHOLE:
            return True
        case other:
            return refuse_unknown(other, who)


class HeadKind(Part):
    """How heads weigh positions."""

    def sees(self, i: Any, j: Any) -> Any:
        """Whether positions i see positions j, BOS being 0, where no head sees ahead.

        Positions are whole numbers, arrays of them, or nodes of a graph, which have
        ``+ - * %``, ``< <= > >=`` and, of truth values, ``& |``, but no ``==``.
        """
        return j <= i


@dataclass(frozen=True)
class Softmax(HeadKind):
    """Weights are proportional to exp(score), over all positions that a head sees."""

    kind: Literal["softmax"] = "softmax"


@dataclass(frozen=True)
class Linear(HeadKind):
    """Weights are proportional to φ(k_j)·φ(q_i), φ(x) = elu(x) + 1 entry by entry.

    Katharopoulos et al. 2020: sums over the positions so far are all that is remembered.
    """

    kind: Literal["linear"] = "linear"


@dataclass(frozen=True)
class Sparse(HeadKind):
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

    block: Size
    windows: Size
    last: Size
    kind: Literal["sparse"] = "sparse"

    def __post_init__(self) -> None:
        demand(self.last <= self.block, "sparse attention with more than whole blocks")

    @property
    def window(self) -> int:
        """How many of the last positions are seen, the own one among them."""
        return self.block * self.windows

    def sees(self, i: Any, j: Any) -> Any:
        """The last positions, and the ends of all blocks."""
        last = (j - 1) % self.block >= self.block - self.last
        return (j <= i) & ((i - j < self.window) | last)


@dataclass(frozen=True)
class Rectified(HeadKind):
    """Weights are max(score, 0), over all positions that a head sees; no sum divides them.

    So a head adds up (Bai et al. 2023, whose attention is also divided by the length).
    """

    kind: Literal["relu"] = "relu"


Attention: TypeAlias = Softmax | Linear | Sparse | Rectified
BACKWARD = (Linear, Sparse)
"""Those whose heads are all causal."""


def visible(
    kind: Attention,
    sights: Sequence[Sight],
    i: Any,
    j: Any,
    flags: Callable[[Sequence[bool]], Any],
    who: str,
) -> Any:
    """Which positions j heads see from positions i: nobody else says so.

    Args:
        kind: How the heads weigh positions.
        sights: What each of them sees.
        i: ``(n, 1)``: positions that look, BOS being 0.
        j: ``(m,)``: positions that are looked at.
        flags: Makes ``(heads, 1, 1)`` truth values.
        who: Who asks, as a message begins.

    Returns:
        ``(n, m)`` truth values, or ``(heads, n, m)`` if some head sees the whole word.

    Raises:
        Refused: If nobody has said so of such heads.
    """
    ahead = [sees_ahead(sight, who) for sight in sights]
    if not isinstance(kind, HeadKind):
        return refuse_unknown(kind, who)
    seen = kind.sees(i, j)
    return seen | (flags(ahead) & (i > 0)) if any(ahead) else seen
