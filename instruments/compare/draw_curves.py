"""The curves of a comparison as charts, drawn by matplotlib.

A chart stands in the page as SVG, in the colours of the page, so that it is dark where
the page is dark.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, PercentFormatter

from krohn.drawing import render
from krohn.instruments.compare.comparison.result import (
    KEYS,
    Comparison,
    ModelResult,
    Sweep,
)

LABELS: Mapping[str, str] = {
    "compiled": "compiled",
    "gpt": "Transformer",
    "lstm": "LSTM",
    "ngram": "n-gram",
    "majority": "majority",
}
"""The labels beside lines, short enough for a phone."""
STYLES: Mapping[str, Mapping[str, Any]] = {
    "compiled": {"linestyle": "-", "marker": "o", "linewidth": 3, "alpha": 0.5},
    "gpt": {"linestyle": (0, (5, 2)), "marker": "s"},
    "lstm": {"linestyle": (0, (1.5, 1.5)), "marker": "^"},
    "ngram": {"linestyle": (0, (6, 2, 1.5, 2)), "marker": "D"},
    "majority": {"linestyle": (0, (1, 3)), "marker": "x"},
}
"""Dash and mark of each network tell lines apart without colour."""
COLOURS = {
    name: f"#0000{number:02x}"
    for number, name in enumerate(("ink", "soft", "line", *KEYS), start=1)
}
"""Colours that stand for the variables of page.css until the picture is in the page."""
WIDTH, HEIGHT = 4.6, 2.6
"""Inches of the picture; it is stretched to the width that there is."""
INSIDE = (0.12, 0.18, 0.68, 0.73)
"""Where the axes lie in the picture; labels of lines stand to the right of them."""
SIZE, SMALL = 8.5, 7.5
LABEL_STEP = 0.09
"""How far labels of lines are apart at least, as a share of the axes' height."""
MOST_MARKS = 12

Rows = Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class Chart:
    """A chart: its title, the picture, and what is to be known to read it."""

    title: str
    picture: Markup
    remark: str = ""


def accuracy_charts(found: Comparison) -> list[Chart]:
    """Token accuracy along position, bias, count and length."""
    return [_sweep(sweep) for sweep in found.sweeps]


def training_charts(found: Comparison) -> list[Chart]:
    """Loss and accuracy while training, a line for each network, a band over seeds."""
    trained = [c for c in found.contestants if any(o.training for o in c.ones)]
    charts = []
    for title, loss in (("loss (logarithmic)", True), ("token accuracy", False)):
        at, rows = _history(trained, loss)
        if any(v is not None for runs in rows.values() for run in runs for v in run):
            figure, axes = empty_chart("training step", at)
            _lines(axes, at, rows, logarithmic=loss)
            charts.append(Chart(title, inline(figure, f"{title} by training step")))
    return charts


def _sweep(sweep: Sweep) -> Chart:
    figure, axes = empty_chart(sweep.axis, sweep.at)
    if sweep.trained is not None:
        _mark(axes, *sweep.trained, "trained")
    if sweep.proved is not None and sweep.proved < sweep.at[-1]:
        _mark(axes, sweep.proved, sweep.proved, "proved to here")
    _lines(axes, sweep.at, {curve.key: curve.values for curve in sweep.curves})
    picture = inline(figure, f"{sweep.title} by {sweep.axis}")
    return Chart(sweep.title, picture, sweep.remark)


def _history(
    trained: Sequence[ModelResult], loss: bool
) -> tuple[list[float], dict[str, Rows]]:
    """The losses or accuracies noted in training, on the steps of all runs together."""
    runs = {c.key: [o.training for o in c.ones if o.training] for c in trained}
    at = sorted(
        {float(s) for trainings in runs.values() for r in trainings for s in r.steps}
    )
    rows: dict[str, Rows] = {}
    for key, trainings in runs.items():
        values = [
            dict(zip(r.steps, r.loss if loss else r.accuracy, strict=True))
            for r in trainings
        ]
        rows[key] = [[noted.get(int(step)) for step in at] for noted in values]
    return at, rows


def empty_chart(title: str, at: Sequence[float]) -> tuple[Figure, Axes]:
    """An empty chart over these places, logarithmic where they double."""
    figure = Figure(figsize=(WIDTH, HEIGHT), facecolor="none")
    axes = figure.add_axes(INSIDE, facecolor="none")
    axes.set_xlabel(title, size=SIZE, color=COLOURS["soft"], parse_math=False)
    axes.tick_params(labelsize=SMALL, labelcolor=COLOURS["soft"], color=COLOURS["line"])
    axes.grid(axis="y", color=COLOURS["line"], linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    if doubles(at):
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(FixedLocator(_apart(at)))
        axes.xaxis.set_minor_locator(FixedLocator([]))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=at[-1] - at[0] > 1))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    low, high = at[0], at[-1]
    axes.set_xlim(low, high if high > low else low + 1)
    return figure, axes


