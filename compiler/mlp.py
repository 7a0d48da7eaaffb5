"""ReLU tables: the MLP of a block from the Maps that it computes (Lemmas 10, 11, 14).

A *unit* is one ReLU; an *expression* is an affine combination of units or of residual
dimensions. Steps between neighbouring integers have ramps of width 1/2 around the
midpoint, so that every value has a plateau of ±1/4 on which noise is removed; all
constants are multiples of 1/2 and survive every precision that can hold the integers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from compiler.program import Map, Program, Select, Table, rows_of
from compiler.schedule import Layout
from network.precision import FloatArray


@dataclass
class Expression:
    """``constant + Σ weight · term``, the terms being units or residual dimensions."""

    terms: dict[int, float] = field(default_factory=dict)
    constant: float = 0.0

    def add(self, other: "Expression", factor: float = 1.0) -> "Expression":
        """This expression plus ``factor`` times another, in place."""
        for term, weight in other.terms.items():
            total = self.terms.get(term, 0.0) + factor * weight
            if total:
                self.terms[term] = total
            else:
                self.terms.pop(term, None)
        self.constant += factor * other.constant
        return self


@dataclass
class Stage:
    """One hidden layer under construction; equal units are shared."""

    units: dict[tuple[frozenset[tuple[int, float]], float], int] = field(
        default_factory=dict
    )

    def unit(self, inside: Expression) -> Expression:
        """The ReLU of an expression of the layer below, as an expression."""
        key = (frozenset(inside.terms.items()), inside.constant)
        return Expression({self.units.setdefault(key, len(self.units)): 1.0})

    def matrices(self, inputs: int) -> tuple[FloatArray, FloatArray]:
        """Weights ``(inputs, units)`` and biases ``(units,)``."""
        weight = np.zeros((inputs, len(self.units)))
        bias = np.zeros(len(self.units))
        for (terms, constant), unit in self.units.items():
            for term, value in terms:
                weight[term, unit] = value
            bias[unit] = constant
        return weight, bias


@dataclass
class Tables:
    """The MLP of one block under construction.

    Attributes:
        layout: Where the channels lie.
        deep: Whether there are two hidden layers (never in the strict form).
    """

    layout: Layout
    deep: bool
    recognise: Stage = field(default_factory=Stage)
    combine: Stage = field(default_factory=Stage)
    written: dict[int, Expression] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        """The Program whose Maps are realised."""
        return self.layout.plan.program

    def write(self, name: str, operation: Map) -> None:
        """Realise a Map at the place of its channel."""
        match operation.function:
            case Select():
                outputs = [self._select(operation.inputs)]
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
        stages = [self.recognise, self.combine] if self.deep else [self.recognise]
        return [len(stage.units) for stage in stages]

    def largest(self) -> float:
        """The largest weight or bias, in absolute value."""
        outputs = self.written.values()
        insides = [*self.recognise.units, *self.combine.units]
        sizes = [abs(w) for o in outputs for w in (*o.terms.values(), o.constant)]
        sizes += [abs(w) for terms, _ in insides for _, w in terms]
        sizes += [abs(constant) for _, constant in insides]
        return max(sizes, default=0.0)

    def layers(self) -> list[tuple[FloatArray, FloatArray]]:
        """The weight and bias of each affine layer, the last one included."""
        d = self.layout.d_model
        stages = [self.recognise, self.combine] if self.deep else [self.recognise]
        result = []
        inputs = d
        for stage in stages:
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

    def _steps(self, name: str) -> list[Expression]:
        """0 below and 1 above each midpoint between neighbouring values."""
        domain = self.program.domains[name]
        dimension = self._dimension(name)
        steps = []
        for low, high in zip(domain, domain[1:], strict=False):
            middle = (low + high) / 2
            rising = self.recognise.unit(Expression({dimension: 2.0}, 0.5 - 2 * middle))
            flat = self.recognise.unit(Expression({dimension: 2.0}, -0.5 - 2 * middle))
            steps.append(Expression().add(rising).add(flat, -1.0))
        return steps

    def _indicators(self, name: str) -> dict[int, Expression]:
        """For each value of a channel, 1 where it has it and 0 elsewhere."""
        domain = self.program.domains[name]
        if name in self.program.one_hot:
            start = self._dimension(name)
            return {v: self._pass(start + v) for v in domain}
        edges = [Expression({}, 1.0), *self._steps(name), Expression()]
        pairs = zip(domain, edges, edges[1:], strict=False)
        return {v: Expression().add(low).add(high, -1.0) for v, low, high in pairs}

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
            return self._finish(_combine(units, codes))
        outputs = [Expression({}, first) for first in codes[0]]
        for step, change in zip(self._steps(name), np.diff(codes, axis=0), strict=True):
            for output, amount in zip(outputs, change, strict=True):
                if amount:
                    output.add(step, float(amount))
        return self._finish(outputs)

    def _finish(self, outputs: list[Expression]) -> list[Expression]:
        """Pass finished values, never negative, through a second hidden layer if any."""
        return [self.combine.unit(o) for o in outputs] if self.deep else outputs

    def _joint(
        self, names: Iterable[str], function: Table, codes: FloatArray
    ) -> list[Expression]:
        """A table of several channels: a unit for each row (Lemma 11, repaired, E3)."""
        indicators = [self._indicators(n) for n in names]
        units = []
        needed = codes.any(axis=1)
        for (row, _), used in zip(rows_of(function), needed, strict=True):
            if used:
                inside = Expression({}, 1.0 - len(row))
                for value, indicator in zip(row, indicators, strict=True):
                    inside.add(indicator[value])
                units.append(self._and(inside))
        return _combine(units, codes[needed])

    def _select(self, names: tuple[str, ...]) -> Expression:
        """v_i as Σ_k ReLU(M·[i = k] + v_k − M), M above every value (Lemma 14, E12)."""
        index, *values = names
        gate = 1.0 + max(self.program.domains[n][-1] for n in values)
        output = Expression()
        for k, indicator in self._indicators(index).items():
            inside = Expression({}, -gate).add(indicator, gate)
            inside.add(self._pass(self._dimension(values[k])))
            output.add(self._and(inside))
        return output


def block_tables(layout: Layout, block: int, strict: bool) -> Tables | None:
    """The MLP of a block, or None if the block computes no Map."""
    program = layout.plan.program
    operations = {n: program.operations[n] for n in layout.plan.maps(block)}
    maps = {n: op for n, op in operations.items() if isinstance(op, Map)}
    if not maps:
        return None
    tables = Tables(layout, deep=not strict and _needs_depth(program, maps))
    for name, operation in maps.items():
        tables.write(name, operation)
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


def _combine(units: list[Expression], codes: FloatArray) -> list[Expression]:
    outputs = [Expression() for _ in range(codes.shape[1])]
    for unit, code in zip(units, codes, strict=True):
        for output, amount in zip(outputs, code, strict=True):
            if amount:
                output.add(unit, float(amount))
    return outputs


def _needs_depth(program: Program, operations: Mapping[str, Map]) -> bool:
    """Whether one of the Maps needs two hidden layers."""
    return any(
        isinstance(op.function, Select) and op.inputs[0] not in program.one_hot
        or isinstance(op.function, Table)
        and len(op.inputs) > 1
        and not program.one_hot.issuperset(op.inputs)
        for op in operations.values()
    )
