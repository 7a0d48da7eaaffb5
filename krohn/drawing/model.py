"""Drawing a compiled model: what lies where in its residual stream and when."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from algebra.wording import count
from krohn.drawing.canvas import (
    FAINT,
    INK,
    PALETTE,
    SOFT,
    Box,
    Canvas,
    legible,
    measure,
)
from krohn.drawing.residual_stream import Bar, Stream, stream
from krohn.drawing.rnn import draw_rnn
from network.architecture import kind_of, parameters
from network.modelfile import ModelFile

MOST_BLOCKS = 8
SHOWN_FIRST, SHOWN_LAST = 3, 2
WIDTH = 10.4
GAP = 0.17
ROW = 0.36
PER_DIMENSION = 0.11
TALLEST = 7.0
ELISION = -1
"""Stands for all the snapshots that are left out."""

FILLS = {
    "letter": "#cfe3f2",
    "heads": "#fbdcc6",
    "MLP": "#cdebdd",
    "position": "#e6e8eb",
}
HEAD_COLOR = PALETTE[1]
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
        DrawingError: If the file does not say what its dimensions mean.
    """
    header = file.header
    canvas = Canvas()
    if kind_of(header["architecture"]).recurrent:
        remarks = draw_rnn(canvas, file)
    else:
        picture = _picture(stream(header))
        remarks = _draw_stream(canvas, picture, header["architecture"])
    canvas.notes(remarks)
    canvas.heading(*_title(header))
    return canvas.finish()


def _title(header: Mapping[str, Any]) -> tuple[str, str]:
    architecture = header["architecture"]
    name = legible(str(header["machine"].get("name", "machine")))
    facts = [
        *(str(h["construction"]) for h in _holders(header) if "construction" in h),
        f"T = {header['claim']['length']}" if header["claim"].get("length") else "",
        architecture["dtype"],
        "strict" if architecture.get("strict") else "",
        _sizes(architecture),
        f"{parameters(architecture):,} parameters",
    ]
    return f"{name} as {kind_of(architecture).title}", " · ".join(
        legible(f, 60) for f in facts if f
    )


