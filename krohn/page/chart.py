"""Bars on a logarithmic scale that ends at what would be too much.

Texts keep their size and bars take the width that there is, so that a chart can be read
on a phone: places are per cent along, pixels down.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from krohn.page.margins import Sublayer
from krohn.page.texts import superscript

ROW = 44
TOP = 22
MOST_ROWS = 40
LEAST_DECADES = 4
THIN = 0.6


@dataclass(frozen=True)
class Bar:
    """One bar: a kind (which colour), its length in per cent, and the number."""

    kind: str
    width: float
    value: float


@dataclass(frozen=True)
class Row:
    """The bars of a sublayer."""

    title: str
    y: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Tick:
    """A line down the chart."""

    label: str
    x: float


@dataclass(frozen=True)
class Chart:
    """What is drawn.

    Attributes:
        rows: From top to bottom.
        ticks: From left to right; the last one is what would be too much.
        height: In pixels.
        hidden: How many sublayers are left out, those that use least.
    """

    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]
    height: int
    hidden: int


def chart(found: Sequence[Sublayer]) -> Chart:
    """The shares that sublayers use of what they may."""
    shown = _worst(found)
    shares = [x for s in shown for x in (s.share, s.lead or 0.0) if x > 0]
    least = math.floor(math.log10(min(shares, default=1.0)))
    decades = max(LEAST_DECADES, 2 * math.ceil(-least / 2))
    rows = tuple(
        Row(s.title, TOP + ROW * i, tuple(_bars(s, decades)))
        for i, s in enumerate(shown)
    )
    step = max(2, 2 * math.ceil(decades / 10))
    exponents = [e for e in range(decades, 0, -step) if e]
    ticks = tuple(
        Tick(f"10{superscript(-e)}", 100 * (1 - e / decades)) for e in exponents
    )
    height = TOP + ROW * len(rows)
    return Chart(rows, (*ticks, Tick("limit", 100)), height, len(found) - len(shown))


def _worst(found: Sequence[Sublayer]) -> list[Sublayer]:
    """All, or those that use most, in their order."""
    order = sorted(found, key=lambda s: max(s.share, s.lead or 0.0), reverse=True)
    kept = {id(s) for s in order[:MOST_ROWS]}
    return [s for s in found if id(s) in kept]


def _bars(sublayer: Sublayer, decades: int) -> list[Bar]:
    shares = [("noise", sublayer.share)]
    if sublayer.lead is not None:
        shares.insert(0, ("lead", sublayer.lead))
    return [Bar(kind, _width(share, decades), share) for kind, share in shares]


def _width(share: float, decades: int) -> float:
    if share <= 0:
        return 0.0
    return min(100.0, max(THIN, 100 * (1 + math.log10(share) / decades)))
