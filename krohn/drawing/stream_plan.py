"""Where the snapshots and the dimensions of a residual stream lie on the page."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from krohn.drawing.canvas import Box
from krohn.drawing.residual_stream import Bar, Stream

MOST_BLOCKS = 8
SHOWN_FIRST, SHOWN_LAST = 3, 2
WIDTH = 10.4
GAP = 0.17
ROW = 0.36
PER_DIMENSION = 0.11
TALLEST = 7.0
ELISION = -1
"""Stands for all the snapshots that are left out."""


@dataclass(frozen=True)
class Plan:
    """The stream with a scale.

    Attributes:
        stream: What is drawn.
        columns: Left and right end of every snapshot shown, and of the `ELISION`.
        levels: For each dimension at which a bar begins or ends, its height.
    """

    stream: Stream
    columns: Mapping[int, tuple[float, float]]
    levels: Mapping[int, float]

    def box(self, bar: Bar) -> Box | None:
        """Where a bar lies; None if all of it is left out."""
        shown = [s for s in self.columns if s != ELISION and bar.alive(s)]
        if not shown:
            return None
        left, right = self.columns[shown[0]][0], self.columns[shown[-1]][1]
        if ELISION in self.columns:
            # Bars that go on where nothing is shown reach into the gap.
            low, high = self.columns[ELISION]
            third = (high - low) / 3
            left = left if bar.born in shown else low + 2 * third
            right = right if bar.dies in shown else high - 2 * third
        return Box(left, self.levels[bar.stop], right, self.levels[bar.start])


def plan_of(found: Stream) -> Plan:
    """Columns for the snapshots, heights for the dimensions."""
    return Plan(found, _columns(found.blocks), _levels(found))


def _columns(blocks: int) -> dict[int, tuple[float, float]]:
    snapshots = list(range(2 * blocks + 1))
    if blocks > MOST_BLOCKS:
        first, last = 2 * SHOWN_FIRST + 1, 2 * SHOWN_LAST
        snapshots = [*snapshots[:first], ELISION, *snapshots[-last:]]
    pitch = min(1.75, WIDTH / len(snapshots))
    gap = min(0.45, max(GAP, 0.25 * pitch))
    return {s: (i * pitch, (i + 1) * pitch - gap) for i, s in enumerate(snapshots)}


def _levels(found: Stream) -> dict[int, float]:
    """Heights at which dimensions begin, downwards; every bar has room for its name."""
    spans = [*found.features.values(), *((b.start, b.stop) for b in found.bars)]
    borders = sorted({0, found.width, *(d for span in spans for d in span)})
    sizes = np.diff(borders)
    # Many dimensions of one kind would push all others off the page.
    heights = np.clip(sizes * PER_DIMENSION, ROW, 2.4)
    end = max((high for _, high in found.features.values()), default=0)
    heights[[low < end for low in borders[:-1]]] = ROW
    scale = min(1.0, TALLEST / heights.sum())
    depths = np.concatenate([[0.0], np.cumsum(heights * scale)])
    return dict(zip(borders, (-depths).tolist(), strict=True))
