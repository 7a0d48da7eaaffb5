"""Periodic tables read from a circle by sines: no width for the length (thesis, 4.1).

A sum of increments is often needed modulo n only. Two sines of 2πx/n put x on one of n
points of a circle, whatever x is; ReLUs tell these points apart. A table of steps has
two units for every change between 0 and the largest sum instead, and a table of two
channels, of which only x − y modulo n matters, has a unit for every pair.
"""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.compiler.positions import circle_reader
from krohn.compiler.units import Expression, Stage, combination
from krohn.network.precision import FloatArray
from krohn.program import Map, Operation, Program, Table


@dataclass(frozen=True, slots=True)
class Circle:
    """Tuples of numbers x, put on the point offset + Σ rate·x modulo the points.

    Attributes:
        rates: How many points each number moves by when it grows by 1.
        offset: The point of all zeros.
        rows: For each point a row of the table that lies on it.
    """

    rates: tuple[float, ...]
    offset: float
    rows: tuple[int, ...]

    @property
    def points(self) -> int:
        """How many points there are, at least 2."""
        return len(self.rows)

    @property
    def waves(self) -> int:
        """How many sines it needs: the sine of half turns is always 0."""
        return 1 if self.points == 2 else 2

    def read_table(
        self, dimensions: list[int], stages: list[Stage], codes: FloatArray
    ) -> list[Expression]:
        """A table of the numbers in residual dimensions, through three hidden layers.

        The last one has a unit for each point, exactly 1 on it and exactly 0 elsewhere.

        Args:
            dimensions: The dimensions of the numbers.
            stages: The hidden layers.
            codes: ``(rows, outputs)``: the outputs for each row of the table.
        """
        place = self._wind(dimensions, stages[0])
        codes = codes[list(self.rows)]
        used = np.flatnonzero(codes.any(axis=1))
        found = []
        for point in used.tolist():
            missed = self._distance_unit(point, place, stages[1])
            found.append(stages[2].unit(Expression({}, 1.0).add(missed, -1.0)))
        return combination(found, codes[used])

    def _wind(self, dimensions: list[int], stage: Stage) -> list[Expression]:
        """Cosine and sine of the angle of the point."""
        turn = 2 * np.pi / self.points
        terms = {d: turn * r for d, r in zip(dimensions, self.rates, strict=True)}
        angle = turn * self.offset
        phases = [angle + np.pi / 2, angle][: self.waves]
        return [stage.unit(Expression(dict(terms), p), "sine") for p in phases]

    def _distance_unit(
        self, point: int, place: list[Expression], stage: Stage
    ) -> Expression:
        """A unit that is 0 on a point and at least 1 on every other one."""
        threshold, gain = circle_reader(self.points)
        angle = 2 * np.pi * point / self.points
        inside = Expression({}, gain * threshold)
        for wave, coordinate in zip(
            place, (np.cos(angle), np.sin(angle)), strict=False
        ):
            inside.add(wave, -gain * float(coordinate))
        return stage.unit(inside)


def circle_of(program: Program, operation: Operation) -> Circle | None:
    """The circle that a table can be read from with fewer units than it has otherwise.

    Its inputs must be integers with evenly spaced values, and its result a function of
    a sum of multiples of them modulo some number.
    """
    if not isinstance(operation, Map) or not isinstance(operation.function, Table):
        return None
    rows, values = operation.function.rows, operation.function.values
    if program.one_hot.intersection(operation.inputs) or len(values) < 4:
        return None
    first, step = rows.min(axis=0), _spacing(rows)
    if step is None:
        return None
    index = (rows - first) // step
    found = _winding(index, values)
    if found is None:
        return None
    along, points = found
    place = (index @ along) % points
    at = np.unique(place, return_index=True)[1]
    if not np.array_equal(values[at][place], values):
        return None
    rates = along / step
    circle = Circle(tuple(rates.tolist()), float(-rates @ first), tuple(at.tolist()))
    cheap = circle.waves + 2 * points < _usual(values, len(operation.inputs))
    return circle if cheap and points > 1 else None


def _usual(values: IntArray, inputs: int) -> int:
    """Units of a table of steps, or of one unit for each row."""
    if inputs == 1:
        return 2 * int(np.count_nonzero(np.diff(values)))
    return int(np.count_nonzero(values))


def _spacing(rows: IntArray) -> IntArray | None:
    """The distance of neighbouring values of each column; None if it varies."""
    steps = [np.diff(np.unique(column)) for column in rows.T]
    if any(not len(s) or np.ptp(s) for s in steps):
        return None
    return np.array([s[0] for s in steps])


def _winding(index: IntArray, values: IntArray) -> tuple[IntArray, int] | None:
    """How many points each number moves by, and how many points there could be."""
    lines = []
    for i in range(index.shape[1]):
        on = np.flatnonzero((np.delete(index, i, axis=1) == 0).all(axis=1))
        on = on[np.argsort(index[on, i])]
        if len(on) <= index[:, i].max():
            return None
        lines.append(values[on])
    first, points = lines[0], _period(lines[0])
    along = [1]
    for line in lines[1:]:
        rates = sorted(range(points), key=lambda c: min(c, points - c))
        moved = (c for c in rates if _follows(first, line, c, points))
        rate = next(moved, None)
        if rate is None:
            return None
        along.append(rate if 2 * rate <= points else rate - points)
    return np.array(along), points


def _follows(first: IntArray, line: IntArray, rate: int, points: int) -> bool:
    place = rate * np.arange(len(line)) % points
    return np.array_equal(first[place], line)


def _period(values: IntArray) -> int:
    """The least n > 0 such that values n places apart are equal."""
    repeats = (n for n in range(1, len(values)) if (values[n:] == values[:-n]).all())
    return next(repeats, len(values))
