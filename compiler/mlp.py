"""ReLU tables: the MLP of a block from the Maps that it computes (Lemmas 10, 11, 14).

Steps between neighbouring integers have ramps of width 1/2 around the
midpoint, so that every value has a plateau of ±1/4 on which noise is removed; all
constants are multiples of 1/2 and survive every precision that can hold the integers.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce

import numpy as np

from compiler.circle import Circle, circle_of
from compiler.decision_paths import Given
from compiler.layout import Layout
from compiler.passes.base import evaluate_cone
from compiler.schedule import Schedule
from compiler.sum_of_steps import Linear, linear, too_steep
from compiler.units import Expression, Stage, combination
from network.precision import FloatArray
from program import Map, Program, Table, is_sum


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

    def write(self, name: str) -> None:
        """Realise a Map, with those that it opens, at the place of its channel."""
        outputs = self._outputs(name)
        start = self.layout.places[name].start
        for offset, output in enumerate(outputs):
            self.written.setdefault(start + offset, Expression()).add(output)

    def _outputs(self, name: str) -> list[Expression]:
        operation = self.program.operations[name]
        if is_sum(operation):
            return [self._sum(operation.reads)]
        if name in self.circles:
            assert isinstance(operation, Map)
            assert isinstance(operation.function, Table)
            codes = code_matrix(self.program, name, operation.function.values)
            read = [self._dimension(n) for n in operation.inputs]
            return self.circles[name].read(read, self.stages, codes)
        form = along(self.layout.plan, name, self.deep)
        if form is not None:
            return self._along(name, form)
        alone = single(self.layout.plan, name)
        if alone is None:
            return self._joint(name)
        leaf, function = alone
        codes = code_matrix(self.program, name, function.values)
        return self._single(leaf, function, codes)

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

    def activations(self) -> list[list[list[str | int]]]:
        """For each hidden layer how many units in a row have which activation."""
        return [stage.activations for stage in self.stages]

    def largest(self) -> float:
        """The largest weight or bias, in absolute value."""
        outputs = self.written.values()
        insides = [unit for stage in self.stages for unit in stage.units]
        sizes = [abs(w) for o in outputs for w in (*o.terms.values(), o.constant)]
        sizes += [abs(w) for terms, _, _ in insides for _, w in terms]
        sizes += [abs(constant) for _, constant, _ in insides]
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

    def _step(self, name: str, index: int, rising: bool) -> Expression:
        """Between a value of this index in the channel's domain and the next: 0, then 1.

        A falling step is 1, then 0.
        """
        low, high = self.program.domains[name][index : index + 2]
        twice = {self._dimension(name): 2.0}
        return self._rise(twice, low + high, rising)

    def _rise(
        self, twice: Mapping[int, float], middle: float, rising: bool
    ) -> Expression:
        """The step of twice a sum at its middle value, rising or falling."""
        sign = 1.0 if rising else -1.0
        inside = {dimension: sign * weight for dimension, weight in twice.items()}
        ramp = self.recognise.unit(Expression(inside, 0.5 - sign * middle))
        flat = self.recognise.unit(Expression(inside, -0.5 - sign * middle))
        return Expression().add(ramp).add(flat, -1.0)

    def _missed(self, name: str, values: Collection[int]) -> Expression:
        """0 where a channel has one of some values, at least 1 where it has another one.

        For an interval of integers it is exactly 0 there whatever the noise.
        """
        domain, dimension = self.program.domains[name], self._dimension(name)
        if name in self.program.one_hot:
            chosen = [self._pass(dimension + v) for v in sorted(values)]
            return reduce(lambda e, x: e.add(x, -1.0), chosen, Expression({}, 1.0))
        missed = Expression()
        low, high = min(values), max(values)
        if low > domain[0]:
            before = domain[domain.index(low) - 1]
            missed.add(self._beyond(dimension, low, before))
        if high < domain[-1]:
            after = domain[domain.index(high) + 1]
            missed.add(self._beyond(dimension, high, after))
        return missed

    def _beyond(self, dimension: int, inside: int, outside: int) -> Expression:
        """Exactly 0 up to 1/4 before the midpoint, at least 1 from ``outside`` on."""
        slope = 2.0 if outside > inside else -2.0
        middle = slope * (inside + outside) / 2
        return self.recognise.unit(Expression({dimension: slope}, 0.5 - middle))

    def _pass(self, dimension: int) -> Expression:
        """A value that is never negative, passed on to where tables are combined."""
        inside = Expression({dimension: 1.0})
        return self.recognise.unit(inside) if self.deep else inside

    def _and(self, inside: Expression) -> Expression:
        return (self.combine if self.deep else self.recognise).unit(inside)

    def _single(
        self, name: str, function: Table, codes: FloatArray
    ) -> list[Expression]:
        """A table of one channel: a sum of steps, or of one-hot dimensions.

        Steps rise from the middle upwards and fall from it downwards, so that only those
        between a value and the middle are not 0 there: short sums, of small terms.
        """
        if name in self.program.one_hot:
            values = function.rows[:, 0].tolist()
            start = self._dimension(name)
            units = [self.recognise.unit(Expression({start + v: 1.0})) for v in values]
            return self._lift(combination(units, codes), 1)
        if self.deep and too_steep(self.program.domains[name], codes):
            along = {self._dimension(name): 1.0}
            return self._saturating(along, self.program.domains[name], codes)
        return self._steps(codes, partial(self._step, name))

    def _steps(
        self, codes: FloatArray, step: Callable[[int, bool], Expression]
    ) -> list[Expression]:
        """Rising steps above the middle and falling ones below it, which is nearer."""
        middle = (len(codes) - 1) // 2
        outputs = [Expression({}, code) for code in codes[middle]]
        for index, change in enumerate(np.diff(codes, axis=0)):
            rising = index >= middle
            for output, amount in zip(outputs, change, strict=True):
                if amount:
                    sign = 1.0 if rising else -1.0
                    output.add(step(index, rising), sign * float(amount))
        return self._lift(outputs, 1)

    def _along(self, name: str, form: Linear) -> list[Expression]:
        """A table of a sum of channels: steps along the sum."""
        twice: dict[int, float] = {}
        for read, weight in zip(form.inputs, form.weights, strict=True):
            dimension = self._dimension(read)
            twice[dimension] = twice.get(dimension, 0.0) + 2.0 * weight

        def step(index: int, rising: bool) -> Expression:
            low, high = form.sums[index : index + 2].tolist()
            return self._rise(twice, low + high, rising)

        codes = code_matrix(self.program, name, form.values)
        if form.rough and self.deep:
            once = {dimension: weight / 2 for dimension, weight in twice.items()}
            return self._saturating(once, form.sums.tolist(), codes)
        return self._steps(codes, step)

    def _saturating(
        self, along: Mapping[int, float], values: Sequence[int], codes: FloatArray
    ) -> list[Expression]:
        """A table of one integer whose hidden units end at exactly 0 or 1.

        Above the ramp ReLU(1 − 2·ReLU(x − ramp)) is 0 whatever the noise, below it is 1,
        so that no rounding error of the first layer reaches the sum.

        Args:
            along: The integer, as a sum of residual dimensions.
            values: Its values, ascending.
            codes: ``(values, dimensions)``: the code of the result for each.
        """
        outputs = [Expression({}, last) for last in codes[-1]]
        for index, change in enumerate(np.diff(codes, axis=0)):
            if change.any():
                ramp = (values[index] + values[index + 1]) / 2 - 0.25
                passed = self.recognise.unit(Expression(dict(along), -ramp))
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

    def _joint(self, name: str) -> list[Expression]:
        """A function of several channels: a unit for each path (Lemma 11, repaired, E3).

        What misses the path counts twice: then a unit is at most −1 before its ReLU, not
        0, and noise does not pass.
        """
        paths = self.layout.plan.opener(name).paths(name)
        assert paths is not None
        usual = _usual([path.value for path in paths])
        width = code_matrix(self.program, name, [0]).shape[1]
        base = np.zeros(width) if usual is None else self._code(name, usual)
        outputs = [Expression({}, amount) for amount in base]
        for path in paths:
            if isinstance(path.value, str):
                outputs[0].add(self._gated(path.given, path.value))
            elif path.value != usual:
                inside = Expression({}, 1.0)
                for leaf, values in path.given.items():
                    inside.add(self._missed(leaf, values), -2.0)
                unit = self._and(inside)
                change = self._code(name, path.value) - base
                for output, amount in zip(outputs, change, strict=True):
                    if amount:
                        output.add(unit, float(amount))
        return self._lift(outputs, 2)

    def _sum(self, names: tuple[str, ...]) -> Expression:
        """Every value by itself, never negative, through all layers, and then added."""
        output = Expression()
        for name in names:
            value = self.recognise.unit(Expression({self._dimension(name): 1.0}))
            output.add(self._lift([value], 1)[0])
        return output

    def _code(self, name: str, value: int) -> FloatArray:
        return np.asarray(code_matrix(self.program, name, [value])[0])

    def _gated(self, given: Given, leaf: str) -> Expression:
        """The value v of a leaf on a path: ReLU(v − M·(what misses the path)).

        M is above every value (Lemma 14, E12).
        """
        gate = 1.0 + self.program.domains[leaf][-1]
        inside = Expression()
        for asked, values in given.items():
            inside.add(self._missed(asked, values), -gate)
        return self._and(inside.add(self._pass(self._dimension(leaf))))


def block_tables(
    layout: Layout, block: int, strict: bool, activation: str = "relu"
) -> Tables | None:
    """The MLP of a block, or None if the block computes no Map.

    Args:
        layout: Where the channels lie.
        block: Which block.
        strict: Whether all its tables must fit one hidden layer.
        activation: Periodic tables are read from a circle if it is ``"sine"``.
    """
    plan = layout.plan
    maps = plan.maps(block)
    if not maps:
        return None
    circles = _circles(plan, maps) if activation == "sine" else {}
    deep = not strict and any(needs_depth(plan, name) for name in maps)
    tables = Tables(layout, 3 if circles else 1 + deep, circles)
    for name in sorted(maps, key=lambda n: n not in circles):
        tables.write(name)
    if strict:
        for name in layout.freed(block):
            tables.erase(name)
    return tables


def _circles(plan: Schedule, maps: Iterable[str]) -> dict[str, Circle]:
    """The Maps that can be read from a circle."""
    found: dict[str, Circle] = {}
    for name in maps:
        operation = plan.program.operations[name]
        if set(plan.leaves(name)) == set(operation.reads):
            circle = circle_of(plan.program, operation)
            if circle is not None:
                found[name] = circle
    return found


def single(plan: Schedule, name: str) -> tuple[str, Table] | None:
    """The one leaf of a channel with its table, opened Maps included, if it has one."""
    found = plan.leaves(name)
    if len(found) != 1 or found[0] == name:
        return None
    (leaf,) = found
    domain = np.array(plan.program.domains[leaf], dtype=np.int64)
    values = evaluate_cone(plan.program, name, {leaf: domain})
    return leaf, Table(domain[:, None], values)


def code_matrix(program: Program, name: str, values: Iterable[int]) -> FloatArray:
    """The residual-stream code of each value, ``(values, dimensions)``."""
    column = np.array(list(values), dtype=np.int64)
    if name not in program.one_hot:
        return column[:, None].astype(np.float64)
    return np.eye(max(program.domains[name]) + 1)[column]


def _usual(values: list[int | str]) -> int | None:
    """The value decided on most paths, which then need no units; None if copied."""
    decided = Counter(value for value in values if isinstance(value, int))
    if len(decided) == 0 or decided.total() < len(values):
        return None
    return max(sorted(decided), key=lambda value: decided[value])


def along(plan: Schedule, name: str, deep: bool) -> Linear | None:
    """The sum along which a Map, with those that it opens, is made of steps, if any."""
    return linear(plan.program, name, plan.leaves(name), deep)


def needs_depth(plan: Schedule, name: str) -> bool:
    """Whether a Map, with those that it opens, needs two hidden layers."""
    program = plan.program
    if is_sum(program.operations[name]):
        return False
    alone = single(plan, name)
    if alone is not None:
        leaf, function = alone
        codes = code_matrix(program, name, function.values)
        return leaf not in program.one_hot and too_steep(program.domains[leaf], codes)
    form = along(plan, name, deep=True)
    if form is not None:
        return form.rough
    asked = (leaf for path in plan.opener(name).each(name) for leaf in path.given)
    return any(leaf not in program.one_hot for leaf in asked)
