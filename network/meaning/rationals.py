"""The engine of fractions: exact numbers, and heads that choose.

The *ideal* network rounds nothing, and where a network has a softmax it takes the value
at one of the largest scores, as a softmax does at temperature 0. It is another network.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from krohn.network.meaning.arrays import Arrays
from krohn.network.meaning.attention import View
from krohn.network.meaning.net import Heads, Net
from krohn.program.errors import Refused, demand

Rationals = npt.NDArray[np.object_]
"""Fractions, in an array."""

ZERO: Any = Fraction(0)
_fraction = np.frompyfunc(Fraction, 1, 1)


def fractions(values: Any) -> Rationals:
    """Every float as the rational number that it is.

    Raises:
        Refused: If one is infinite or not a number.
    """
    demand(np.isfinite(values), "the file has entries that are not finite")
    return np.asarray(_fraction(values), dtype=object)


def exact(net: Net[Any], length: int) -> Net[Rationals]:
    """A network for words of up to a length, with the fractions that its floats are.

    Raises:
        Refused: If a number that such words meet is not finite.
    """
    return replace(net, position=net.position[: length + 1]).each(fractions)


class Looking(NamedTuple):
    """A head where it looks.

    Attributes:
        at: The place of the pattern of the heads, which tells them from others.
        head: Which of them.
        point: From which point; the first of all, remembered ones too, has number 0.
    """

    at: str
    head: int
    point: int


Scores = Mapping[int, Any]
"""The scores of the points that a head sees, by the numbers of these."""
Choose = Callable[[Looking, Scores], int]
"""The point that a head takes, which must be one of the largest scores."""


def first(looking: Looking, scores: Scores) -> int:
    """The first point with a largest score."""
    del looking
    return max(scores, key=lambda j: scores[j])


class IdealRationals(Arrays):
    """Arrays of fractions, and heads that choose instead of a softmax.

    Args:
        choose: Which of the largest scores a head takes.
    """

    who = "the ideal network of fractions"
    units: ClassVar[Sequence[str]] = ("relu",)

    def __init__(self, choose: Choose = first) -> None:
        self.choose, self.now = choose, ""

    def weights(self, looking: Looking, scores: Scores) -> Mapping[int, Any]:
        """The weights of the points that a head may take; those of others are 0.

        Raises:
            Refused: If a point is chosen whose score is exceeded.
        """
        taken = self.choose(looking, scores)
        best = scores[taken] == max(scores.values())
        demand(best, f"{looking} takes no largest score")
        return {taken: Fraction(1)}

    def attend(
        self, heads: Heads[Any], query: Any, key: Any, value: Any, view: View
    ) -> Any:
        """By the definition, with a note where it is."""
        self.now = view.places.pattern
        return super().attend(heads, query, key, value, view)

    def softmax(self, scores: Any, seen: Any) -> Any:
        """Hard attention: all weight is on one of the largest scores that are seen."""
        weights = np.full(scores.shape, ZERO, dtype=object)
        seen = np.broadcast_to(seen, scores.shape)
        before = scores.shape[3] - scores.shape[2]
        for b, h, i in np.ndindex(*scores.shape[:3]):
            row = scores[b, h, i]
            shown = {j: row[j] for j in np.flatnonzero(seen[b, h, i]).tolist()}
            looking = Looking(self.now, h, before + i)
            for j, weight in self.weights(looking, shown).items():
                weights[b, h, i, j] = weight
        return weights

    def combine(self, weights: Any, values: Any, seen: Any) -> Any:
        """All fractions are finite, so weights of 0 are enough."""
        del seen
        return weights @ values

    def keep_seen(self, x: Any, seen: Any) -> Any:
        """``x`` where it is seen, and 0 elsewhere."""
        return np.where(seen, x, ZERO)

    def relu(self, x: Any) -> Any:
        """max(x, 0)."""
        return np.maximum(x, ZERO)

    def phi(self, x: Any) -> Any:
        """Refused, as are other functions that are not rational.

        Raises:
            Refused: Always.
        """
        raise Refused(f"{self.who} is not about exponentials, as of linear heads")

    sigmoid = tanh = phi

    def scale_by(self, x: Any, factor: Any) -> Any:
        """A multiple."""
        return x * _fraction(factor)
