"""Drawing the channels of a residual stream: a bar where and while each of them lives."""

from krohn.drawing.canvas import INK, SOFT, Box, Canvas, legible, measure
from krohn.drawing.residual_stream import Bar
from krohn.drawing.stream_plan import ELISION, Plan

FILLS = {
    "letter": "#cfe3f2",
    "heads": "#fbdcc6",
    "MLP": "#cdebdd",
    "position": "#e6e8eb",
}


def writer(bar: Bar) -> str:
    """Who writes a channel, or that it only depends on the position."""
    if bar.born == 0:
        return "position" if bar.note == "position" else "letter"
    return "heads" if bar.born % 2 else "MLP"


def draw_bar(canvas: Canvas, plan: Plan, bar: Bar) -> None:
    """A channel, in the colour of what writes it, and in a bold frame if it is read out."""
    box = plan.box(bar)
    if box is None:
        return
    kind = writer(bar)
    final = not plan.stream.outputs.isdisjoint(bar.names)
    box = Box(box.left, box.low + 0.02, box.right, box.high - 0.02)
    canvas.rectangle(
        box, fill=FILLS[kind], edge=INK if final else SOFT, width=1.8 if final else 0.6
    )
    if box.right - box.left < 0.3:
        return
    x, lines, size = _inscribed(plan, bar, box)
    _, y = box.middle
    step = measure("x", size)[1]
    for i, (text, color) in enumerate(lines):
        at = y + (len(lines) / 2 - i - 0.5) * step
        canvas.text(x, at, text, size=size, color=color)


def _inscribed(
    plan: Plan, bar: Bar, box: Box
) -> tuple[float, list[tuple[str, str]], float]:
    """The middle of a bar's text, its lines and their size.

    In one column if it fits there, since arrows cross the bar between columns.
    """
    height = box.high - box.low
    shown = [s for s in plan.columns if s != ELISION and bar.alive(s)]
    for left, right in (plan.columns[shown[0]], (box.left, box.right)):
        lines, size = _fitting(bar, right - left - 0.04, height)
        if size >= 7.5:
            break
    return (left + right) / 2, lines, size


def _fitting(
    bar: Bar, width: float, height: float
) -> tuple[list[tuple[str, str]], float]:
    """The lines of text that fit into a bar, each with its colour, and their size."""
    title = legible(bar.title, 40)
    stem, bracket, rest = title.partition("[")
    head, dot, tail = title.rpartition(".")
    splits = [[title]]
    splits += [[stem, bracket + rest]] if bracket and stem else []
    splits += [[head + dot, tail]] if dot and not bracket and head else []
    note = [(bar.note, "#8a3c00")] if bar.note else []
    for size in (8.5, 8.0, 7.5, 7.0, 6.5, 6.0):
        for split in splits:
            lines = [*((part, INK) for part in split), *note]
            widest = max(measure(text, size)[0] for text, _ in lines)
            if widest <= width and len(lines) * measure("x", size)[1] <= height:
                return lines, size
    return _cut(stem or title, note, width, height), 6.0


def _cut(
    title: str, note: list[tuple[str, str]], width: float, height: float
) -> list[tuple[str, str]]:
    lines = [(title, INK), *note][: max(1, int(height / measure("x", 6.0)[1]))]
    cut = []
    for text, color in lines:
        length = len(text)
        while length > 1 and measure(legible(text, length), 6.0)[0] > width:
            length -= 1
        cut.append((legible(text, length), color))
    return cut


def draw_feature(canvas: Canvas, plan: Plan, name: str, span: tuple[int, int]) -> None:
    """A position feature, which lives everywhere."""
    ends = list(plan.columns.values())
    low, high = plan.levels[span[1]], plan.levels[span[0]]
    box = Box(ends[0][0], low + 0.02, ends[-1][1], high - 0.02)
    canvas.rectangle(box, fill=FILLS["position"])
    canvas.text(box.left + 0.08, (low + high) / 2, legible(name), size=8, align="left")
