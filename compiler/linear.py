"""Tables of several integers that see only one sum of them: steps along that sum.

A table of the difference of two counts needs a unit or two for each value that it
changes to, not one for each pair of counts, and one hidden layer instead of two. A step
along Σ w·x passes on the noise of x times w, so that only inputs without noise, those that
the letter determines, may have weights other than ±1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from algebra.semiautomaton import IntArray
from compiler.paths import Opener
from compiler.program import Map, Program, Table, is_embedded, reads
from network.precision import FloatArray

MOST_INPUTS = 4


@dataclass(frozen=True)
class Linear:
    """A table as a function of a sum.

    Attributes:
        weights: Of the inputs.
        sums: The values of the sum, ascending.
        values: The table's value at each of them.
    """

    weights: tuple[int, ...]
    sums: IntArray
    values: IntArray

    @property
    def steps(self) -> int:
        """How often the value changes along the sum."""
        return int(np.count_nonzero(np.diff(self.values)))


def linear(program: Program, name: str) -> Linear | None:
    """The sum that a table of several integers sees, if that makes it smaller."""
    found = form(program, name)
    if found is None:
        return None
    # A step takes two units; decided by paths the table takes one for each.
    opener = Opener(program, frozenset(reads(program.operations[name])))
    return found if opener.paths(name, 2 * found.steps) is None else None


def form(program: Program, name: str) -> Linear | None:
    """The sum that a table of several integers sees, if steps along it lose little."""
    operation = program.operations[name]
    if not isinstance(operation, Map) or not isinstance(operation.function, Table):
        return None
    function, inputs = operation.function, operation.inputs
    if not 2 <= len(inputs) <= MOST_INPUTS or program.one_hot.intersection(inputs):
        return None
    exact = tuple(is_embedded(program, program.operations[n]) for n in inputs)
    found = _fewest_steps(function, exact)
    if found is None:
        return None
    codes = found.values[:, None].astype(np.float64)
    if name in program.one_hot:
        codes = np.eye(int(found.values.max()) + 1)[found.values]
    return None if too_steep(found.sums.tolist(), codes) else found


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
    return Linear(weights, sums, values) if same else None


def too_steep(domain: Sequence[int], codes: FloatArray) -> bool:
    """Whether a sum of steps over a channel could lose 1/16 to rounding in binary32.

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
    lost = [_lost(sizes, change) for sizes, change in sides]
    return bool((np.array(lost) > 1 / 16).any())


def _lost(sizes: FloatArray, changes: FloatArray) -> FloatArray:
    """What each sum of steps of some sizes may lose; only steps that change it count."""
    terms = 2 * np.count_nonzero(changes, axis=0)
    return np.asarray(terms * 2.0**-24 * 2 * (changes.T @ sizes))