def _holders(header: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The objects of the header that may name the construction; the first one does."""
    every = [header, header.get("program"), header["claim"], header["architecture"]]
    found: list[Mapping[str, Any]] = [h for h in every if isinstance(h, dict)]
    return [h for h in found if "construction" in h][:1]


def _sizes(architecture: Mapping[str, Any]) -> str:
    if kind_of(architecture).recurrent:
        return f"{architecture['hidden']:,} hidden units"
    blocks = count(len(architecture["blocks"]), "block")
    return f"{blocks} · {architecture['d_model']} dimensions"


@dataclass(frozen=True)
class _Picture:
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


def _picture(found: Stream) -> _Picture:
    return _Picture(found, _columns(found.blocks), _levels(found))


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


def _draw_stream(
    canvas: Canvas, picture: _Picture, architecture: Mapping[str, Any]
) -> list[str]:
    _stripes(canvas, picture)
    _dimensions(canvas, picture)
    for name, span in picture.stream.features.items():
        _feature(canvas, picture, name, span)
    for bar in picture.stream.bars:
        _draw_bar(canvas, picture, bar)
    for bar in picture.stream.bars:
        _reads(canvas, picture, bar)
    _read_out(canvas, picture, architecture["outputs"])
    _legend(canvas, {"position", *map(_kind, picture.stream.bars)})
    return _remarks(picture)


def _stripes(canvas: Canvas, picture: _Picture) -> None:
    """A heading over every column and a band behind every second block."""
    low = min(picture.levels.values())
    size = 8 if len(picture.columns) <= 13 else 7
    left, right = picture.columns[0]
    canvas.text((left + right) / 2, 0.14, "embed", size=size, color=SOFT)
    for block in range(picture.stream.blocks):
        if 2 * block + 1 not in picture.columns:
            continue
        heads, mlp = picture.columns[2 * block + 1], picture.columns[2 * block + 2]
        canvas.text(sum(heads) / 2, 0.14, "heads", size=size, color=SOFT)
        canvas.text(sum(mlp) / 2, 0.14, "MLP", size=size, color=SOFT)
        middle = (heads[0] + mlp[1]) / 2
        canvas.text(middle, 0.33, f"block {block}", size=size + 0.5, color=INK)
        band = Box(heads[0] - 0.06, low - 0.06, mlp[1] + 0.06, 0.44)
        canvas.rectangle(band, fill="#f6f7f8", order=0)
    if ELISION in picture.columns:
        middle = sum(picture.columns[ELISION]) / 2
        canvas.text(middle, 0.33, "…", size=12, color=SOFT)


def _dimensions(canvas: Canvas, picture: _Picture) -> None:
    """The numbers of the dimensions on the left."""
    borders = list(picture.levels)
    for low, high in pairwise(borders):
        name = str(low) if high == low + 1 else f"{low}–{high - 1}"
        y = (picture.levels[low] + picture.levels[high]) / 2
        canvas.text(-0.12, y, name, size=7, color=SOFT, align="right")
    canvas.text(-0.12, 0.14, "dimensions", size=7, color=SOFT, align="right")


def _feature(
    canvas: Canvas, picture: _Picture, name: str, span: tuple[int, int]
) -> None:
    ends = list(picture.columns.values())
    low, high = picture.levels[span[1]], picture.levels[span[0]]
    box = Box(ends[0][0], low + 0.02, ends[-1][1], high - 0.02)
    canvas.rectangle(box, fill=FILLS["position"])
    canvas.text(box.left + 0.08, (low + high) / 2, legible(name), size=8, align="left")


def _kind(bar: Bar) -> str:
    """Who writes a channel."""
    if bar.born == 0:
        return "letter"
    return "heads" if bar.born % 2 else "MLP"


def _draw_bar(canvas: Canvas, picture: _Picture, bar: Bar) -> None:
    box = picture.box(bar)
    if box is None:
        return
    kind = _kind(bar)
    final = not picture.stream.outputs.isdisjoint(bar.names)
    box = Box(box.left, box.low + 0.02, box.right, box.high - 0.02)
    canvas.rectangle(
        box, fill=FILLS[kind], edge=INK if final else SOFT, width=1.8 if final else 0.6
    )
    if box.right - box.left < 0.3:
        return
    x, lines, size = _inscribed(picture, bar, box)
    y = (box.low + box.high) / 2
    step = measure("x", size)[1]
    for i, (text, color) in enumerate(lines):
        at = y + (len(lines) / 2 - i - 0.5) * step
        canvas.text(x, at, text, size=size, color=color)


def _inscribed(
    picture: _Picture, bar: Bar, box: Box
) -> tuple[float, list[tuple[str, str]], float]:
    """The middle of a bar's text, its lines and their size.

    In one column if it fits there, since arrows cross the bar between columns.
    """
    height = box.high - box.low
    shown = [s for s in picture.columns if s != ELISION and bar.alive(s)]
    for left, right in (picture.columns[shown[0]], (box.left, box.right)):
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


def _reads(canvas: Canvas, picture: _Picture, bar: Bar) -> None:
    """Arrows from everything that a bar is computed from."""
    before = bar.born - 1
    if bar.born not in picture.columns or before not in picture.columns:
        return
    read = bar.sources | {bar.where}
    sources = [
        s
        for s in picture.stream.bars
        if s.alive(before) and not read.isdisjoint(s.names)
    ]
    sources.sort(key=lambda s: s.start)
    apart = [s for s in sources if bar.overlap(s) is None]
    for source in sources:
        shared = bar.overlap(source)
        if shared is None:
            share = (apart.index(source) + 1) / (len(apart) + 1)
            _bent(canvas, picture, source, bar, share)
        else:
            _straight(canvas, picture, bar, shared)


def _straight(
    canvas: Canvas, picture: _Picture, bar: Bar, shared: tuple[int, int]
) -> None:
    """An arrow to a bar from one that it replaces."""
    x, end = picture.columns[bar.born - 1][1], picture.columns[bar.born][0]
    low, high = (_level(picture, d) for d in shared)
    y = high + 0.3 * (low - high)
    canvas.arrow(
        np.array([[x, y], [end, y]]), color=SOFT, width=0.9, head=0.08, order=3.2
    )


def _level(picture: _Picture, dimension: int) -> float:
    return picture.levels[dimension]


def _bent(
    canvas: Canvas, picture: _Picture, source: Bar, bar: Bar, share: float
) -> None:
    """An arrow that leaves a bar above or below and enters another from the left."""
    left, right = picture.columns[bar.born - 1][1], picture.columns[bar.born][0]
    high, low = picture.levels[bar.start], picture.levels[bar.stop]
    end = high + share * (low - high)
    below = source.start < bar.start
    edge = (
        picture.levels[source.stop] + 0.02
        if below
        else picture.levels[source.start] - 0.02
    )
    x = left + _lane(picture, bar) * (right - left)
    points = np.array([[x, edge], [x, (edge + 2 * end) / 3], [x, end], [right, end]])
    if not source.alive(bar.born):
        level = (picture.levels[source.start] + picture.levels[source.stop]) / 2
        middle = (left + right) / 2
        points = np.array([[left, level], [middle, level], [middle, end], [right, end]])
    by_head = bool(bar.born % 2)
    where = bar.where in source.names
    canvas.curve(
        points,
        color=HEAD_COLOR if by_head else SOFT,
        width=1.5 if by_head else 0.9,
        dashes=(0, (2.5, 1.5)) if where else None,
        order=3.2,
    )
    color = HEAD_COLOR if by_head else SOFT
    canvas.head(points[-1], np.array([1.0, 0.0]), color, 0.09, 3.3)


def _lane(picture: _Picture, bar: Bar) -> float:
    """How far into the gap the arrows to a bar run, so that neighbours' keep apart."""
    born = [b.start for b in picture.stream.bars if b.born == bar.born]
    return 0.15 + 0.4 * (sorted(born).index(bar.start) + 0.5) / len(born)


def _read_out(canvas: Canvas, picture: _Picture, states: int) -> None:
    """Arrows from the outputs to the logits, on the right."""
    finals = [
        b for b in picture.stream.bars if not picture.stream.outputs.isdisjoint(b.names)
    ]
    boxes = [box for box in map(picture.box, finals) if box is not None]
    if not boxes:
        return
    x = list(picture.columns.values())[-1][1]
    levels = [(box.low + box.high) / 2 for box in boxes]
    middle = (min(levels) + max(levels)) / 2
    text = f"{states}\nstates"
    width, height = measure(text, 8)
    for level in levels:
        bend = np.array(
            [[x, level], [x + 0.2, level], [x + 0.1, middle], [x + 0.3, middle]]
        )
        canvas.arrow(bend, width=1.2, head=0.09)
    out = Box(
        x + 0.3,
        middle - height / 2 - 0.05,
        x + 0.42 + width,
        middle + height / 2 + 0.05,
    )
    canvas.rectangle(out, fill="#ffffff", edge=INK)
    canvas.text((out.left + out.right) / 2, middle + height / 4, str(states), size=8)
    canvas.text((out.left + out.right) / 2, middle - height / 4, "states", size=8)


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


def _remarks(picture: _Picture) -> list[str]:
    remarks = ["A bold frame marks what the read-out reads."]
    if any(bar.where for bar in picture.stream.bars):
        remarks.append("A dashed arrow comes from the channel that says where to look.")
    if ELISION in picture.columns:
        last = picture.stream.blocks - SHOWN_LAST - 1
        remarks.append(f"Blocks {SHOWN_FIRST} to {last} are not shown.")
    return remarks
