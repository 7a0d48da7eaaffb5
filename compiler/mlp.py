"""ReLU tables: the MLP of a block from the Maps that it computes (Lemmas 10, 11, 14).

Steps between neighbouring integers have ramps of width 1/2 around the
midpoint, so that every value has a plateau of ±1/4 on which noise is removed; all
constants are multiples of 1/2 and survive every precision that can hold the integers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from compiler.circle import Circle, circle_of
from compiler.program import Map, Program, Select, Sum, Table, rows_of
from compiler.schedule import Layout
from compiler.units import Expression, Stage, combination
from network.precision import FloatArray


@dataclass
class Tables:
    """The MLP of one block under construction.

    Attributes:
        layout: Where the channels lie.
        hidden: How many hidden layers there are: 1, always in the strict form; 2, to
            recognise and to combine; 3, if some table is read from a circle.
        circles: The tables that are read from a circle, by the name of the channel.
    """

    layout: Layout
    hidden: int
    circles: Mapping[str, Circle] = field(default_factory=dict)
    stages: list[Stage] = field(init=False)
    written: dict[int, Expression] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stages = [Stage() for _ in range(self.hidden)]

    @property
    def deep(self) -> bool:
        """Whether values are recognised one layer before they are combined."""
        return self.hidden > 1

    @property
    def recognise(self) -> Stage:
        """The first hidden layer."""
        return self.stages[0]

    @property
    def combine(self) -> Stage:
        """The second hidden layer, where there is one."""
        return self.stages[1 if self.deep else 0]

    @property
    def program(self) -> Program:
        """The Program whose Maps are realised."""
        return self.layout.plan.program

    def write(self, name: str, operation: Map) -> None:
        """Realise a Map at the place of its channel."""
        match operation.function:
            case Select():
                outputs = [self._select(operation.inputs)]
            case Sum():
                outputs = [self._sum(operation.inputs)]
            case Table() as function if name in self.circles:
                codes = code_matrix(self.program, name, function.values)
                read = [self._dimension(n) for n in operation.inputs]
                outputs = self.circles[name].read(read, self.stages, codes)
            case Table() as function if len(operation.inputs) == 1:
                codes = code_matrix(self.program, name, function.values)
                outputs = self._single(operation.inputs[0], function, codes)
            case Table() as function:
                codes = code_matrix(self.program, name, function.values)
                outputs = self._joint(operation.inputs, function, codes)
        start = self.layout.places[name].start
        for offset, output in enumerate(outputs):
            self.written.setdefault(start + offset, Expression()).add(output)

    def erase(self, name: str) -> None:
        """Subtract a channel from itself: −(x)₊ + (−x)₊ is −x, exactly."""
        place = self.layout.places[name]
        for dimension in range(place.start, place.stop):
            positive = self.recognise.unit(Expression({dimension: 1.0}))
            negative = self.recognise.unit(Expression({dimension: -1.0}))
            output = self.written.setdefault(dimension, Expression())
            output.add(positive, -1.0).add(negative, 1.0)

    def widths(self) -> list[int]:
        """The number of units in each hidden layer."""
        return [len(stage.units) for stage in self.stages]

    def waves(self) -> list[int]:
        """The number of sines in each hidden layer, which come before its ReLUs."""
        return [stage.waves for stage in self.stages]

    def largest(self) -> float:
        """The largest weight or bias, in absolute value."""
        outputs = self.written.values()
        insides = [unit for stage in self.stages for unit in stage.units]
        sizes = [abs(w) for o in outputs for w in (*o.terms.values(), o.constant)]
        sizes += [abs(w) for terms, _ in insides for _, w in terms]
        sizes += [abs(constant) for _, constant in insides]
        return max(sizes, default=0.0)

    def layers(self) -> list[tuple[FloatArray, FloatArray]]:
        """The weight and bias of each affine layer, the last one included."""
        d = self.layout.d_model
        result = []
        inputs = d
        for stage in self.stages:
            result.append(stage.matrices(inputs))
            inputs = len(stage.units)
        weight, bias = np.zeros((inputs, d)), np.zeros(d)
        for dimension, output in self.written.items():
            bias[dimension] = output.constant
            for unit, value in output.terms.items():
                weight[unit, dimension] = value
        return [*result, (weight, bias)]

    def _dimension(self, name: str) -> int:
        return self.layout.places[name].start

    def _step(self, name: str, index: int) -> Expression:
        """0 up to the value of this index in the channel's domain, 1 from the next on."""
        low, high = self.program.domains[name][index : index + 2]
        dimension = self._dimension(name)
        rising = self.recognise.unit(Expression({dimension: 2.0}, 0.5 - low - high))
        flat = self.recognise.unit(Expression({dimension: 2.0}, -0.5 - low - high))
        return Expression().add(rising).add(flat, -1.0)

    def _indicator(self, name: str, value: int) -> Expression:
        """1 where a channel has the value and 0 where it has another one."""
        if name in self.program.one_hot:
            return self._pass(self._dimension(name) + value)
        domain = self.program.domains[name]
        index = domain.index(value)
        indicator = Expression({}, 1.0) if index == 0 else self._step(name, index - 1)
        if index + 1 < len(domain):
            indicator = Expression().add(indicator).add(self._step(name, index), -1.0)
        return indicator

    def _pass(self, dimension: int) -> Expression:
        """A value that is never negative, passed on to where tables are combined."""
        inside = Expression({dimension: 1.0})
        return self.recognise.unit(inside) if self.deep else inside

    def _and(self, inside: Expression) -> Expression:
        return (self.combine if self.deep else self.recognise).unit(inside)

    def _single(
        self, name: str, function: Table, codes: FloatArray
    ) -> list[Expression]:
        """A table of one channel: a sum of steps, or of one-hot dimensions."""
        if name in self.program.one_hot:
            values = function.rows[:, 0].tolist()
            start = self._dimension(name)
            units = [self.recognise.unit(Expression({start + v: 1.0})) for v in values]
            return self._lift(combination(units, codes), 1)
        if self.deep and too_steep(self.program, name, codes):
            return self._saturating(name, codes)
        outputs = [Expression({}, first) for first in codes[0]]
        for index, change in enumerate(np.diff(codes, axis=0)):
            for output, amount in zip(outputs, change, strict=True):
                if amount:
                    output.add(self._step(name, index), float(amount))
        return self._lift(outputs, 1)

    def _saturating(self, name: str, codes: FloatArray) -> list[Expression]:
        """A table of one channel whose hidden units end at exactly 0 or 1.

        Above the ramp ReLU(1 − 2·ReLU(x − ramp)) is 0 whatever the noise, below it is 1,
        so that no rounding error of the first layer reaches the sum.
        """
        outputs = [Expression({}, last) for last in codes[-1]]
        domain, dimension = self.program.domains[name], self._dimension(name)
        for index, change in enumerate(np.diff(codes, axis=0)):
            if change.any():
                ramp = (domain[index] + domain[index + 1]) / 2 - 0.25
                passed = self.recognise.unit(Expression({dimension: 1.0}, -ramp))
                below = self.combine.unit(Expression({}, 1.0).add(passed, -2.0))
                for output, amount in zip(outputs, change, strict=True):
                    if amount:
                        output.add(below, -float(amount))
        return self._lift(outputs, 2)

    def _lift(self, outputs: list[Expression], layers: int) -> list[Expression]:
        """Pass finished values, never negative, through all but the first layers."""
        for stage in self.stages[layers:]:
            outputs = [stage.unit(output) for output in outputs]
        return outputs

    def _joint(
        self, names: tuple[str, ...], function: Table, codes: FloatArray
    ) -> list[Expression]:
        """A table of several channels: a unit for each row (Lemma 11, repaired, E3).

        With indicators counted twice, a unit is at most −1 before its ReLU where one of
        them is missing, not 0: noise of indicators does not pass then.
        """
        units = []
        needed = np.asarray(codes.any(axis=1))
        for (row, _), used in zip(rows_of(function), needed.tolist(), strict=True):
            if used:
                inside = Expression({}, 1.0 - 2 * len(row))
                for name, value in zip(names, row, strict=True):
                    inside.add(self._indicator(name, value), 2.0)
                units.append(self._and(inside))
        return self._lift(combination(units, codes[needed]), 2)

    def _sum(self, names: tuple[str, ...]) -> Expression:
        """Every value by itself, never negative, through all layers, and then added."""
        output = Expression()
        for name in names:
            value = self.recognise.unit(Expression({self._dimension(name): 1.0}))
            output.add(self._lift([value], 1)[0])
        return output

    def _select(self, names: tuple[str, ...]) -> Expression:
        """v_i as Σ_k ReLU(M·[i = k] + v_k − M), M above every value (Lemma 14, E12)."""
        index, *values = names
        gate = 1.0 + max(self.program.domains[n][-1] for n in values)
        output = Expression()
        for k in self.program.domains[index]:
            inside = Expression({}, -gate).add(self._indicator(index, k), gate)
            inside.add(self._pass(self._dimension(values[k])))
            output.add(self._and(inside))
        return self._lift([output], 2)[0]


