"""The MLP of a block from the Maps that it computes (Lemmas 10, 11, 14)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple

import numpy as np

from krohn.compiler.decision_paths import Given, Values
from krohn.compiler.layout import Layout, Schedule, code_matrix
from krohn.compiler.passes import evaluate_cone
from krohn.compiler.products import masses, matrix_product, normalise
from krohn.compiler.table_forms import (
    Circle,
    Linear,
    circle_of,
    is_ranked,
    linear,
    too_steep,
)
from krohn.compiler.units import (
    Expression,
    HiddenLayers,
    combination,
    layers,
    piecewise,
    sharpness,
    slope,
)
from krohn.network.precision import FloatArray, Precision
from krohn.program import (
    Map,
    MatrixProduct,
    Normalised,
    Piecewise,
    Program,
    Table,
    is_sum,
)

# The form in which an MLP realises a Map: a circle, steps, one channel, or paths.


def circles_of(plan: Schedule, maps: Iterable[str]) -> dict[str, Circle]:
    """The Maps that can be read from a circle."""
    circles: dict[str, Circle] = {}
    for name in maps:
        operation = plan.program.operations[name]
        if set(plan.leaves(name)) == set(operation.reads):
            circle = circle_of(plan.program, operation)
            if circle is not None:
                circles[name] = circle
    return circles


def single(plan: Schedule, name: str) -> tuple[str, Table] | None:
    """The one leaf of a channel with its table, opened Maps included, if it has one."""
    asked = plan.leaves(name)
    if len(asked) != 1 or asked[0] == name:
        return None
    (leaf,) = asked
    domain = np.array(plan.program.domains[leaf], dtype=np.int64)
    values = evaluate_cone(plan.program, name, {leaf: domain})
    return leaf, Table(domain[:, None], values)


def along(plan: Schedule, name: str, deep: bool) -> Linear | None:
    """The sum along which a Map, with the Maps it opens, is made of steps, if any."""
    return linear(plan.program, name, plan.leaves(name), deep)


def needs_depth(plan: Schedule, name: str) -> bool:
    """Whether a Map, with the Maps it opens, needs two hidden layers."""
    program = plan.program
    if is_sum(program.operations[name]) or name in program.sizes:
        return isinstance(program.operations[name], Normalised)
    alone = single(plan, name)
    if alone is not None:
        leaf, function = alone
        codes = code_matrix(program, name, function.values)
        steep = too_steep(program.numbers(leaf).tolist(), codes) or is_ranked(
            program, name
        )
        return leaf not in program.one_hot and steep
    form = along(plan, name, deep=True)
    if form is not None:
        return form.rough
    asked = (leaf for path in plan.opener(name).each(name) for leaf in path.given)
    return any(leaf not in program.one_hot for leaf in asked)


class Spacing(NamedTuple):
    """How the values of a channel lie in the stream.

    Attributes:
        places: The place of each value in the domain.
        numbers: What stands for each.
        sharp: By which power of two each and the next are moved 1 or more apart.
    """

    places: dict[int, int]
    numbers: list[float]
    sharp: list[float]


# ReLU tables: the MLP of a block from the Maps that it computes (Lemmas 10, 11, 14).


@dataclass
class BlockMlp:
    """The MLP of one block under construction.

    Attributes:
        layout: Where the channels lie.
        hidden: Its hidden layers.
        circles: The tables that are read from a circle, by the name of the channel.
        scale: λ of the units that multiply.
    """

    layout: Layout
    hidden: HiddenLayers
    circles: Mapping[str, Circle] = field(default_factory=dict)
    scale: float = 1.0
    written: dict[int, Expression] = field(default_factory=dict)
    _distances: dict[tuple[str, Values], Expression] = field(default_factory=dict)
    _spacings: dict[str, Spacing] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        """The Program whose Maps are realised."""
        return self.layout.plan.program

    def write(self, name: str) -> None:
        """Realise a Map, with the Maps that it opens, at the place of its channel."""
        outputs = self._outputs(name)
        start = self.layout.places[name].start
        for offset, output in enumerate(outputs):
            self.written.setdefault(start + offset, Expression()).add(output)

    def _outputs(self, name: str) -> list[Expression]:
        operation = self.program.operations[name]
        if isinstance(operation, Map) and isinstance(operation.function, Piecewise):
            return [self._piecewise(operation.function, operation.inputs)]
        if is_sum(operation):
            return [self._sum(operation.reads)]
        if isinstance(operation, MatrixProduct):
            left, right = (self._span(n) for n in operation.reads)
            size = self.program.sizes[name]
            return matrix_product(self.hidden.recognise, left, right, size, self.scale)
        if isinstance(operation, Normalised):
            before = masses(self.program)[operation.source]
            stages, span = self.hidden.stages, self._span(operation.source)
            vector = np.array(operation.vector)
            return normalise(stages, span, vector, before, self.scale)
        if name in self.circles:
            assert isinstance(operation, Map)
            assert isinstance(operation.function, Table)
            codes = code_matrix(self.program, name, operation.function.values)
            read = [self._dimension(n) for n in operation.inputs]
            return self.circles[name].read_table(read, self.hidden.stages, codes)
        form = along(self.layout.plan, name, self.hidden.deep)
        if form is not None:
            return self._along(name, form)
        alone = single(self.layout.plan, name)
        if alone is None:
            return self._joint(name)
        leaf, function = alone
        codes = code_matrix(self.program, name, function.values)
        steep = too_steep(self.program.numbers(leaf).tolist(), codes)
        steep = steep or is_ranked(self.program, name)
        return self._single(leaf, function, codes, steep)

    def erase(self, name: str) -> None:
        """Subtract a channel from itself: −(x)₊ + (−x)₊ is −x, exactly."""
        place = self.layout.places[name]
        for dimension in range(place.start, place.stop):
            positive = self.hidden.recognise.unit(Expression({dimension: 1.0}))
            negative = self.hidden.recognise.unit(Expression({dimension: -1.0}))
            output = self.written.setdefault(dimension, Expression())
            output.add(positive, -1.0).add(negative, 1.0)

    def widths(self) -> list[int]:
        """The number of units in each hidden layer."""
        return [len(stage.units) for stage in self.hidden.stages]

    def activations(self) -> list[list[list[str | int]]]:
        """For each hidden layer how many units in a row have which activation."""
        return [stage.activations for stage in self.hidden.stages]

    def largest(self) -> float:
        """The largest weight or bias, in absolute value."""
        outputs = self.written.values()
        insides = [unit for stage in self.hidden.stages for unit in stage.units]
        sizes = [abs(w) for o in outputs for w in (*o.terms.values(), o.constant)]
        sizes += [abs(w) for terms, _, _ in insides for _, w in terms]
        sizes += [abs(constant) for _, constant, _ in insides]
        return max(sizes, default=0.0)

    def layers(self) -> list[tuple[FloatArray, FloatArray]]:
        """The weight and bias of each affine layer, the last one included."""
        d = self.layout.d_model
        outputs = [self.written.get(dimension, Expression()) for dimension in range(d)]
        return layers(self.hidden.stages, d, outputs)

    def _spacing(self, name: str) -> Spacing:
        """How the values of a channel lie in the stream."""
        if name not in self._spacings:
            program = self.program
            places = {value: i for i, value in enumerate(program.domains[name])}
            numbers = program.numbers(name)
            sharp = sharpness(np.diff(numbers)).tolist()
            self._spacings[name] = Spacing(places, numbers.tolist(), sharp)
        return self._spacings[name]

    def _span(self, name: str) -> range:
        place = self.layout.places[name]
        return range(place.start, place.stop)

    def _dimension(self, name: str) -> int:
        return self.layout.places[name].start

    def _step_along(self, name: str) -> Callable[[int, bool], Expression]:
        """Steps between a value of a channel, by its index, and the next: 0, then 1.

        A falling step is 1, then 0.
        """
        dimension, (_, numbers, sharp) = self._dimension(name), self._spacing(name)

        def step(index: int, rising: bool) -> Expression:
            (low, high), steep = numbers[index : index + 2], sharp[index]
            return self.hidden.rise(
                {dimension: 2.0 * steep}, steep * (low + high), rising
            )

        return step

    def _distance(self, name: str, values: Values) -> Expression:
        """0 where a channel has one of some values, at least 1 where it has another one.

        For an interval of integers it is exactly 0 there whatever the noise. Many paths
        ask for the same; the expression is not to be changed.
        """
        if (name, values) not in self._distances:
            self._distances[name, values] = self._make_distance(name, values)
        return self._distances[name, values]

    def _make_distance(self, name: str, values: Values) -> Expression:
        dimension = self._dimension(name)
        if name in self.program.one_hot:
            chosen = [self.hidden.pass_on(dimension + v) for v in sorted(values)]
            return reduce(lambda e, x: e.add(x, -1.0), chosen, Expression({}, 1.0))
        missed, (places, numbers, sharp) = Expression(), self._spacing(name)
        first, last = places[min(values)], places[max(values)]
        if first > 0:
            ends = numbers[first], numbers[first - 1]
            missed.add(self.hidden.beyond(dimension, *ends, sharp[first - 1]))
        if last + 1 < len(numbers):
            ends = numbers[last], numbers[last + 1]
            missed.add(self.hidden.beyond(dimension, *ends, sharp[last]))
        return missed

    def _single(
        self, name: str, function: Table, codes: FloatArray, steep: bool
    ) -> list[Expression]:
        """A table of one channel: a sum of steps, or of one-hot dimensions.

        Steps rise from the middle upwards and fall from it downwards, so that only those
        between a value and the middle are not 0 there: short sums, of small terms.
        """
        if name in self.program.one_hot:
            values = function.rows[:, 0].tolist()
            start = self._dimension(name)
            units = [
                self.hidden.recognise.unit(Expression({start + v: 1.0})) for v in values
            ]
            return self.hidden.lift(combination(units, codes), 1)
        if self.hidden.deep and steep:
            along = {self._dimension(name): 1.0}
            numbers = self.program.numbers(name).tolist()
            return self.hidden.saturating(along, numbers, codes)
        return self.hidden.steps(codes, self._step_along(name))

    def _along(self, name: str, form: Linear) -> list[Expression]:
        """A table of a sum of channels: steps along the sum."""
        twice: dict[int, float] = {}
        for read, weight in zip(form.inputs, form.weights, strict=True):
            dimension = self._dimension(read)
            twice[dimension] = twice.get(dimension, 0.0) + 2.0 * weight

        def step(index: int, rising: bool) -> Expression:
            low, high = form.sums[index : index + 2].tolist()
            return self.hidden.rise(twice, low + high, rising)

        codes = code_matrix(self.program, name, form.values)
        if form.rough and self.hidden.deep:
            once = {dimension: weight / 2 for dimension, weight in twice.items()}
            return self.hidden.saturating(once, form.sums.tolist(), codes)
        return self.hidden.steps(codes, step)

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
        changes = dict[int, list[float]]()
        for path in paths:
            if isinstance(path.value, str):
                outputs[0].add(self._gate(path.given, path.value))
            elif path.value != usual:
                inside = Expression({}, 1.0)
                for leaf, values in path.given.items():
                    inside.add(self._distance(leaf, values), -2.0)
                unit = self.hidden.conjunction(inside)
                if path.value not in changes:
                    code = self._code(name, path.value)
                    changes[path.value] = (code - base).tolist()
                for output, amount in zip(outputs, changes[path.value], strict=True):
                    if amount:
                        output.add(unit, amount)
        return self.hidden.lift(outputs, 2)

    def _sum(self, names: tuple[str, ...]) -> Expression:
        """Every value by itself, never negative, through all layers, and then added."""
        output = Expression()
        for name in names:
            value = self.hidden.recognise.unit(Expression({self._dimension(name): 1.0}))
            output.add(self.hidden.lift([value], 1)[0])
        return output

    def _piecewise(self, function: Piecewise, names: tuple[str, ...]) -> Expression:
        places = [self._dimension(name) for name in names]
        result = piecewise(self.hidden.recognise, function.expression, places)
        return self.hidden.lift([result], 1)[0]

    def _code(self, name: str, value: int) -> FloatArray:
        return np.asarray(code_matrix(self.program, name, [value])[0])

    def _gate(self, given: Given, leaf: str) -> Expression:
        """The value v of a leaf on a path: ReLU(v − M·(distance from the path)).

        M is above every value (Lemma 14, E12).
        """
        gate = 1.0 + self.program.domains[leaf][-1]
        inside = Expression()
        for asked, values in given.items():
            inside.add(self._distance(asked, values), -gate)
        return self.hidden.conjunction(
            inside.add(self.hidden.pass_on(self._dimension(leaf)))
        )


def block_mlp(
    layout: Layout,
    precision: Precision,
    block: int,
    strict: bool,
    activation: str = "relu",
    scale: float = 1.0,
) -> BlockMlp | None:
    """The MLP of a block, or None if the block computes no Map.

    Args:
        layout: Where the channels lie.
        precision: The number format.
        block: Which block.
        strict: Whether all its tables must fit one hidden layer.
        activation: Periodic tables are read from a circle if it is ``"sine"``; ReLUs are
            made of GeLUs if it is ``"gelu"``.
        scale: λ of the units that multiply.
    """
    plan = layout.plan
    maps = plan.maps(block)
    if not maps:
        return None
    circles = circles_of(plan, maps) if activation == "sine" else {}
    deep = not strict and any(needs_depth(plan, name) for name in maps)
    steep = slope(precision) if activation == "gelu" else None
    hidden = HiddenLayers(3 if circles else 1 + deep, steep)
    mlp = BlockMlp(layout, hidden, circles, scale)
    for name in sorted(maps, key=lambda n: n not in circles):
        mlp.write(name)
    if strict:
        for name in layout.channels_to_clear(block):
            mlp.erase(name)
    for stage in hidden.stages:
        if not stage.units:  # constants need none, and a layer has at least one
            stage.unit(Expression())
    return mlp


def _usual(values: list[int | str]) -> int | None:
    """The value decided on most paths, which then need no units; None if copied."""
    decided = Counter(value for value in values if isinstance(value, int))
    if len(decided) == 0 or decided.total() < len(values):
        return None
    return max(sorted(decided), key=lambda value: decided[value])
