"""Drawing a compiled model: what lies where in its residual stream, and who reads it."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from krohn.algebra.wording import count
from krohn.drawing.canvas import (
    FAINT,
    INK,
    PALETTE,
    SOFT,
    Box,
    Canvas,
    DrawingError,
    Points,
    legible,
    measure,
)
from krohn.drawing.residual_stream import (
    BACK,
    ELISION,
    SHOWN_FIRST,
    SHOWN_LAST,
    Bar,
    Plan,
    plan_of,
    stream,
)
from krohn.network.architecture import kind_of, parameters
from krohn.network.directions import refuse
from krohn.network.modelfile import ModelFile
from krohn.program.slices import find, slice_architectures

# Drawing the channels of a residual stream: a bar where and while each of them lives.


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
    x, lines, size = _place_bar_text(plan, bar, box)
    _, y = box.middle
    step = measure("x", size)[1]
    for i, (text, color) in enumerate(lines):
        at = y + (len(lines) / 2 - i - 0.5) * step
        canvas.text(x, at, text, size=size, color=color)


def _place_bar_text(
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
    return _fit_lines(stem or title, note, width, height), 6.0


def _fit_lines(
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


def draw_features(
    canvas: Canvas,
    plan: Plan,
    features: Mapping[str, tuple[int, int]],
    span: tuple[int, int],
) -> None:
    """Position features side by side, which live everywhere."""
    ends = list(plan.columns.values())
    low, high = plan.levels[span[1]], plan.levels[span[0]]
    box = Box(ends[0][0], low + 0.02, ends[-1][1], high - 0.02)
    canvas.rectangle(box, fill=FILLS["position"])
    names = list(map(legible, features))
    if len(features) > 1:
        numbers = [_dimensions_of(*each) for each in features.values()]
        names = [f"{name} ({at})" for name, at in zip(names, numbers, strict=True)]
    room, size = box.right - box.left - 0.16, 8.0
    text = f"position: {', '.join(names)}"
    while size > 5.0 and measure(text, size)[0] > room:
        size -= 0.5
    while names and measure(text, size)[0] > room:
        names.pop()
        text = f"position: {', '.join([*names, '…'])}"
    canvas.text(box.left + 0.08, (low + high) / 2, text, size=size, align="left")


def _dimensions_of(low: int, high: int) -> str:
    return str(low) if high == low + 1 else f"{low}–{high - 1}"


# Drawing what reads what in a residual stream: arrows between bars, and to the logits.


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
    x = left + _lane(plan, bar, 1 - share if below else share) * (right - left)
    return np.array([[x, edge], [x, (edge + 2 * end) / 3], [x, end], [right, end]])


def _lane(plan: Plan, bar: Bar, share: float) -> float:
    """How far into the gap an arrow to a bar runs, so that each starts in sight.

    Those to neighbours keep apart, and of those to one bar that from far runs behind.
    """
    born = [b.start for b in plan.stream.bars if b.born == bar.born]
    return 0.15 + 0.4 * (sorted(born).index(bar.start) + share) / len(born)


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


# Drawing a compiled model: what lies where in its residual stream and when.


MEANINGS = {
    "position": "position feature",
    "letter": "read from the letter",
    "heads": "written by attention heads",
    "MLP": "written by the MLP",
}


def draw_model(file: ModelFile) -> Figure:
    """A picture of a compiled model.

    For a Transformer: snapshots of the residual stream from left to right, its
    dimensions from top to bottom, a bar for every channel where and while it lives,
    and arrows for what heads and MLPs read. For an RNN: its matrices.

    Raises:
        DrawingError: If the file does not say what its dimensions mean, or nobody draws
            networks of its architecture.
    """
    refuse(file, "a picture of a residual stream")
    canvas, kind = Canvas(), kind_of(file.architecture)
    brought = slice_architectures().get(file.architecture.kind)
    if brought is not None and brought.draw:
        remarks = find(brought.draw)(canvas, file)
    elif not kind.program:
        raise DrawingError(f"{kind.called} has no picture")
    else:
        plan = plan_of(stream(file))
        remarks = _draw_stream(canvas, plan, file)
    canvas.notes(remarks)
    canvas.heading(*_title(file))
    return canvas.finish()


def _title(file: ModelFile) -> tuple[str, str]:
    claim, shape = file.claim, file.architecture
    facts = [
        _construction(file.header),
        f"T = {claim.length}" if claim.length else "",
        claim.dtype,
        "strict" if getattr(shape, "strict", False) else "",
        _sizes(shape),
        f"{parameters(shape):,} parameters",
    ]
    return f"{legible(claim.name)} as {kind_of(shape).title}", " · ".join(
        legible(f, 60) for f in facts if f
    )


def _construction(header: Mapping[str, Any]) -> str:
    """As the first object of the header says that names it; empty if none does."""
    every = [header, header.get("program")]
    objects = (h for h in every if isinstance(h, dict))
    return str(next((h["construction"] for h in objects if "construction" in h), ""))


def _sizes(shape: Any) -> str:
    kind = kind_of(shape)
    if kind.bounded:
        return count(len(shape.layers), "layer")
    if kind.recurrent:
        return f"{shape.hidden:,} hidden units"
    return f"{count(len(shape.blocks), 'block')} · {shape.d_model} dimensions"


def _draw_stream(canvas: Canvas, plan: Plan, file: ModelFile) -> list[str]:
    _stripes(canvas, plan)
    _dimensions(canvas, plan)
    for features, span in plan.stream.positions:
        draw_features(canvas, plan, features, span)
    for bar in plan.stream.bars:
        draw_bar(canvas, plan, bar)
    for bar in plan.stream.bars:
        draw_reads(canvas, plan, bar)
    shows = str(file.claim.shows) if file.claim.of_machine else "outputs"
    draw_read_out(canvas, plan, file.architecture.outputs, shows)
    _legend(canvas, {"position", *map(writer, plan.stream.bars)})
    return _remarks(plan)


def _stripes(canvas: Canvas, plan: Plan) -> None:
    """A heading over every column and a band behind every second block."""
    low = min(plan.levels.values())
    size = 8 if len(plan.columns) <= 13 else 7
    left, right = plan.columns[0]
    canvas.text((left + right) / 2, 0.14, "embed", size=size, color=SOFT)
    for block in range(plan.stream.blocks):
        if 2 * block + 1 not in plan.columns:
            continue
        heads, mlp = plan.columns[2 * block + 1], plan.columns[2 * block + 2]
        canvas.text(sum(heads) / 2, 0.14, "heads", size=size, color=SOFT)
        canvas.text(sum(mlp) / 2, 0.14, "MLP", size=size, color=SOFT)
        middle = (heads[0] + mlp[1]) / 2
        canvas.text(middle, 0.33, f"block {block}", size=size + 0.5, color=INK)
        band = Box(heads[0] - 0.06, low - 0.06, mlp[1] + 0.06, 0.44)
        canvas.rectangle(band, fill="#f6f7f8", order=0)
    if ELISION in plan.columns:
        middle = sum(plan.columns[ELISION]) / 2
        canvas.text(middle, 0.33, "…", size=12, color=SOFT)


def _dimensions(canvas: Canvas, plan: Plan) -> None:
    """The numbers of the dimensions on the left."""
    borders = list(plan.levels)
    for low, high in pairwise(borders):
        name = _dimensions_of(low, high)
        y = (plan.levels[low] + plan.levels[high]) / 2
        canvas.text(-0.12, y, name, size=7, color=SOFT, align="right")
    canvas.text(-0.12, 0.14, "dimensions", size=7, color=SOFT, align="right")


def _legend(canvas: Canvas, kinds: set[str]) -> None:
    box = canvas.extent
    x, y = box.left, box.low - 0.2
    limit = max(box.right, box.left + 4.5)
    for kind, meaning in MEANINGS.items():
        if kind not in kinds:
            continue
        width = measure(meaning, 8)[0] + 0.24
        if x > box.left and x + width > limit:
            x, y = box.left, y - 0.22
        patch = Box.around(x + 0.08, y, 0.16, 0.13)
        canvas.rectangle(patch, fill=FILLS[kind], edge=FAINT)
        canvas.text(x + 0.24, y, meaning, size=8, color=SOFT, align="left")
        x += width + 0.25


def _explain_heads(plan: Plan) -> list[str]:
    """What the notes at heads mean; of those that look back the farthest is enough."""
    brings = {
        bar.note: bar.brings
        for bar in plan.stream.bars
        if bar.brings and not bar.note.startswith("sum")  # which says it already
    }
    back = [note for note in brings if note.endswith(BACK)]
    far = max(back, key=lambda note: int(note.removesuffix(BACK)), default="")
    told = [f"“{n}”: {brings[n]}" for n in brings if n == far or n not in back]
    return (
        ["; ".join(told).replace(": ", ": the head brings ", 1) + "."] if told else []
    )


def _remarks(plan: Plan) -> list[str]:
    remarks = [
        "Each bar is a variable, for as long as it is in the residual stream. Arrows lead "
        "from what is read. The read-out reads what has a bold frame.",
        *_explain_heads(plan),
    ]
    if any(bar.where for bar in plan.stream.bars):
        remarks.append(
            "A dashed arrow comes from the variable that says which position to read."
        )
    if ELISION in plan.columns:
        last = plan.stream.blocks - SHOWN_LAST - 1
        remarks.append(f"Blocks {SHOWN_FIRST} to {last} are not shown.")
    return remarks
