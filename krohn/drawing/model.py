"""Drawing a compiled model: what lies where in its residual stream and when."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure

from krohn.algebra.wording import count
from krohn.drawing.bars import FILLS, draw_bar, draw_feature, writer
from krohn.drawing.canvas import FAINT, INK, SOFT, Box, Canvas, legible, measure
from krohn.drawing.reads import draw_read_out, draw_reads
from krohn.drawing.residual_stream import stream
from krohn.drawing.rnn import draw_rnn
from krohn.drawing.state_space import draw_state_space
from krohn.drawing.stream_plan import ELISION, SHOWN_FIRST, SHOWN_LAST, Plan, plan_of
from krohn.network.architecture import kind_of, parameters
from krohn.network.modelfile import ModelFile

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
    kind = kind_of(header["architecture"])
    if kind.bounded:
        remarks = draw_state_space(canvas, file)
    elif kind.recurrent:
        remarks = draw_rnn(canvas, file)
    else:
        plan = plan_of(stream(header))
        remarks = _draw_stream(canvas, plan, header)
    canvas.notes(remarks)
    canvas.heading(*_title(header))
    return canvas.finish()


def _title(header: Mapping[str, Any]) -> tuple[str, str]:
    architecture = header["architecture"]
    name = legible(
        str((header.get("source") or header["machine"]).get("name", "machine"))
    )
    facts = [
        _construction(header),
        f"T = {header['claim']['length']}" if header["claim"].get("length") else "",
        architecture["dtype"],
        "strict" if architecture.get("strict") else "",
        _sizes(architecture),
        f"{parameters(architecture):,} parameters",
    ]
    return f"{name} as {kind_of(architecture).title}", " · ".join(
        legible(f, 60) for f in facts if f
    )


def _construction(header: Mapping[str, Any]) -> str:
    """As the first object of the header says that names it; empty if none does."""
    every = [header, header.get("program"), header["claim"], header["architecture"]]
    objects = (h for h in every if isinstance(h, dict))
    return str(next((h["construction"] for h in objects if "construction" in h), ""))


def _sizes(architecture: Mapping[str, Any]) -> str:
    kind = kind_of(architecture)
    if kind.bounded:
        return count(len(architecture["layers"]), "layer")
    if kind.recurrent:
        return f"{architecture['hidden']:,} hidden units"
    blocks = count(len(architecture["blocks"]), "block")
    return f"{blocks} · {architecture['d_model']} dimensions"


def _draw_stream(canvas: Canvas, plan: Plan, header: Mapping[str, Any]) -> list[str]:
    _stripes(canvas, plan)
    _dimensions(canvas, plan)
    for name, span in plan.stream.features.items():
        draw_feature(canvas, plan, name, span)
    for bar in plan.stream.bars:
        draw_bar(canvas, plan, bar)
    for bar in plan.stream.bars:
        draw_reads(canvas, plan, bar)
    shows = "outputs" if "source" in header else header["claim"].get("shows", "states")
    draw_read_out(canvas, plan, header["architecture"]["outputs"], shows)
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
        name = str(low) if high == low + 1 else f"{low}–{high - 1}"
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


def _remarks(plan: Plan) -> list[str]:
    remarks = ["A bold frame marks what the read-out reads."]
    if any(bar.where for bar in plan.stream.bars):
        remarks.append(
            "A dashed arrow comes from the channel that says which position to read."
        )
    if ELISION in plan.columns:
        last = plan.stream.blocks - SHOWN_LAST - 1
        remarks.append(f"Blocks {SHOWN_FIRST} to {last} are not shown.")
    return remarks
