"""Probe maps as tables: how much more a layer says of a variable than the controls."""

from dataclasses import dataclass

from krohn.comparison.inside import Cell, ProbeMap, Variable

SHADES = 10
MOST_ROWS = 40


@dataclass(frozen=True)
class Spot:
    """A cell of the map.

    Attributes:
        shade: From 0 to `SHADES`: what is above all controls, of what can be.
        score: In per cent.
        control: The same of the probe of labels without meaning; None if not run.
        untrained: The same of the network before training; None if not run.
    """

    shade: int
    score: int
    control: int | None
    untrained: int | None


@dataclass(frozen=True)
class HeatRow:
    """A variable."""

    name: str
    held: str
    values: int
    chance: int
    spots: tuple[Spot, ...]


@dataclass(frozen=True)
class HeatMap:
    """What is shown of a network.

    Attributes:
        found: The whole map.
        rows: Of the variables that are found best.
        hidden: How many are left out.
    """

    found: ProbeMap
    rows: tuple[HeatRow, ...]
    hidden: int


def heat_map(found: ProbeMap) -> HeatMap:
    """The rows of a map, as many as can be read."""
    rows = tuple(_row(v) for v in found.variables[:MOST_ROWS])
    return HeatMap(found, rows, len(found.variables) - len(rows))


def _row(variable: Variable) -> HeatRow:
    spots = tuple(_spot(cell, variable.chance) for cell in variable.cells)
    chance = round(100 * variable.chance)
    return HeatRow(variable.name, variable.held, variable.values, chance, spots)


def _spot(cell: Cell, chance: float) -> Spot:
    known = [x for x in (cell.control, cell.untrained) if x is not None]
    usual = max(chance, *known, 0.0)
    above = (cell.score - usual) / (1 - usual) if usual < 1 else 0.0
    return Spot(
        round(SHADES * min(1.0, max(0.0, above))),
        round(100 * cell.score),
        None if cell.control is None else round(100 * cell.control),
        None if cell.untrained is None else round(100 * cell.untrained),
    )
