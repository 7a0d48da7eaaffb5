"""The page of a comparison on a hidden Markov model, with its charts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from krohn.instruments.compare.comparison.belief_result import (
    BeliefComparison,
    BeliefModel,
    Geometry,
    Line,
    headline,
    lines,
)
from krohn.instruments.compare.draw_comparison_page import duration
from krohn.instruments.compare.draw_curves import (
    COLOURS,
    SIZE,
    SMALL,
    Chart,
    empty_chart,
    inline,
    label_lines,
)
from krohn.network.precision import FloatArray
from krohn.page.rendering import render_page

# Charts of comparisons on hidden Markov models: lengths, errors, beliefs in a triangle.


CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
"""Where the three states lie."""
DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
KINDS = {"compiled": "compiled", "rnn": "lstm", "ngram": "ngram", "blocks": "majority"}
"""Which colour of the page is whose; all Transformers have one, and other dashes."""


def charts(found: BeliefComparison) -> list[Chart]:
    """Fit length by depth, error by position, and how training went."""
    shown = [_depths(found), _positions(found), _training(found)]
    return [chart for chart in shown if chart is not None]


def _depths(found: BeliefComparison) -> Chart | None:
    """0.05-fit length of Transformers by depth, one mark for each seed, and of others."""
    deep = [m for m in found.models if m.depth is not None]
    if not deep:
        return None
    depths = [float(m.depth or 0) for m in deep]
    figure, axes = empty_chart("blocks", [min(depths) - 0.3, max(depths) + 0.3])
    axes.set_xticks(depths)
    ends = {}
    for model in (m for m in found.models if m.depth is None and m.key != "exact"):
        level = float(np.mean([one.scores.fits[0] for one in model.ones]))
        axes.axhline(level, color=_colour(model), linestyle=_dash(model), linewidth=1.5)
        ends[model.title] = (level, _colour(model))
    colour = COLOURS["gpt"]
    for depth, model in zip(depths, deep, strict=True):
        for one in model.ones:
            axes.plot(depth, one.scores.fits[0], "s", color=colour, markersize=4)
    means = [float(np.mean([one.scores.fits[0] for one in m.ones])) for m in deep]
    axes.plot(depths, means, color=colour, linewidth=1.5)
    ends["Transformers"] = (means[-1], colour)
    axes.plot(depths, [min(found.length, 2**d) for d in depths], color=COLOURS["soft"])
    axes.text(depths[0], 2.1, "2^L", size=SMALL, color=COLOURS["soft"], va="bottom")
    axes.set_ylim(0, found.length * 1.05)
    label_lines(axes, ends)
    title = "0.05-fit length by depth"
    remark = "Marks are seeds, lines means; 2^L is what the construction fits."
    return Chart(title, inline(figure, title), remark)


def _positions(found: BeliefComparison) -> Chart:
    """Mean errors by position, over seeds."""
    at = list(range(1, found.length + 1))
    figure, axes = empty_chart("position t", at)
    ends, most = {}, 0.0
    for model in (m for m in found.models if m.key != "exact"):
        rows = np.array([one.scores.errors for one in model.ones], dtype=float)
        asked = ~np.isnan(rows).any(axis=0)
        if not asked.any():
            continue
        mean = rows[:, asked].mean(axis=0)
        places = np.array(at)[asked]
        colour = _colour(model)
        axes.plot(places, mean, color=colour, linestyle=_dash(model), linewidth=1.5)
        ends[model.title] = (float(mean[-1]), colour)
        most = max(most, float(mean.max()))
    axes.axhline(0.05, color=COLOURS["soft"], linewidth=0.8)
    axes.set_ylim(0, max(0.1, min(1.05 * most, 2.0)))
    label_lines(axes, ends)
    title = "error el_t by position"
    norm = "Total variation" if found.probabilities else "Euclidean length"
    remark = f"{norm} from the truth, mean over words and seeds; the line is at 0.05."
    return Chart(title, inline(figure, title), remark)


def _training(found: BeliefComparison) -> Chart | None:
    """The share of outputs within 0.05 of the truth while training, over seeds."""
    runs = {m: [o.training for o in m.ones if o.training] for m in found.models}
    runs = {m: each for m, each in runs.items() if each}
    if not runs:
        return None
    steps = max((r.steps for each in runs.values() for r in each), key=len)
    figure, axes = empty_chart("training step", [0.0, *map(float, steps)])
    ends = {}
    for model, each in runs.items():
        whole = [r.accuracy for r in each if len(r.steps) == len(steps)]
        if whole:
            mean, colour = np.mean(whole, axis=0), _colour(model)
            axes.plot(steps, mean, color=colour, linestyle=_dash(model), linewidth=1.5)
            ends[model.title] = (float(mean[-1]), colour)
    axes.set_ylim(0, 1.02)
    label_lines(axes, ends)
    title = "share within 0.05 by training step"
    remark = (
        "Of words at full length, whatever the length of those that are trained on."
    )
    return Chart(title, inline(figure, title), remark)


def _colour(model: BeliefModel) -> str:
    return COLOURS[KINDS.get(model.key, "gpt")]


def _dash(model: BeliefModel) -> object:
    return DASHES[((model.depth or 1) - 1) % len(DASHES)]


def triangles(shown: Sequence[Geometry], ink: str, paper: str = "none") -> Figure:
    """The exact beliefs, and beside them those that are read from each network.

    Points have the colour of the exact belief, red, green and blue for the three states,
    by which places can be told apart.

    Args:
        shown: What is shown; all of the same positions.
        ink: The colour of texts and edges.
        paper: The colour below, where no page has one.
    """
    figure = Figure(figsize=(3 * (1 + len(shown)), 3), facecolor=paper)
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.02, top=0.9, wspace=0.02)
    exact = np.array(shown[0].exact)
    points = [("exact", exact), *((g.title, np.array(g.read)) for g in shown)]
    for i, (title, beliefs) in enumerate(points):
        axes = figure.add_subplot(1, len(points), i + 1, facecolor="none")
        axes.set_axis_off()
        axes.set_aspect("equal")
        axes.plot(*_place_beliefs(np.eye(3)[[0, 1, 2, 0]]).T, color=ink, linewidth=0.8)
        x, y = _place_beliefs(beliefs).T
        axes.scatter(x, y, s=7, c=np.clip(exact, 0, 1), linewidths=0)
        for state, (x, y) in enumerate(CORNERS):
            axes.annotate(
                f"state {state + 1}",
                (x, y),
                textcoords="offset points",
                xytext=(0, 8 if y else -8),
                ha="center",
                va="bottom" if y else "top",
                size=SIZE - 2,
                color=ink,
            )
        axes.set_title(title, size=SIZE, color=ink)
        axes.set_xlim(-0.15, 1.15)
        axes.set_ylim(-0.15, 1.0)
    return figure


def _place_beliefs(beliefs: FloatArray) -> FloatArray:
    """``(count, 3)`` to ``(count, 2)``: places in the triangle, or beside it."""
    placed: FloatArray = beliefs @ CORNERS
    return placed


ON_PAGES = ("parameters", "training")
"""Columns that a terminal has no room for."""


def table(found: BeliefComparison) -> list[list[str]]:
    """The table on a terminal: the columns, and a row for each kind of network."""
    rows = lines(found)
    columns = [column for column in rows[0].cells if column not in ON_PAGES]
    shown = [[row.title, *(row.cells[column] for column in columns)] for row in rows]
    return [["network", *columns], *shown]


# The page of a comparison on a hidden Markov model.


def render(found: BeliefComparison) -> str:
    """The page as text: no scripts, and nothing is fetched."""
    rows: list[Line] = lines(found)
    facts: dict[str, Any] = {
        "found": found,
        "headline": headline(found),
        "columns": list(rows[0].cells),
        "rows": rows,
        "further": found.further_tables(),
        "charts": charts(found),
        "triangle": _triangle(found),
        "probed": [m for m in found.models if m.ones[0].probes],
        "duration": duration,
    }
    return render_page("beliefs.html", facts, __package__)


def _triangle(found: BeliefComparison) -> Chart | None:
    if not found.geometry:
        return None
    title = "beliefs, exact and as read after the last layer"
    picture = inline(triangles(found.geometry, COLOURS["soft"]), title)
    remark = (
        "Each point is a belief after some word; a corner is a state that is sure. Read "
        "by least squares, fitted on other words; colours are those of the exact belief."
    )
    return Chart(title, picture, remark)
