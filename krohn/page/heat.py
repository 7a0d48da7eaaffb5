"""Probe maps as tables: how much more a layer says of a variable than what comes free."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from krohn.compare.probes.interchange import Interchange
from krohn.compare.probes.probe_map import Cell, ProbeMap, Row
from krohn.compare.probes.verdict import Verdict, quality
from krohn.comparison.interpretability import ProbeResult

SHADES = 10
MOST_ROWS = 20
MOST_NAMES = 4
SHORT = {"embedding": "0"}
"""The embedding is what stands before the first layer; columns are narrow on phones."""
STRONGEST: tuple[Verdict, ...] = ("used", "partly used", "readable")
"""Verdicts that come first; among equals, what is read best."""


@dataclass(frozen=True)
class Spot:
    """A variable at a layer.

    Attributes:
        shade: From 0 to `SHADES`: how much is gone of the errors of what comes free.
        score: Accuracy, or R², in per cent.
        control: Accuracy of the control task; None if there is none.
        untrained: The same as the score before training; None if not known.
        readable: Whether it is more than comes free, by the thresholds of the map.
    """

    shade: int
    score: int
    control: int | None
    untrained: int | None
    readable: bool


@dataclass(frozen=True)
class HeatRow:
    """A variable at all layers."""

    name: str
    about: str
    verdict: Verdict
    spots: tuple[Spot, ...]


@dataclass(frozen=True)
class HeatMap:
    """What is shown of a network.

    Attributes:
        title: Which network.
        found: The whole map.
        layers: Names of the columns, short.
        rows: Those that say most.
        hidden: How many are left out.
        exchanged: The causal tests, with the name of the variable.
    """

    title: str
    found: ProbeMap
    layers: tuple[str, ...]
    rows: tuple[HeatRow, ...]
    hidden: int
    exchanged: tuple[tuple[str, Interchange], ...]

    @property
    def variables(self) -> int:
        """How many variables of derived networks were looked for."""
        return sum(self.of(verdict) for verdict in get_args(Verdict))

    def of(self, verdict: Verdict) -> int:
        """How many of them have a verdict."""
        rows = (row for row in self.found.rows if row.kind != "reference")
        return sum(row.verdict == verdict for row in rows)


def heat_map(probed: ProbeResult) -> HeatMap:
    """The rows of a map, as many as can be read, those that say most first."""
    found = probed.found
    order = sorted(found.rows, key=_rank)
    rows = tuple(map(_row, order[:MOST_ROWS]))
    exchanged = tuple((row.name, tested) for row in order for tested in row.exchanged)
    layers = tuple(SHORT.get(n, n.removeprefix("layer ")) for n in found.layers)
    hidden = len(order) - len(rows)
    return HeatMap(probed.title, found, layers, rows, hidden, exchanged)


def _rank(row: Row) -> tuple[bool, bool, int, float]:
    """References last, which are read everywhere; before them what answers tell."""
    known = row.verdict in STRONGEST
    place = STRONGEST.index(row.verdict) if known else len(STRONGEST)
    best = max(quality(cell.trained) for cell in row.cells)
    return row.kind == "reference", row.of_answer, place, -best


def _row(row: Row) -> HeatRow:
    spots = tuple(
        Spot(
            _shade(cell),
            _percent(quality(cell.trained)) or 0,
            _percent(cell.trained.control),
            None if cell.untrained is None else _percent(quality(cell.untrained)),
            cell.readable,
        )
        for cell in row.cells
    )
    return HeatRow(row.name, "; ".join(_about(row)), row.verdict, spots)


def _about(row: Row) -> Iterator[str]:
    first = row.cells[0].trained
    if first.accuracy is None:
        yield "R² of a regression"
    else:
        chance = _percent(first.majority)
        yield f"{row.values} values, the most frequent {chance} %"
    if row.constructions:
        yield f"in {_some(row.constructions)}"
    if len(row.names) > 1:
        yield f"equal to {_some(row.names[1:])}"


def _some(names: tuple[str, ...]) -> str:
    more = len(names) - MOST_NAMES
    named = ", ".join(names[:MOST_NAMES])
    return f"{named} and {more} more" if more > 0 else named


def _shade(cell: Cell) -> int:
    """What is read beyond the references and the control task, of what can be."""
    control = cell.trained.control or 0.0
    learned = quality(cell.trained) - control
    above = learned / (1 - control) if control < 1 else 0.0
    return round(SHADES * max(0.0, min(cell.gain, above)))


def _percent(share: float | None) -> int | None:
    return None if share is None else round(100 * share)