def doubles(at: Sequence[float]) -> bool:
    """Whether the places are far apart at the end, as lengths are."""
    gaps = [b - a for a, b in pairwise(at)]
    return len(gaps) > 2 and at[0] > 0 and gaps[-1] > 3 * gaps[0]


def _apart(at: Sequence[float]) -> list[float]:
    """Places that leave each other room on a logarithmic axis, the last one first."""
    chosen = [at[-1]]
    for place in reversed(at[:-1]):
        if chosen[-1] / place >= (at[-1] / at[0]) ** (1 / 8):
            chosen.append(place)
    return chosen


def _mark(axes: Axes, low: float, high: float, text: str) -> None:
    """A stretch of the axis, or one place, with a text above it."""
    if low < high:
        axes.axvspan(low, high, color=COLOURS["line"], alpha=0.55, linewidth=0)
    else:
        axes.axvline(low, color=COLOURS["soft"], linestyle="--", linewidth=1)
    ends = (axes.transData - axes.transAxes).transform([(low, 1), (high, 1)])
    along = float(ends[:, 0].clip(0, 1).mean())
    side = "left" if along < 0.15 else "right" if along > 0.85 else "center"
    axes.text(
        *(along, 1.04, text),
        transform=axes.transAxes,
        size=SMALL,
        color=COLOURS["soft"],
        ha=side,
    )


def _lines(
    axes: Axes, at: Sequence[float], rows: Mapping[str, Rows], logarithmic: bool = False
) -> None:
    """Means over runs, bands from the least run to the greatest, labels at the ends."""
    ends = {}
    known: list[float] = []
    for key in (k for k in KEYS if k in rows):
        runs = np.ma.masked_invalid(np.array(rows[key], dtype=float))
        if logarithmic:
            runs = np.ma.masked_less_equal(runs, 0)
        if not runs.count():
            continue
        known += [float(runs.min()), float(runs.max())]
        mean, colour = runs.mean(axis=0), COLOURS[key]
        every = max(1, -(-int(mean.count()) // MOST_MARKS))
        style = {"linewidth": 1.5, "markersize": 3.5, **STYLES[key]}
        axes.plot(at, mean, color=colour, markevery=every, clip_on=False, **style)
        if len(runs) > 1:
            low, high = runs.min(axis=0), runs.max(axis=0)
            axes.fill_between(at, low, high, color=colour, alpha=0.16, linewidth=0)
        ends[LABELS[key]] = (float(mean.compressed()[-1]), COLOURS[key])
    if logarithmic:
        axes.set_yscale("log")
    else:
        least = min(known, default=0.0)
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.set_ylim(min(0.98, least - 0.02 * (1 - least)), 1)
    label_lines(axes, ends, weight="bold")


def label_lines(
    axes: Axes, ends: Mapping[str, tuple[float, str]], **style: Any
) -> None:
    """The names of lines beside their ends, moved so that they do not cover each other.

    Args:
        axes: Where the lines are.
        ends: By name, the height of the last point, and the colour.
        style: How all names are written.
    """
    names = sorted(ends, key=lambda name: ends[name][0])
    left = axes.get_xlim()[0]
    points = np.array([(left, ends[name][0]) for name in names]).reshape(-1, 2)
    places = (axes.transData - axes.transAxes).transform(points)[:, 1].clip(0, 1)
    steps = LABEL_STEP * np.arange(len(names))
    places = np.maximum.accumulate(places - steps) + steps
    places = np.minimum(places, 1 - steps[::-1])
    for name, place in zip(names, places, strict=True):
        axes.text(
            *(1.03, place, name),
            transform=axes.transAxes,
            size=SIZE,
            color=ends[name][1],
            va="center",
            gid=f"label {name}",
            **style,
        )


def inline(figure: Figure, title: str) -> Markup:
    """The picture as part of a page: without what only a file of its own needs."""
    text = render(figure, ".svg").decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", text, flags=re.S)
    text = re.sub(r' (xmlns(:\w+)?|version)="[^"]*"', "", text)
    text = re.sub(r'<g id="label [^"]*">', '<g class="label">', text)
    text = re.sub(r'<g id="[^"]*">', "<g>", text)
    titled = Markup('<svg role="img" aria-label="{}"').format(title)
    text = re.sub(r'<svg width="[^"]*" height="[^"]*"', lambda _: str(titled), text)
    for name, colour in COLOURS.items():
        text = text.replace(colour, f"var(--{name})")
    return Markup(text)
