"""How far a proof is from failing, sublayer by sublayer, read from what it established."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HALF_STEP = 0.5
"""Values are whole numbers or one-hot: noise of this size would make one another."""
MOST_LEAK = 1 / 8
"""The checker refuses heads of which more weight may lie elsewhere."""


@dataclass(frozen=True)
class Head:
    """What was shown of one channel that a head reads.

    Attributes:
        sublayer: Where.
        channel: What.
        gap: The least lead of the right score; 0 for heads that add up.
        score_error: How far a score can be off.
        leak: How much weight can lie elsewhere.
        noise: How far what it reads can be off.
    """

    sublayer: str
    channel: str
    gap: float
    score_error: float
    leak: float
    noise: float

    @property
    def share(self) -> float:
        """How much is used of what may be used: 1 would be refused."""
        scores = 2 * self.score_error / self.gap if self.gap > 0 else 0.0
        return max(scores, self.leak / MOST_LEAK)


@dataclass(frozen=True)
class Sublayer:
    """What was shown of one sublayer.

    Attributes:
        title: Its name.
        heads: Of an attention layer.
        noise: The most by which anything that it writes can be off.
    """

    title: str
    heads: tuple[Head, ...]
    noise: float

    @property
    def lead(self) -> float | None:
        """The share that the worst head uses; None if none has to tell positions apart."""
        return max((h.share for h in self.heads if h.gap or h.leak), default=None)

    @property
    def share(self) -> float:
        """How much of half a step the noise is."""
        return self.noise / HALF_STEP


def sublayers(evidence: Sequence[Mapping[str, Any]]) -> list[Sublayer]:
    """The sublayers that write channels, in order."""
    return [
        Sublayer(
            str(step["sublayer"]),
            tuple(_heads(step)),
            max(float(c["noise"]) for c in step["channels"]),
        )
        for step in evidence
        if step.get("channels")
    ]


def _heads(step: Mapping[str, Any]) -> Iterator[Head]:
    for c in step["channels"]:
        if "gap" in c:
            numbers = (float(c[k]) for k in ("gap", "score_error", "leak", "noise"))
            yield Head(str(step["sublayer"]), str(c["channel"]), *numbers)


def worst_head(found: Sequence[Sublayer]) -> Head | None:
    """The head that uses most of what it may; of equal ones that with the most noise."""
    heads = [head for sublayer in found for head in sublayer.heads]
    return max(heads, key=lambda h: (h.share, h.noise), default=None)


def noises(evidence: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """By how much each channel can be off, by name."""
    return {
        str(c["channel"]): float(c["noise"])
        for step in evidence
        for c in step.get("channels", ())
    }


def margin(evidence: Sequence[Mapping[str, Any]]) -> float | None:
    """By how much the right logit is above all others at least."""
    found = [float(step["margin"]) for step in evidence if "margin" in step]
    return min(found, default=None)
