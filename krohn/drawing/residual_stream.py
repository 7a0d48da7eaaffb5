"""What a model file says about its residual stream, read into bars to draw."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from krohn.drawing.canvas import DrawingError, legible

INDEX = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True)
class Bar:
    """Channels that lie side by side, live equally long and come from one operation.

    Attributes:
        title: The name of the channel, or of all of them together.
        note: What the head does; empty where an MLP or the embedding writes.
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


def stream(header: Mapping[str, Any]) -> Stream:
    """The residual stream that a model file's header describes.

    Raises:
        DrawingError: If the header has no Program, or one that makes no sense.
    """
    architecture, program = header["architecture"], header.get("program")
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
        raise _damaged(f"{type(error).__name__}: {error}") from error
    blocks = len(architecture["blocks"])
    found = Stream(
        features, tuple(merged(single)), outputs, architecture["d_model"], blocks
    )
    _check(found)
    return found


def _damaged(reason: str) -> DrawingError:
    return DrawingError(
        f"the model file is damaged: its Program is malformed ({reason})"
    )


def _check(found: Stream) -> None:
    spans = [*found.features.values(), *((b.start, b.stop) for b in found.bars)]
    if any(not 0 <= low < high <= found.width for low, high in spans):
        raise _damaged("a channel lies outside the residual stream")
    if any(not 0 <= b.born <= b.dies <= 2 * found.blocks for b in found.bars):
        raise _damaged("a channel lives outside the blocks")


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
        *(name, _note(channel), (name,), start, stop, born, dies),
        sources=_stored(channels, name) if opened else frozenset(map(str, source)),
        where=str(where),
    )


def _stored(channels: Mapping[str, Any], name: str) -> frozenset[str]:
    """What a map is computed from: its MLP opens the maps that are not there before."""
    born = _span(channels[name]["snapshots"])[0]
    found: set[str] = set()
    seen: set[str] = set()
    todo = [str(n) for n in channels[name]["inputs"]]
    while todo:
        read = todo.pop()
        there = "dims" in channels[read] and channels[read]["snapshots"][0] < born
        if there:
            found.add(read)
        elif channels[read]["op"] == "map" and read not in seen:
            seen.add(read)
            todo += map(str, channels[read]["inputs"])
    return frozenset(found)


def _note(channel: Mapping[str, Any]) -> str:
    notes = {
        "shift": f"shift {channel.get('by')}",
        "prefix-sum": "prefix sum",
        "marked-sum": "marked sum",
        "block-sum": f"block of {channel.get('size')}",
        "latest-match": "latest match",
        "map": "",
    }
    return notes.get(channel["op"], legible(str(channel["op"]), 12))


def merged(bars: Iterable[Bar]) -> list[Bar]:
    """Bars of channels such as ``map3[0]``, ``map3[1]`` that touch become one."""
    found: list[Bar] = []
    for bar in sorted(bars, key=lambda b: (b.born, b.start)):
        if found and _continues(found[-1], bar):
            found[-1] = _joined(found[-1], bar)
        else:
            found.append(bar)
    return found


def _continues(first: Bar, second: Bar) -> bool:
    last, following = first.names[-1], second.names[0]
    numbers = INDEX.search(last), INDEX.search(following)
    return (
        numbers[0] is not None
        and numbers[1] is not None
        and int(numbers[1][1]) == int(numbers[0][1]) + 1
        and INDEX.sub("[]", last, count=1) == INDEX.sub("[]", following, count=1)
        and (first.stop, first.born, first.dies, first.note)
        == (second.start, second.born, second.dies, second.note)
    )


def _joined(first: Bar, second: Bar) -> Bar:
    names = first.names + second.names
    low, high = (INDEX.search(names[k]) for k in (0, -1))
    assert low is not None
    assert high is not None
    return Bar(
        INDEX.sub(f"[{low[1]}..{high[1]}]", names[0], count=1),
        first.note,
        names,
        first.start,
        second.stop,
        first.born,
        first.dies,
        first.sources | second.sources,
        first.where or second.where,
    )
