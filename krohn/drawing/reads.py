"""Drawing what reads what in a residual stream: arrows between bars, and to the logits."""

import numpy as np

from krohn.drawing.canvas import INK, PALETTE, SOFT, Box, Canvas, Points, measure
from krohn.drawing.residual_stream import Bar
from krohn.drawing.stream_plan import Plan

HEAD_COLOR = PALETTE[1]


def draw_reads(canvas: Canvas, plan: Plan, bar: Bar) -> None:
    """Arrows from everything that a bar is computed from."""
    before = bar.born - 1
    if bar.born not in plan.columns or before not in plan.columns:
        return
    read = bar.sources | {bar.where}
    sources = [
        s for s in plan.stream.bars if s.alive(before) and not read.isdisjoint(s.names)
    ]
    sources.sort(key=lambda s: s.start)
    apart = [s for s in sources if bar.overlap(s) is None]
    for source in sources:
        shared = bar.overlap(source)
        if shared is None:
            share = (apart.index(source) + 1) / (len(apart) + 1)
            _bent(canvas, plan, source, bar, share)
        else:
            _straight(canvas, plan, bar, shared)


def _straight(canvas: Canvas, plan: Plan, bar: Bar, shared: tuple[int, int]) -> None:
    """An arrow to a bar from one that it replaces."""
    x, end = plan.columns[bar.born - 1][1], plan.columns[bar.born][0]
    low, high = (plan.levels[d] for d in shared)
    y = high + 0.3 * (low - high)
    canvas.arrow(
        np.array([[x, y], [end, y]]), color=SOFT, width=0.9, head=0.08, order=3.2
    )


def _bent(canvas: Canvas, plan: Plan, source: Bar, bar: Bar, share: float) -> None:
    """An arrow that leaves a bar above or below and enters another from the left."""
    points = _bend(plan, source, bar, share)
    by_head = bool(bar.born % 2)
    color, width = (HEAD_COLOR, 1.5) if by_head else (SOFT, 0.9)
    dashes = (0, (2.5, 1.5)) if bar.where in source.names else None
    canvas.curve(points, color=color, width=width, dashes=dashes, order=3.2)
    canvas.head(points[-1], np.array([1.0, 0.0]), color, 0.09, 3.3)


def _bend(plan: Plan, source: Bar, bar: Bar, share: float) -> Points:
    """The control points of such an arrow."""
    left, right = plan.columns[bar.born - 1][1], plan.columns[bar.born][0]
    high, low = plan.levels[bar.start], plan.levels[bar.stop]
    end = high + share * (low - high)
    if not source.alive(bar.born):
        level = (plan.levels[source.start] + plan.levels[source.stop]) / 2
        middle = (left + right) / 2
        return np.array([[left, level], [middle, level], [middle, end], [right, end]])
    below = source.start < bar.start
    near, inward = (source.stop, 0.02) if below else (source.start, -0.02)
    edge = plan.levels[near] + inward
    x = left + _lane(plan, bar) * (right - left)
    return np.array([[x, edge], [x, (edge + 2 * end) / 3], [x, end], [right, end]])


def _lane(plan: Plan, bar: Bar) -> float:
    """How far into the gap the arrows to a bar run, so that neighbours' keep apart."""
    born = [b.start for b in plan.stream.bars if b.born == bar.born]
    return 0.15 + 0.4 * (sorted(born).index(bar.start) + 0.5) / len(born)


def draw_read_out(canvas: Canvas, plan: Plan, outputs: int, what: str) -> None:
    """Arrows from the outputs to the logits, on the right."""
    finals = [
        b for b in plan.stream.bars if not plan.stream.outputs.isdisjoint(b.names)
    ]
    boxes = [box for box in map(plan.box, finals) if box is not None]
    if not boxes:
        return
    x = list(plan.columns.values())[-1][1]
    levels = [box.middle[1] for box in boxes]
    y = (min(levels) + max(levels)) / 2
    for level in levels:
        bend = [[x, level], [x + 0.2, level], [x + 0.1, y], [x + 0.3, y]]
        canvas.arrow(np.array(bend), width=1.2, head=0.09)
    width, height = measure(f"{outputs}\n{what}", 8)
    half = height / 2
    out = Box(x + 0.3, y - half - 0.05, x + 0.42 + width, y + half + 0.05)
    canvas.rectangle(out, fill="#ffffff", edge=INK)
    canvas.text(out.middle[0], y + height / 4, str(outputs), size=8)
    canvas.text(out.middle[0], y - height / 4, what, size=8)
