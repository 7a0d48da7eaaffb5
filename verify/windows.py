"""Windows: what the last letters together do to a point (docs/soundness.md, section 2.1).

A *letter map* is a family of channels, one for each point p, that say where the letter of
a position takes p; at BOS it is the identity. A *window* of width w and point p holds, at
every position t, the image of p under the letter maps of the last min(w, t) positions.
Selecting among the windows of width w of all points by one that stands exactly w
positions earlier gives a window of the summed width. A window of T letters or more is
the state of a machine whose letters are the letter maps: one cell of memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from verify.statement import Channel, Reach, Statement


@dataclass(frozen=True)
class Window:
    """The last ``width`` letter maps of ``family``, applied to ``point``."""

    family: tuple[str, ...]
    width: int
    point: int


def whole_windows(
    statement: Statement, reach: Mapping[str, Reach]
) -> dict[str, Window]:
    """The channels that are windows of all letters of words up to T."""
    known: dict[str, Window] = {}
    for channel in statement.channels.values():
        if channel.op == "select":
            window = _compose(statement, channel, known, reach)
            if window is not None:
                known[channel.name] = window
    return {n: w for n, w in known.items() if w.width >= statement.length}


def _compose(
    statement: Statement,
    channel: Channel,
    known: Mapping[str, Window],
    reach: Mapping[str, Reach],
) -> Window | None:
    index, *values = (statement.behind[n] for n in channel.inputs)
    found = _family(statement, values, known, reach)
    if found is None:
        return None
    family, width = found
    if index.op != "shift" or index.by != width:
        return None
    source = statement.behind[index.inputs[0]].name
    earlier = known.get(source)
    if earlier is None and source in family:
        earlier = _letter_map(family, family.index(source), reach)
    if earlier is None or earlier.family != family:
        return None
    return Window(family, width + earlier.width, earlier.point)


def _family(
    statement: Statement,
    values: list[Channel],
    known: Mapping[str, Window],
    reach: Mapping[str, Reach],
) -> tuple[tuple[str, ...], int] | None:
    """The family and width of which the p-th value is the window of point p, if any.

    A point that every letter fixes is a window of every width.
    """
    first = next((known[v.name] for v in values if v.name in known), None)
    if first is None:
        family, width = tuple(v.name for v in values), 1
    else:
        family, width = first.family, first.width
    if len(values) != len(family):
        return None
    for p, value in enumerate(values):
        letter = _letter_map(family, p, reach)
        fixed = value.name == family[p] and reach[value.name] == Reach(
            p, frozenset({p})
        )
        window = known.get(value.name, letter)
        if letter is None or not (window == Window(family, width, p) or fixed):
            return None
    return family, width


def _letter_map(
    family: tuple[str, ...], point: int, reach: Mapping[str, Reach]
) -> Window | None:
    """A window of one letter: any channel of points that is ``point`` itself at BOS."""
    found = reach[family[point]]
    if found.bos != point or found.most >= len(family):
        return None
    return Window(family, 1, point)
