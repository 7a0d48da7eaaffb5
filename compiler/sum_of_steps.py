"""Tables of several integers that see only one sum of them: steps along that sum.

A table of the difference of two counts needs a unit or two for each value that it
changes to, not one for each pair of counts, and one hidden layer instead of two. A step
along Σ w·x passes on the noise of x times w, so that only inputs without noise, those that
the letter determines, may have weights other than ±1.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.compiler.decision_paths import Opener, leaves, summands
from krohn.compiler.errors import CompileError
from krohn.compiler.passes.base import evaluate_cone
from krohn.network.precision import FloatArray
from krohn.program import Flagged, Map, Program, Table, is_embedded

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
    found = form(program, name, whole) if whole else None
    if found is None or (found.steep and not deep):
        return None
    # A step takes two units; decided by paths the table takes one for each.
    opener = Opener(program, frozenset(inputs))
    return found if opener.paths(name, 2 * found.steps) is None else None


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


def _joint_table(program: Program, name: str, inputs: tuple[str, ...]) -> Map | None:
    """A table of tables as one table, if it is small and its inputs are integers."""
    domains = [program.domains[n] for n in inputs]
    if not 2 <= len(inputs) <= MOST_INPUTS or prod(map(len, domains)) > MOST_ROWS:
        return None
    if program.one_hot.intersection(inputs):
        return None
    rows = np.array(list(product(*domains)), dtype=np.int64)
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
    if not 2 <= len(inputs) <= MOST_INPUTS or program.one_hot.intersection(inputs):
        return None
    exact = tuple(is_embedded(program, program.operations[n]) for n in inputs)
    found = _fewest_steps(function, exact)
    if found is None:
        return None
    codes = _codes(program, name, found.values)
    lost = loss(found.sums.tolist(), codes)
    return replace(found, inputs=inputs, lost=lost, exact=_is_flag(program, name))


def _is_flag(program: Program, name: str) -> bool:
    """Whether a head looks for the positions where a channel is 1.

    In its scores a flag counts for as many gaps as there are positions, and so does
    its error.
    """
    return any(
        isinstance(operation, Flagged) and operation.where == name
        for operation in program.operations.values()
    )


@lru_cache(maxsize=512)
def _fewest_steps(function: Table, exact: tuple[bool, ...]) -> Linear | None:
    found = (_along(function, weights) for weights in _weights(function, exact))
    return min((f for f in found if f), key=lambda f: f.steps, default=None)


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


def too_steep(domain: Sequence[int], codes: FloatArray) -> bool:
    """Whether a sum of steps over a channel could lose too much to rounding."""
    return loss(domain, codes) > STEEP


def loss(domain: Sequence[int], codes: FloatArray) -> float:
    """The most that a sum of steps over a channel could lose to rounding in binary32.

    A step is the difference of two ReLUs that grow with the distance from it, so a long
    sum of steps has large terms that cancel: n terms of size s lose up to n·s·u in some
    order of summation.
    """
    values = np.array(domain, dtype=np.float64)
    changes = np.abs(np.diff(codes, axis=0))
    middle = (len(values) - 1) // 2
    above = 2 * (values[-1] - values[middle + 1 :]) + 1
    below = 2 * (values[:middle] - values[0]) + 1
    sides = [(above, changes[middle:]), (below, changes[:middle])]
    return float(max(_losses(sizes, change).max() for sizes, change in sides))


def _losses(sizes: FloatArray, changes: FloatArray) -> FloatArray:
    """The most that each sum of steps may lose; only steps that change it count."""
    terms = 2 * np.count_nonzero(changes, axis=0)
    return np.asarray(terms * 2.0**-24 * 2 * (changes.T @ sizes))
