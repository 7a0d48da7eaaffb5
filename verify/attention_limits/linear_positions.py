"""Heads with linear positions, and when they look at the wrong letter (Proposition 5).

A score is a quadratic form of the two positions, so the winner at each length is decided
by a few numbers. docs/independent.md, section 4.
"""

from dataclasses import dataclass

import numpy as np

from krohn.network.precision import FloatArray

LINEAR = 2.0**-6
"""How far a position may be off the line, in steps of it, to count as linear."""


@dataclass(frozen=True)
class Line:
    """Positions on a line: position t, from 1 on, is ``origin + t·step``.

    Attributes:
        origin: ``(d,)``.
        step: ``(d,)``.
    """

    origin: FloatArray
    step: FloatArray


@dataclass(frozen=True)
class LinearHead:
    """A head's scores from letter a at i to letter b at j: A + α_a·j + β_b·i + κ·i·j.

    Attributes:
        constant: ``(letters, letters)``: A, first index the letter that looks.
        of_key: ``(letters,)``: α, the coefficient of the position looked at.
        of_query: ``(letters,)``: β, the coefficient of the position that looks.
        product: κ, W_Qp·W_Kp of Proposition 5.
        bos: ``(letters, 2)``: the score of BOS is the first plus i times the second.
    """

    constant: FloatArray
    of_key: FloatArray
    of_query: FloatArray
    product: float
    bos: FloatArray

    def lost_at(self, write: int, keep: int, longest: int) -> int | None:
        """The first length at which a letter written first is not looked at any more.

        The word is ``write`` and then ``keep`` to the end; the last letter looks. What it
        keeps may be found elsewhere all the same: this is about the head alone.

        Returns:
            The least length, up to ``longest``, at which some other position scores as
            much; None if there is none.
        """
        i = np.arange(2, longest + 1, dtype=np.float64)
        slope = self.of_key[keep] + self.product * i
        right = self.constant[keep, write] + self.of_query[write] * i + slope
        others = self.constant[keep, keep] + self.of_query[keep] * i
        # Along a line the greatest score stands at one of its ends.
        rival = others + np.maximum(2.0 * slope, i * slope)
        rival = np.maximum(rival, self.bos[keep, 0] + self.bos[keep, 1] * i)
        return _first(rival >= right, 2)

    def overtaken_at(
        self, first: int, then: int, keep: int, longest: int
    ) -> int | None:
        """The first length at which an old letter is looked at instead of the new one.

        The word is ``first``, then ``keep``, and ``then`` as the last letter but one.
        """
        i = np.arange(3, longest + 1, dtype=np.float64)
        slope = self.of_key[keep] + self.product * i
        old = self.constant[keep, first] + self.of_query[first] * i + slope
        new = self.constant[keep, then] + self.of_query[then] * i + (i - 1) * slope
        return _first(old >= new, 3)


def line_of(positions: FloatArray) -> Line | None:
    """The line on which positions ``(T + 1, d)`` lie, BOS apart; None if they do not."""
    rows = positions[1:]
    if len(rows) < 3:
        return None
    step = (rows[-1] - rows[0]) / (len(rows) - 1)
    line = Line(rows[0] - step, step)
    ideal = line.origin + np.arange(1, len(rows) + 1)[:, None] * step
    off = float(np.abs(rows - ideal).max())
    return (
        line if 0 < np.abs(step).max() and off <= LINEAR * np.abs(step).max() else None
    )


def linear_head(
    query: FloatArray, key: FloatArray, tokens: FloatArray, line: Line, bos: FloatArray
) -> LinearHead:
    """The coefficients of a head that reads the embedding.

    Args:
        query: ``(d, k)``.
        key: ``(d, k)``.
        tokens: ``(letters, d)``.
        line: The positions.
        bos: ``(d,)``: the embedding of BOS, its position added.
    """
    asks, answers = (tokens + line.origin) @ query, (tokens + line.origin) @ key
    step_asks, step_answers = line.step @ query, line.step @ key
    seen = bos @ key
    return LinearHead(
        constant=asks @ answers.T,
        of_key=asks @ step_answers,
        of_query=answers @ step_asks,
        product=float(step_asks @ step_answers),
        bos=np.stack([asks @ seen, np.full(len(tokens), step_asks @ seen)], axis=1),
    )


def _first(
    lost: "np.ndarray[tuple[int], np.dtype[np.bool_]]", start: int
) -> int | None:
    return start + int(lost.argmax()) if lost.any() else None
