"""Line charts that keep the size of their texts and take the width that there is.

Places are per cent along and pixels down, as in `krohn.page.chart`: the lines lie in a
picture that is stretched, marks and texts do not.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from krohn.page.scales import Scale

HEIGHT = 180
MOST_MARKS = 12
LABEL_STEP = 15

Point = tuple[float, float]
Value = float | None
Row = tuple[Value, ...]


@dataclass(frozen=True)
class Series:
    """What is to be drawn.

    Attributes:
        key: Which colour, dash and mark.
        label: What is written beside it.
        runs: For each run a row: a value, or None, for each place.
    """

    key: str
    label: str
    runs: tuple[Row, ...]

    def across_runs(self, one: Callable[[Sequence[float]], float]) -> list[Value]:
        """A number for each place, of the runs that have a value there."""
        columns = [
            [v for v in c if v is not None] for c in zip(*self.runs, strict=True)
        ]
        return [one(known) if known else None for known in columns]

    @property
    def known(self) -> list[float]:
        """All values."""
        return [v for row in self.runs for v in row if v is not None]


@dataclass(frozen=True)
class Tick:
    """A text beside an axis, at a place in per cent or pixels."""

    label: str
    at: float


@dataclass(frozen=True)
class Line:
    """A series as it is drawn.

    Attributes:
        key: Which colour, dash and mark.
        label: What is written beside its end.
        paths: Points of the mean, a text for each stretch without a gap.
        bands: Between the least and the greatest run, likewise.
        marks: Where marks are put.
        last: Where the line ends along, in per cent; the label is beside it.
        end: Where the label is, in pixels.
    """

    key: str
    label: str
    paths: tuple[str, ...]
    bands: tuple[str, ...]
    marks: tuple[Point, ...]
    last: float
    end: float


@dataclass(frozen=True)
class Span:
    """A stretch of the axis that is marked, from and to in per cent, and what it is."""

    label: str
    start: float
    stop: float


@dataclass(frozen=True)
class Plot:
    """A chart.

    Attributes:
        title: Above it.
        axis: Below it.
        lines: The first one lies lowest.
        across: Ticks along, in per cent.
        up: Ticks upwards, in pixels.
        spans: What is marked along.
        remark: What is to be known to read it.
        height: In pixels.
    """

    title: str
    axis: str
    lines: tuple[Line, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    spans: tuple[Span, ...]
    remark: str
    height: int = HEIGHT


@dataclass(frozen=True)
class Frame:
    """The axes of a chart."""

    at: Sequence[float]
    along: Scale
    upward: Scale

    def x(self, value: float) -> float:
        """In per cent."""
        return round(100 * self.along.at(value), 2)

    def y(self, value: float) -> float:
        """In pixels."""
        return round(HEIGHT * (1 - self.upward.at(value)), 2)

    def across(self) -> tuple[Tick, ...]:
        """The ticks along."""
        named = zip(self.along.labels, self.along.ticks, strict=True)
        return tuple(Tick(label, self.x(value)) for label, value in named)

    def up(self) -> tuple[Tick, ...]:
        """The ticks upwards."""
        named = zip(self.upward.labels, self.upward.ticks, strict=True)
        return tuple(Tick(label, self.y(value)) for label, value in named)

    def lines(self, series: Sequence[Series]) -> tuple[Line, ...]:
        """Series with places; their labels keep a distance from each other."""
        drawn = [s for s in series if s.known]
        last = [[v for v in s.across_runs(_mean) if v is not None][-1] for s in drawn]
        ends = _spread([self.y(v) for v in last])
        return tuple(self._line(s, e) for s, e in zip(drawn, ends, strict=True))

    def _line(self, series: Series, end: float) -> Line:
        mean = series.across_runs(_mean)
        low, high = series.across_runs(min), series.across_runs(max)
        stretches = list(_stretches(mean))
        bands = [
            _text([*self._points(high, s), *self._points(low, s)[::-1]])
            for s in stretches
            if len(series.runs) > 1
        ]
        paths = [_text(self._points(mean, s)) for s in stretches]
        known = [i for i, value in enumerate(mean) if value is not None]
        step = max(1, math.ceil(len(known) / MOST_MARKS))
        marks = tuple(self._points(mean, known[::-1][::step]))
        last = self.x(self.at[known[-1]])
        return Line(
            series.key, series.label, tuple(paths), tuple(bands), marks, last, end
        )

    def _points(self, values: Sequence[Value], chosen: Sequence[int]) -> list[Point]:
        found = ((self.at[i], values[i]) for i in chosen)
        return [(self.x(a), self.y(v)) for a, v in found if v is not None]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _stretches(values: Sequence[Value]) -> Iterator[list[int]]:
    """Indices of neighbours that are known."""
    stretch: list[int] = []
    for i, value in enumerate([*values, None]):
        if value is not None:
            stretch.append(i)
        elif stretch:
            yield stretch
            stretch = []


def _spread(wanted: Sequence[float]) -> list[float]:
    """The same places, so far apart that texts do not cover each other."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    found, least, most = list(wanted), -math.inf, float(HEIGHT)
    for i in order:
        found[i] = max(found[i], least)
        least = found[i] + LABEL_STEP
    for i in reversed(order):
        found[i] = min(found[i], most)
        most = found[i] - LABEL_STEP
    return found


def _text(points: Sequence[Point]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)
