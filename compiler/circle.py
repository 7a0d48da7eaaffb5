"""Periodic tables read from a circle by sines: no width for the length (thesis, 4.1).

A sum of increments is often needed modulo n only. Two sines of 2πx/n put x on one of n
points of a circle, whatever x is; ReLUs tell these points apart. A table of steps has
two units for every change between 0 and the largest sum instead.
"""

from dataclasses import dataclass

import numpy as np

from algebra.semiautomaton import IntArray
from compiler.numerics import circle_reader
from compiler.program import Map, Program, Table
from compiler.units import Expression, Stage, combination
from network.precision import FloatArray


@dataclass(frozen=True, slots=True)
class Circle:
    """Evenly spaced values ``first``, ``first + step``, … wound around ``points`` points.

    Attributes:
        first: The value on the point of angle 0.
        step: The distance between neighbouring values.
        points: n, at least 2.
    """

    first: int
    step: int
    points: int

    @property
    def waves(self) -> int:
        """How many sines it needs: the sine of half turns is always 0."""
        return 1 if self.points == 2 else 2

    def read(
        self, dimension: int, stages: list[Stage], codes: FloatArray
    ) -> list[Expression]:
        """A table of the value in a residual dimension, through three hidden layers.

        The last one has a unit for each point, exactly 1 on it and exactly 0 elsewhere.

        Args:
            dimension: Where the value stands.
            stages: The hidden layers.
            codes: ``(values, outputs)``: what to write for each value, in order.
        """
        place = self._wind(dimension, stages[0])
        codes = codes[: self.points]
        used = np.flatnonzero(codes.any(axis=1))
        found = []
        for point in used.tolist():
            missed = self._missed(point, place, stages[1])
            found.append(stages[2].unit(Expression({}, 1.0).add(missed, -1.0)))
        return combination(found, codes[used])

    def _wind(self, dimension: int, stage: Stage) -> list[Expression]:
        """Cosine and sine of the angle of the value."""
        turn = 2 * np.pi / (self.points * self.step)
        angle = -turn * self.first
        phases = [angle + np.pi / 2, angle][: self.waves]
        return [stage.wave(Expression({dimension: turn}, p)) for p in phases]

    def _missed(self, point: int, place: list[Expression], stage: Stage) -> Expression:
        """A unit that is 0 on a point and at least 1 on every other one."""
        threshold, gain = circle_reader(self.points)
        angle = 2 * np.pi * point / self.points
        inside = Expression({}, gain * threshold)
        for wave, coordinate in zip(
            place, (np.cos(angle), np.sin(angle)), strict=False
        ):
            inside.add(wave, -gain * float(coordinate))
        return stage.unit(inside)


def circle_of(program: Program, operation: Map) -> Circle | None:
    """The circle that a table can be read from with fewer units than it has steps.

    It must be a table of one integer channel with evenly spaced values, and repeat
    itself at least once.
    """
    if not isinstance(operation.function, Table) or len(operation.inputs) != 1:
        return None
    (read,) = operation.inputs
    values, domain = operation.function.values, np.array(program.domains[read])
    if read in program.one_hot or len(domain) < 4 or np.ptp(np.diff(domain)):
        return None
    circle = Circle(int(domain[0]), int(domain[1] - domain[0]), _period(values))
    steps = np.count_nonzero(np.diff(values))
    cheap = circle.waves + 2 * circle.points < 2 * steps
    return circle if cheap and circle.points > 1 else None


def _period(values: IntArray) -> int:
    """The least n > 0 such that values n places apart are equal."""
    repeats = (n for n in range(1, len(values)) if (values[n:] == values[:-n]).all())
    return next(repeats, len(values))
