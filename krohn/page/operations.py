"""The operations of a Program as rows of a table: where, of what, noise in and out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from krohn.drawing.residual_stream import Bar, stream

MOST_ROWS = 150


@dataclass(frozen=True)
class Operation:
    """One operation, or several alike that lie side by side.

    Attributes:
        name: Of the channel, or of all of them.
        does: What it computes, of which channels.
        place: Which sublayer writes it, and to which dimensions.
        noise_in: By how much what it reads can be off; None if nothing is known.
        noise_out: The same of what it writes.
    """

    name: str
    does: str
    place: str
    noise_in: float | None
    noise_out: float | None


def operations(
    header: Mapping[str, Any], noise: Mapping[str, float], embedded: bool
) -> tuple[list[Operation], int]:
    """The operations that are stored, and how many are left out.

    Args:
        header: Of a model file.
        noise: By how much channels can be off, as a proof established it.
        embedded: Whether it established that the embedding is exact.

    Raises:
        DrawingError: If there is no Program, or one that makes no sense.
    """
    found = stream(header)
    known = dict(noise)
    if embedded:
        known |= {n: 0.0 for bar in found.bars if not bar.born for n in bar.names}
    channels = {str(c["name"]): c for c in header["program"]["channels"]}
    bars = sorted(found.bars, key=lambda bar: (bar.born, bar.start))
    rows = [_operation(bar, channels, known) for bar in bars[:MOST_ROWS]]
    return rows, len(bars) - len(rows)


def _operation(
    bar: Bar, channels: Mapping[str, Any], known: Mapping[str, float]
) -> Operation:
    read = {*bar.sources, *([bar.where] if bar.where in channels else [])}
    return Operation(
        bar.title,
        _does(bar, channels[bar.names[0]]),
        f"{_sublayer(bar.born)}, {_span(bar.start, bar.stop)}",
        _most(read, known) if bar.born else None,
        _most(bar.names, known),
    )


def _most(names: Iterable[str], known: Mapping[str, float]) -> float | None:
    """The largest; None if one is not known."""
    found = [known.get(name) for name in names]
    if any(n is None for n in found):
        return None
    return max((n for n in found if n is not None), default=0.0)


def _does(bar: Bar, channel: Mapping[str, Any]) -> str:
    kind = bar.note or str(channel.get("function", channel["op"]))
    sources = sorted(bar.sources)
    of = ", ".join(sources[:4]) + (f", … ({len(sources)})" if len(sources) > 4 else "")
    if channel["op"] == "at":
        return f"{of} at position {bar.where.removesuffix('[0]')}"
    where = f" where {bar.where}" if bar.where else ""
    return f"{kind} of {of or 'the letter'}{where}"


def _sublayer(snapshot: int) -> str:
    if not snapshot:
        return "embedding"
    kind = "attention" if snapshot % 2 else "mlp"
    return f"{kind} {(snapshot - 1) // 2}"


def _span(start: int, stop: int) -> str:
    return f"dim {start}" if stop == start + 1 else f"dims {start} to {stop - 1}"
