"""The residual stream that a model file describes, and its places on the page."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.drawing.canvas import Box, DrawingError, legible
from krohn.network.modelfile import ModelFile
from krohn.program.block_kinds import whatever_blocks_do
from krohn.program.meanings import BRINGS

# The residual stream that a model file describes, as bars to draw.


BLOCKS = whatever_blocks_do("a picture")
BACK = " back"
"""What a head is noted with that fetches a value from some letters before."""
INDEX = re.compile(r"(?<=\[)\d+(?=\])|(?<=@)\d+$")
"""The number of a channel among those of one kind: of ``map3[0]``, or ``earlier0@2``."""


@dataclass(frozen=True)
class Bar:
    """Channels that lie side by side, live equally long and come from one operation.

    Attributes:
        title: The name of the channel, or of all of them together.
        note: What the head does; empty where an MLP or the embedding writes.
        brings: The same as the legend explains it; empty where no head writes.
        names: The channels.
        start: First dimension.
        stop: One past the last dimension.
        born: First snapshot.
        dies: Last snapshot.
        sources: The channels that are read.
        where: The channel that says where to look, if any.
    """

    title: str
    note: str
    brings: str
    names: tuple[str, ...]
    start: int
    stop: int
    born: int
    dies: int
    sources: frozenset[str]
    where: str = ""

    def alive(self, snapshot: int) -> bool:
        """Whether the channel lies in the stream at a snapshot."""
        return self.born <= snapshot <= self.dies

    def overlap(self, other: "Bar") -> tuple[int, int] | None:
        """The dimensions that two bars share; None if there are none."""
        low, high = max(self.start, other.start), min(self.stop, other.stop)
        return (low, high) if low < high else None


@dataclass(frozen=True)
class Stream:
    """The residual stream of a Transformer.

    Attributes:
        features: Position features by name, with their dimensions.
        bars: Everything else.
        outputs: The channels that the read-out reads.
        width: How many dimensions there are.
        blocks: How many blocks there are.
    """

    features: Mapping[str, tuple[int, int]]
    bars: tuple[Bar, ...]
    outputs: frozenset[str]
    width: int
    blocks: int

    @property
    def positions(self) -> list[tuple[dict[str, tuple[int, int]], tuple[int, int]]]:
        """Position features that lie side by side, and the dimensions of all of them."""
        runs = list[tuple[dict[str, tuple[int, int]], tuple[int, int]]]()
        for name, (low, high) in sorted(self.features.items(), key=lambda f: f[1]):
            if runs and runs[-1][1][1] == low:
                together, (first, _) = runs.pop()
                runs.append((together | {name: (low, high)}, (first, high)))
            else:
                runs.append(({name: (low, high)}, (low, high)))
        return runs


def stream(file: ModelFile) -> Stream:
    """The residual stream that a model file describes.

    Raises:
        DrawingError: If the file has no Program, or one that makes no sense.
        Refused: If it has blocks that no picture is about.
    """
    shape, program = file.architecture, file.header.get("program")
    BLOCKS.check(shape)
    if not isinstance(program, dict) or not program.get("channels"):
        raise DrawingError(
            "the model file does not say what its dimensions mean (it has no Program); "
            "compile the machine again to get a file that does"
        )
    try:
        channels = {str(c["name"]): c for c in program["channels"]}
        single = [bar for name in channels for bar in _bar(channels, name)]
        features = {str(n): _span(s) for n, s in program["features"].items()}
        outputs = frozenset(map(str, program["outputs"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _damage_error(f"{type(error).__name__}: {error}") from error
    bars, blocks = tuple(merge_bars(single)), len(shape.blocks)
    residual_stream = Stream(features, bars, outputs, shape.d_model, blocks)
    spans = [
        *residual_stream.features.values(),
        *((b.start, b.stop) for b in residual_stream.bars),
    ]
    if any(not 0 <= low < high <= residual_stream.width for low, high in spans):
        raise _damage_error("a channel lies outside the residual stream")
    if any(
        not 0 <= b.born <= b.dies <= 2 * residual_stream.blocks
        for b in residual_stream.bars
    ):
        raise _damage_error("a channel lives outside the blocks")
    return residual_stream


def _damage_error(reason: str) -> DrawingError:
    return DrawingError(
        f"the model file is damaged: its Program is malformed ({reason})"
    )


def _span(pair: Sequence[int]) -> tuple[int, int]:
    low, high = pair
    return int(low), int(high)


def _bar(channels: Mapping[str, Any], name: str) -> Iterable[Bar]:
    """The bar of one channel; nothing for channels that are never stored."""
    channel = channels[name]
    if "dims" not in channel:
        return
    start, stop = _span(channel["dims"])
    born, dies = _span(channel["snapshots"])
    source = [channel["source"]] if "source" in channel else []
    where = channel.get("where", channel.get("key", channel.get("digits", [""])[0]))
    opened = channel["op"] == "map"
    yield Bar(
        *(name, _note(channel), _brings(channel), (name,), start, stop, born, dies),
        sources=_stored_inputs(channels, name)
        if opened
        else frozenset(map(str, source)),
        where=str(where),
    )


def _stored_inputs(channels: Mapping[str, Any], name: str) -> frozenset[str]:
    """The channels that a map is computed from. Its MLP opens maps that are not stored."""
    born = _span(channels[name]["snapshots"])[0]
    stored_names: set[str] = set()
    seen: set[str] = set()
    todo = [str(n) for n in channels[name]["inputs"]]
    while todo:
        read = todo.pop()
        there = "dims" in channels[read] and channels[read]["snapshots"][0] < born
        if there:
            stored_names.add(read)
        elif channels[read]["op"] == "map" and read not in seen:
            seen.add(read)
            todo += map(str, channels[read]["inputs"])
    return frozenset(stored_names)


def _note(channel: Mapping[str, Any]) -> str:
    notes = {
        "shift": f"{channel.get('by')}{BACK}",
        "shift-by": "from before",
        "prefix-sum": "sum so far",
        "marked-sum": "sum of marked",
        "block-sum": f"sum of {channel.get('size')}",
        "latest-match": "latest match",
        "sibling-latest": "latest, earlier",
        "map": "",
    }
    return notes.get(channel["op"], legible(str(channel["op"]), 12))


def _brings(channel: Mapping[str, Any]) -> str:
    """What the head brings; empty if no head writes the channel."""
    if channel["op"] == "shift":
        return f"the value from {channel['by']} letters before"
    return BRINGS.get(channel["op"], "") if "head" in channel else ""


def merge_bars(bars: Iterable[Bar]) -> list[Bar]:
    """Bars of channels such as ``map3[0]``, ``map3[1]`` that touch become one."""
    merged_bars: list[Bar] = []
    for bar in sorted(bars, key=lambda b: (b.born, b.start)):
        if merged_bars and _continues(merged_bars[-1], bar):
            merged_bars[-1] = _join(merged_bars[-1], bar)
        else:
            merged_bars.append(bar)
    return merged_bars


def _continues(first: Bar, second: Bar) -> bool:
    last, following = first.names[-1], second.names[0]
    numbers = INDEX.search(last), INDEX.search(following)
    return (
        numbers[0] is not None
        and numbers[1] is not None
        and int(numbers[1][0]) == int(numbers[0][0]) + 1
        and INDEX.sub("", last, count=1) == INDEX.sub("", following, count=1)
        and (first.stop, first.born, first.dies, first.note)
        == (second.start, second.born, second.dies, second.note)
    )


def _join(first: Bar, second: Bar) -> Bar:
    names = first.names + second.names
    low, high = (INDEX.search(names[k]) for k in (0, -1))
    assert low is not None
    assert high is not None
    return Bar(
        INDEX.sub(f"{low[0]}..{high[0]}", names[0], count=1),
        first.note,
        first.brings,
        names,
        first.start,
        second.stop,
        first.born,
        first.dies,
        first.sources | second.sources,
        first.where or second.where,
    )


# The places of snapshots and dimensions on the page.


MOST_BLOCKS = 8
SHOWN_FIRST, SHOWN_LAST = 3, 2
WIDTH, WIDEST, COLUMN = 8.6, 10.4, 0.95
"""Of the page, in inches; it is wider only so that columns are not narrower than this."""
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
    room = min(COLUMN, WIDEST / len(snapshots))
    pitch = min(1.75, max(WIDTH / len(snapshots), room))
    gap = min(0.45, max(GAP, 0.25 * pitch))
    return {s: (i * pitch, (i + 1) * pitch - gap) for i, s in enumerate(snapshots)}


def _levels(found: Stream) -> dict[int, float]:
    """Heights at which dimensions begin, downwards; every bar has room for its name."""
    features = [span for _, span in found.positions]
    spans = [*features, *((b.start, b.stop) for b in found.bars)]
    borders = sorted({0, found.width, *(d for span in spans for d in span)})
    sizes = np.diff(borders)
    # Many dimensions of one kind would push all others off the page.
    heights = np.clip(sizes * PER_DIMENSION, ROW, 2.4)
    end = max((high for _, high in features), default=0)
    heights[[low < end for low in borders[:-1]]] = ROW
    scale = min(1.0, TALLEST / heights.sum())
    depths = np.concatenate([[0.0], np.cumsum(heights * scale)])
    return dict(zip(borders, (-depths).tolist(), strict=True))
