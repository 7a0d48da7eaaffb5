"""Channels that an MLP writes hold the stated function of what is stored before it.

What decides a channel is found as cubes (`verify.cubes`). Then either every joint value of
what is asked and read is evaluated, or the sums inside the last hidden layer are bounded on
whole cubes (`verify.summands`; docs/soundness.md, section 5).
"""

from collections.abc import Callable, Sequence
from itertools import product
from math import prod

import numpy as np

from algebra.semiautomaton import IntArray
from network.precision import FloatArray
from verify.along import check_along, sum_of
from verify.cubes import Cube, Decider
from verify.errors import Rejected
from verify.mlp import CELLS, Mlp
from verify.noisy import finest
from verify.statement import MOST_ROWS, Channel
from verify.stream import per_value
from verify.summands import Sums, Terms, summand, terms

MOST_TRIED = 100_000
NOTHING = np.zeros(0, dtype=np.int64)


def check_map(mlp: Mlp, channel: Channel) -> FloatArray:
    """The noise of each value of a channel that this MLP writes.

    Raises:
        Rejected: If it does not hold the stated function of what is stored.
    """
    if (summed := sum_of(mlp, channel)) is not None:
        return check_along(mlp, channel, summed)
    units = mlp.writers(channel.span)
    cubes = Decider(mlp.statement, mlp.stream.names).cubes(channel)
    asked = {n for cube, _ in cubes for n in cube if n in mlp.stream.names}
    names = sorted(asked.union(mlp.apart(channel.span, units)))
    few = _sums_integers(mlp, units) and _has_few_rows(mlp, cubes, names)
    if few or len(names) == 1:
        return _by_rows(mlp, channel, units, names, cubes)
    return _by_cubes(mlp, channel, units, names, cubes)


def _by_cubes(
    mlp: Mlp,
    channel: Channel,
    units: IntArray,
    names: Sequence[str],
    cubes: list[tuple[Cube, int]],
) -> FloatArray:
    """The noise of each value, bounded at once where one value is decided."""
    sums = _sums(mlp, channel.span, units, names)
    mlp.statement.effort.spend(len(cubes) * len(names))
    rows, of = sums.rows([cube for cube, _ in cubes], MOST_ROWS)
    results = np.array([value for _, value in cubes], dtype=np.int64)[of]
    distance = _joint_distance(mlp, channel, sums, rows, results)
    return per_value(channel, results, distance)


def _sums_integers(mlp: Mlp, units: IntArray) -> bool:
    """Whether a unit of the first layer reads several integers: steps along a sum.

    Steps are differences of units; what is not asked about cancels in them, but only
    for each of its values by itself.
    """
    integer = [not mlp.statement.channels[n].one_hot for n in mlp.stream.names]
    first = mlp.needed(units)[1] if len(mlp.layers) > 2 else units
    return bool((mlp.reads[1][first][:, integer].sum(axis=1) > 1).any())


def _has_few_rows(
    mlp: Mlp, cubes: list[tuple[Cube, int]], names: Sequence[str]
) -> bool:
    """Whether all joint values of some channels in all cubes can be tried."""
    sizes = {n: len(mlp.statement.channels[n].domain) for n in names}
    mlp.statement.effort.spend(len(cubes) * len(names))
    counts = (prod(len(c[n]) if n in c else sizes[n] for n in names) for c, _ in cubes)
    return sum(counts) <= MOST_TRIED


def _by_rows(
    mlp: Mlp,
    channel: Channel,
    units: IntArray,
    names: Sequence[str],
    cubes: list[tuple[Cube, int]],
) -> FloatArray:
    """The noise of each value, from every row; units may mix channels anywhere."""
    domains = {n: mlp.statement.channels[n].domain for n in names}
    rows: list[tuple[int, ...]] = []
    found: list[int] = []
    for cube, value in cubes:
        count = prod(len(cube.get(n, domains[n])) for n in names)
        if len(rows) + count > MOST_ROWS:
            raise Rejected("an MLP mixes channels with too many joint values")
        mlp.statement.effort.spend(count * (1 + len(names)))
        every = product(*(sorted(cube.get(n, domains[n])) for n in names))
        rows += filter(_has_row(channel, names), every)
        found += [value] * (len(rows) - len(found))
    columns = np.array(rows, dtype=np.int64).T
    values = dict(zip(names, columns, strict=True))
    results = np.array(found, dtype=np.int64)
    target = channel.code(results)
    distance = mlp.distance(channel.span, units, values, target)
    return per_value(channel, results, distance)


def _has_row(
    channel: Channel, names: Sequence[str]
) -> Callable[[tuple[int, ...]], bool]:
    """Whether a table that reads only some channels has a row for values of these.

    Cubes hold combinations for which it has none, and which do not occur.
    """
    if channel.op != "table" or not set(channel.inputs) <= set(names):
        return lambda values: True
    places = [names.index(n) for n in channel.inputs]
    return lambda values: tuple(values[i] for i in places) in channel.table


def _sums(mlp: Mlp, dims: range, units: IntArray, names: Sequence[str]) -> Sums:
    """The sums inside the units that write to ``dims``, taken apart by channels.

    Raises:
        Rejected: If a unit below mixes channels, or the sum adds to another channel.
    """
    if mlp.kept_channels(dims):
        raise Rejected("an MLP adds to dimensions that hold another channel")
    weight = mlp.layers[-2][0][:, units]
    below = mlp.below.of(np.flatnonzero((weight != 0).any(axis=1)))
    grid, summands = 0, []
    for name in names:
        parts = []
        for own in mlp.below.held(name, below.get(name, NOTHING)):
            parts.append(terms(own, weight[below.get(name, NOTHING)]))
            grid = max(grid, finest(own.value))
        summands.append(summand(Terms.joined(parts)))
    (own,) = mlp.below.held(None, below.get(None, NOTHING))
    constant = terms(own, weight[below.get(None, NOTHING)])
    grid = max(grid, finest(own.value)) + finest(weight)
    domains = {n: mlp.statement.channels[n].domain for n in names}
    bias = mlp.layers[-2][1][units]
    return Sums(domains, summands, constant, grid, bias, mlp.precision)


def _joint_distance(
    mlp: Mlp, channel: Channel, sums: Sums, rows: IntArray, results: IntArray
) -> FloatArray:
    """How far the sum can be from the code of its value, ``(rows,)``."""
    dims = channel.span
    units = mlp.writers(dims)
    weight, bias = mlp.layers[-1]
    weight, bias = weight[np.ix_(units, np.array(dims))], bias[dims]
    zero = mlp.inputs({})
    mlp.statement.effort.spend_on_arrays(rows.size * len(units))
    worst = []
    size = max(1, CELLS // max(1, len(units)))
    for low in range(0, len(rows), size):
        inside = sums.add_up(rows[low : low + size])
        hidden = inside.activated(mlp.sines[-1][units])
        target = channel.code(results[low : low + size])
        worst.append(mlp.off(zero, hidden.affine(weight, bias), dims, target))
    return np.concatenate(worst)
