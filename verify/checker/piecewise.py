"""Piecewise linear functions: units along directions (docs/proofs/mlps.md, 14c)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm

import numpy as np

from krohn.program.errors import demand
from krohn.program.expressions import Expression
from krohn.program.operations.map import Map
from krohn.program.piecewise import Piecewise
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import FINEST, Sums, finest
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.mlp import Layers, Mlp
from krohn.verify.checker.model_file import FloatArray, StrArray
from krohn.verify.checker.passed_sums import (
    bound_passed_sum,
    independent,
    passing_on,
    total,
    whole_gain,
)
from krohn.verify.checker.residual_stream import Stream, per_value

MOST_POINTS, MOST_CELLS = 2**20, 2**22
EXACT = 2.0**53
"""Below it all whole numbers are exact in float64."""
Direction = tuple[tuple[int, int], ...]
"""``(dimension, factor)`` of a whole number z = Σ factor·x, without a common divisor."""


def bound_noise(mlp: Mlp, channel: Channel) -> FloatArray:
    """``(values,)``: the noise of each value of a piecewise linear function."""
    ridges = Ridges(channel, mlp.layers, mlp.activations, mlp.stream)
    return per_value(channel, channel.domain, total(mlp, channel, *ridges.noise()))


@dataclass(frozen=True)
class Along:
    """All terms weight·max(slope·z + bias, 0) of a sum along one direction.

    Attributes:
        slope: ``(terms,)``.
        bias: ``(terms,)``.
        weight: ``(terms,)``.
        place: The unit of the first hidden layer that each is; empty for stated terms.
    """

    slope: FloatArray
    bias: FloatArray
    weight: FloatArray
    place: Sequence[int] = ()

    def at(self, z: FloatArray) -> FloatArray:
        """``(points,)``: the sum at whole numbers, exactly.

        Raises:
            Refused: If float64 might round it.
        """
        demand(len(z) * len(self.slope) <= MOST_CELLS, "too many units and points")
        inner, grid = max(finest(self.slope), finest(self.bias)), finest(self.weight)
        demand(
            max(inner, grid) <= FINEST, "a piecewise function is too large or too fine"
        )
        inside = z[:, None] * self.slope + self.bias
        size = np.abs(z[:, None] * self.slope) + np.abs(self.bias) + 1
        most = size @ np.abs(self.weight) + size.max(axis=1, initial=0)
        demand(
            most * 2.0 ** (inner + grid) < EXACT, "a piecewise function is too large"
        )
        return np.asarray(np.maximum(inside, 0.0) @ self.weight)


NOTHING = Along(np.zeros(0), np.zeros(0), np.zeros(0))


@dataclass(frozen=True)
class Ridges:
    """A channel that an MLP writes as a sum of functions of single whole numbers.

    Attributes:
        channel: The channel, a piecewise linear function of stored integers.
        layers: The weights of the MLP.
        activations: The names of those of its units.
        stream: What is known before it.
    """

    channel: Channel
    layers: Layers
    activations: list[StrArray]
    stream: Stream

    def noise(self) -> tuple[float, float]:
        """How far the sum can be from the function, at any values of its inputs.

        Returns:
            The distance before the sum is stored, and the bias that is part of it.

        Raises:
            Refused: If the units do not add up to the function.
        """
        demand(self.channel.integer, "a piecewise function is written one-hot")
        (at,) = self.channel.span
        passing = passing_on(self.layers, self.activations, at)
        at, gain = (passing[-1].place if passing else at), whole_gain(passing)
        weight, bias = (
            self.layers[1][0][:, at] * gain,
            float(self.layers[1][1][at]) * gain,
        )
        units = self._units(weight)
        self._add_up(units, bias)
        parts, form = [self._part(*each) for each in units.items()], self.stream.form
        off = independent([(part, part.value) for part in parts], bias, form)
        if all(unit.name == "relu" for unit in passing):
            return off, bias
        return bound_passed_sum(passing, self.channel.domain, off, bias, form), 0.0

    def _units(self, weight: FloatArray) -> dict[Direction, Along]:
        """The units that count, by the whole number that they depend on."""
        first, bias = self.layers[0]
        used = np.flatnonzero(weight)
        kinds = self.activations[0][used]
        demand(
            np.isin(kinds, ("relu", "gelu", "gelu_new")), "a piece is no rectified unit"
        )
        by_direction: dict[Direction, list[tuple[float, int]]] = {}
        for place in used.tolist():
            dims = np.flatnonzero(first[:, place]).tolist()
            direction, slope = primitive({d: float(first[d, place]) for d in dims})
            by_direction.setdefault(direction, []).append((slope, place))
        result = {}
        for direction, each in by_direction.items():
            places = [place for _, place in each]
            slopes = np.array([slope for slope, _ in each])
            result[direction] = Along(slopes, bias[places], weight[places], places)
        return result

    @cached_property
    def _inputs(self) -> list[int]:
        channels = [self.stream.channel(n) for n in self.channel.inputs]
        demand([c.integer for c in channels], "a one-hot channel is added up")
        return [c.span.start for c in channels]

    @cached_property
    def _owner(self) -> Mapping[int, Channel]:
        """The live integer channel of each dimension."""
        live = map(self.stream.channel, self.stream.noise)
        return {c.span.start: c for c in live if c.integer}

    @property
    def _function(self) -> Expression:
        operation = self.channel.operation
        assert isinstance(operation, Map)
        assert isinstance(operation.function, Piecewise)
        return operation.function.expression

    def _collect_terms(self) -> tuple[dict[Direction, Along], dict[int, float]]:
        """The terms max(e, 0) of the function; and its slope in each dimension."""
        by_direction: dict[Direction, list[tuple[float, int, int]]] = {}
        linear: dict[int, float] = {}
        for atom, weight in self._function.terms:
            if isinstance(atom.inside, int):
                dim = self._inputs[atom.inside]
                linear[dim] = linear.get(dim, 0.0) + weight
                continue
            slopes: dict[int, float] = {}
            for one, factor in atom.inside.terms:
                assert isinstance(one.inside, int)
                dim = self._inputs[one.inside]
                slopes[dim] = slopes.get(dim, 0.0) + factor
            direction, slope = primitive({d: s for d, s in slopes.items() if s})
            term = (slope, atom.inside.constant, weight)
            by_direction.setdefault(direction, []).append(term)
        terms = {d: Along(*np.array(each, float).T) for d, each in by_direction.items()}
        return terms, linear

    def _points(self, direction: Direction) -> FloatArray:
        """Every z that there can be, ascending."""
        low = high = 0
        for dim, factor in direction:
            demand(dim in self._owner, "a piecewise function reads no integer")
            ends = [factor * int(x) for x in self._owner[dim].domain[[0, -1]]]
            low, high = low + min(ends), high + max(ends)
        demand(high - low < MOST_POINTS, "a piecewise function has too many points")
        demand(max(-low, high) < EXACT, "a piecewise function is too large")
        return np.arange(low, high + 1, dtype=np.float64)

    def _add_up(self, units: Mapping[Direction, Along], bias: float) -> None:
        """Refuse units that do not add up to the function at all whole numbers.

        Along each direction the units and the function differ by an affine function of
        z, and all these differences together are 0 (Theorem 14c).
        """
        stated, linear = self._collect_terms()
        rest = {dim: Fraction(-slope) for dim, slope in linear.items()}
        constant = Fraction(bias) - self._function.constant
        for direction in {**units, **stated}:
            z = self._points(direction)
            given, wanted = (x.get(direction, NOTHING).at(z) for x in (units, stated))
            apart = _difference(given, wanted)
            demand(np.diff(apart, 2) == 0, "units bend where the function does not")
            slope = Fraction(apart[1] - apart[0]) if len(z) > 1 else Fraction(0)
            constant += Fraction(apart[0]) - slope * int(z[0])
            for dim, factor in direction:
                rest[dim] = rest.get(dim, Fraction(0)) + slope * factor
        for dim, left in rest.items():
            domain = self._owner[dim].domain
            demand(
                left == 0 or len(domain) == 1,
                "the slopes of units are not those stated",
            )
            constant += left * int(domain[0])
        demand(constant == 0, "units are off by a constant")

    def _part(self, direction: Direction, along: Along) -> Sums:
        """``(points, 1)``: what the units along a direction add, as computed."""
        z, stream = self._points(direction)[:, None], self.stream
        noise = {d: float(stream.read(self._owner[d].name).max()) for d, _ in direction}
        sizes = np.array([abs(factor) * 1.0 for _, factor in direction])
        error = (Interval.of(sizes) @ np.array([noise[d] for d, _ in direction])).most
        first, bias = self.layers[0]
        dims = [d for d, _ in direction]
        weight = first[np.ix_(dims, along.place)]
        reach = [float(self._owner[d].domain[-1]) + noise[d] for d in dims]
        own = np.array([stream.alone(self._owner[d].name) for d in dims])
        value = z * along.slope
        full = np.ones_like(value)
        sums = Sums(
            value,
            (along.slope * error * full)[None],
            (Interval.of(own) @ np.abs(weight)).high * full,
            (np.array(reach) @ np.abs(weight)) * full,
            len(dims) * full,
            full * (error == 0) > 0,
            finest(weight),
            stream.form,
        )
        names = self.activations[0][list(along.place)]
        units = sums.store_with_bias(bias[list(along.place)]).apply_activations(names)
        return units.products(along.weight[:, None])


def _difference(given: FloatArray, said: FloatArray) -> FloatArray:
    """Differences that are exact, as are their first and second differences.

    Raises:
        Refused: If float64 might round one.
    """
    grid, size = max(finest(given), finest(said)), np.abs(given) + np.abs(said)
    fits_grid = grid <= FINEST and np.all(size * 2.0**grid < EXACT / 8)
    demand(
        fits_grid, "units and a piecewise function are too large or too fine together"
    )
    return np.asarray(given - said)


def primitive(slopes: Mapping[int, float]) -> tuple[Direction, float]:
    """The direction of an affine form, with whole factors that have no common divisor.

    Returns:
        The direction, its first factor positive; and s with slope = s·factor throughout.
    """
    exact = {dim: Fraction(slope) for dim, slope in sorted(slopes.items())}
    if not exact:
        return (), 0.0
    common = lcm(*(s.denominator for s in exact.values()))
    whole = {dim: int(s * common) for dim, s in exact.items()}
    divisor = gcd(*whole.values())
    divisor = divisor if next(iter(whole.values())) > 0 else -divisor
    direction = tuple((dim, factor // divisor) for dim, factor in whole.items())
    return direction, float(Fraction(divisor, common))
