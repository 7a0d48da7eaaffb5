"""Forms of tables with few units: steps along a sum, and points of a circle."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.compiler import CompileError
from krohn.compiler.decision_paths import Opener, leaves, summands
from krohn.compiler.passes import evaluate_cone
from krohn.compiler.positions import circle_reader
from krohn.compiler.units import Expression, Stage, combination, sharpness
from krohn.network.precision import FloatArray
from krohn.program import Flagged, Map, Match, Operation, Program, Table, is_embedded
from krohn.program.domains import joint

# Tables of several integers that see only one sum of them: steps along that sum.
#
# A table of the difference of two counts needs a unit or two for each value that it
# changes to, not one for each pair of counts, and one hidden layer instead of two. A step
# along Σ w·x passes on the noise of x times w, so that only inputs without noise, which
# the letter determines, may have weights other than ±1.

MOST_INPUTS = 4
MOST_ROWS = 20_000
STEEP, ROUGH = 1 / 16, 1 / 256


@dataclass(frozen=True)
class Linear:
    """A table as a function of a sum.

    Attributes:
        inputs: The channels that are summed.
        weights: Of the inputs.
        sums: The values of the sum, ascending.
        values: The table's value at each of them.
        lost: What a sum of steps in one hidden layer could lose to rounding.
        exact: Whether two hidden layers are to be preferred whatever it loses: heads
            have fetched the parts of the sum, or take the value for a flag.
    """

    inputs: tuple[str, ...]
    weights: tuple[int, ...]
    sums: IntArray
    values: IntArray
    lost: float = 0.0
    exact: bool = False

    @property
    def steep(self) -> bool:
        """Whether one hidden layer would lose too much."""
        return self.lost > STEEP

    @property
    def rough(self) -> bool:
        """Whether two hidden layers are to be preferred: heads compare the values."""
        return self.exact or self.lost > ROUGH

    @property
    def steps(self) -> int:
        """How often the value changes along the sum."""
        return int(np.count_nonzero(np.diff(self.values)))


def linear(
    program: Program,
    name: str,
    stored: Container[str] | None = None,
    deep: bool = False,
) -> Linear | None:
    """The sum that a table of several integers sees, if that makes it smaller.

    Args:
        program: The Program of the table.
        name: Its channel.
        stored: The channels that are there to be read; None if the inputs of the
            table are. Other Maps are opened.
        deep: Whether there may be two hidden layers, so that it may be steep.
    """
    operation = program.operations[name]
    if not isinstance(operation, Map) or not isinstance(operation.function, Table):
        return None
    inputs = operation.inputs if stored is None else leaves(program, name, stored)
    summed = summands(program, name, stored or ())
    if summed:
        alone = _of_a_sum(program, name, operation.function, summed)
        return alone if deep or not alone.steep else None
    whole = operation if set(inputs) == set(operation.inputs) else None
    whole = whole or _joint_table(program, name, inputs)
    sum_form = form(program, name, whole) if whole else None
    if sum_form is None or (sum_form.steep and not deep):
        return None
    # A step takes two units; decided by paths the table takes one for each.
    opener = Opener(program, frozenset(inputs))
    return None if opener.few(name, 2 * sum_form.steps) else sum_form


def _of_a_sum(
    program: Program, name: str, function: Table, parts: tuple[str, ...]
) -> Linear:
    """A table of a sum that is a channel itself, which needs no rows of its parts."""
    sums, values = function.rows[:, 0], function.values
    lost = loss(sums.tolist(), _codes(program, name, values))
    return Linear(parts, (1,) * len(parts), sums, values, lost, exact=True)


def _codes(program: Program, name: str, values: IntArray) -> FloatArray:
    if name in program.vectors:
        return np.array(program.vectors[name])[values]
    if name in program.one_hot:
        return np.eye(int(values.max()) + 1)[values]
    return values[:, None].astype(np.float64)


def _hold_integers(program: Program, names: Iterable[str]) -> bool:
    """Whether each of some channels is laid out as the number that it is."""
    return all(program.code(name) == "integer" for name in names)


def _joint_table(program: Program, name: str, inputs: tuple[str, ...]) -> Map | None:
    """A table of tables as one table, if it is small and its inputs are integers."""
    domains = [program.domains[n] for n in inputs]
    if not 2 <= len(inputs) <= MOST_INPUTS or prod(map(len, domains)) > MOST_ROWS:
        return None
    if not _hold_integers(program, inputs):
        return None
    rows = joint([np.array(domain, dtype=np.int64) for domain in domains])
    columns = dict(zip(inputs, rows.T, strict=True))
    try:
        values = evaluate_cone(program, name, columns)
    except CompileError:
        return None  # Start values meet others there, which do not occur.
    return Map(Table(rows, values), inputs)


def form(program: Program, name: str, operation: Map) -> Linear | None:
    """The sum that a table of several integers sees."""
    function, inputs = operation.function, operation.inputs
    assert isinstance(function, Table)
    if not 2 <= len(inputs) <= MOST_INPUTS or not _hold_integers(program, inputs):
        return None
    exact = tuple(is_embedded(program, program.operations[n]) for n in inputs)
    fewest = _fewest_steps(function, exact)
    if fewest is None:
        return None
    codes = _codes(program, name, fewest.values)
    lost = loss(fewest.sums.tolist(), codes)
    return replace(fewest, inputs=inputs, lost=lost, exact=_is_flag(program, name))


def _is_flag(program: Program, name: str) -> bool:
    """Whether a head looks for the positions where a channel is 1.

    In its scores a flag counts for as many gaps as there are positions, and so does
    its error.
    """
    return any(
        isinstance(operation, Flagged) and operation.where == name
        for operation in program.operations.values()
    ) or is_ranked(program, name)


def is_ranked(program: Program, name: str) -> bool:
    """Whether a head that ranks positions by a rating compares a channel.

    In its scores a key and a query count for as many gaps as there are ranks.
    """
    return any(
        isinstance(operation, Match)
        and operation.rated_channel is not None
        and name in (operation.key, operation.query)
        for operation in program.operations.values()
    )


@lru_cache(maxsize=512)
def _fewest_steps(function: Table, exact: tuple[bool, ...]) -> Linear | None:
    forms = (_along(function, weights) for weights in _weights(function, exact))
    return min((f for f in forms if f), key=lambda f: f.steps, default=None)


def _weights(function: Table, exact: tuple[bool, ...]) -> Iterator[tuple[int, ...]]:
    """Signs; and an exact input, if any, far enough apart to be told from the others."""
    columns = function.rows.T
    span = columns.max(axis=1) - columns.min(axis=1)
    for signs in product((1, -1), repeat=len(exact) - 1):
        weights = (1, *signs)
        yield weights
        for i in np.flatnonzero(exact).tolist():
            apart = 1 + int(span.sum() - span[i])
            yield (*weights[:i], weights[i] * apart, *weights[i + 1 :])


def _along(function: Table, weights: tuple[int, ...]) -> Linear | None:
    """The table along a sum, if it is a function of it."""
    sums, first, index = np.unique(
        function.rows @ np.array(weights), return_index=True, return_inverse=True
    )
    values = function.values[first]
    same = np.array_equal(values[index.reshape(-1)], function.values)
    return Linear((), weights, sums, values) if same else None


def too_steep(domain: Sequence[float], codes: FloatArray) -> bool:
    """Whether a sum of steps over a channel could lose too much to rounding."""
    return loss(domain, codes) > STEEP


def loss(domain: Sequence[float], codes: FloatArray) -> float:
    """The most that a sum of steps over a channel could lose to rounding in binary32.

    A step is the difference of two ReLUs that grow with the distance from it, so a long
    sum of steps has large terms that cancel: n terms of size s lose up to n·s·u in some
    order of summation.
    """
    values = np.array(domain, dtype=np.float64)
    changes, steep = np.abs(np.diff(codes, axis=0)), sharpness(np.diff(values))
    middle = (len(values) - 1) // 2
    above = 2 * steep[middle:] * (values[-1] - values[middle + 1 :]) + 1
    below = 2 * steep[:middle] * (values[:middle] - values[0]) + 1
    sides = [(above, changes[middle:]), (below, changes[:middle])]
    return float(max(_losses(sizes, change).max() for sizes, change in sides))


def _losses(sizes: FloatArray, changes: FloatArray) -> FloatArray:
    """The most that each sum of steps may lose; only steps that change it count."""
    terms = 2 * np.count_nonzero(changes, axis=0)
    return np.asarray(terms * 2.0**-24 * 2 * (changes.T @ sizes))


# Periodic tables read from a circle by sines: no width for the length (thesis, 4.1).
#
# A sum of increments is often needed modulo n only. Two sines of 2πx/n put x on one of n
# points of a circle, whatever x is; ReLUs tell these points apart. A table of steps has
# two units for every change between 0 and the largest sum instead, and a table of two
# channels, of which only x − y modulo n matters, has a unit for every pair.


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
        units = []
        for point in used.tolist():
            missed = self._distance_unit(point, place, stages[1])
            units.append(stages[2].unit(Expression({}, 1.0).add(missed, -1.0)))
        return combination(units, codes[used])

    def _wind(self, dimensions: list[int], stage: Stage) -> list[Expression]:
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
    if not _hold_integers(program, operation.inputs) or len(values) < 4:
        return None
    first, step = rows.min(axis=0), _spacing(rows)
    if step is None:
        return None
    index = (rows - first) // step
    winding = _winding(index, values)
    if winding is None:
        return None
    along, points = winding
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