def block_tables(
    layout: Layout, block: int, strict: bool, sine: bool = False
) -> Tables | None:
    """The MLP of a block, or None if the block computes no Map.

    Args:
        layout: Where the channels lie.
        block: Which block.
        strict: Whether all its tables must fit one hidden layer.
        sine: Whether periodic tables are read from a circle.
    """
    program = layout.plan.program
    operations = {n: program.operations[n] for n in layout.plan.maps(block)}
    maps = {n: op for n, op in operations.items() if isinstance(op, Map)}
    if not maps:
        return None
    found = {n: circle_of(program, op) for n, op in maps.items()} if sine else {}
    circles = {n: circle for n, circle in found.items() if circle is not None}
    deep = not strict and any(needs_depth(program, n, op) for n, op in maps.items())
    tables = Tables(layout, 3 if circles else 1 + deep, circles)
    for name in sorted(maps, key=lambda n: n not in circles):
        tables.write(name, maps[name])
    if strict:
        for name in layout.freed(block):
            tables.erase(name)
    return tables


def code_matrix(program: Program, name: str, values: Iterable[int]) -> FloatArray:
    """The residual-stream code of each value, ``(values, dimensions)``."""
    column = np.array(list(values), dtype=np.int64)
    if name not in program.one_hot:
        return column[:, None].astype(np.float64)
    return np.eye(max(program.domains[name]) + 1)[column]


def needs_depth(program: Program, name: str, operation: Map) -> bool:
    """Whether a Map needs two hidden layers."""
    first = operation.inputs[0]
    if isinstance(operation.function, Sum):
        return False
    if isinstance(operation.function, Select):
        return first not in program.one_hot
    if len(operation.inputs) > 1:
        return not program.one_hot.issuperset(operation.inputs)
    codes = code_matrix(program, name, operation.function.values)
    return first not in program.one_hot and too_steep(program, first, codes)


def too_steep(program: Program, name: str, codes: FloatArray) -> bool:
    """Whether a sum of steps over a channel could lose 1/16 to rounding in binary32.

    A step is the difference of two ReLUs that grow with the distance from it, so a long
    sum of steps has large terms that cancel: n terms of size s lose up to n·s·u in some
    order of summation.
    """
    values = np.array(program.domains[name], dtype=np.float64)
    sizes = 2 * (values[-1] - values[1:]) + 1
    terms = 2 * len(values)
    lost = terms * 2.0**-24 * 2 * (np.abs(np.diff(codes, axis=0)).T @ sizes)
    return bool((lost > 1 / 16).any())
