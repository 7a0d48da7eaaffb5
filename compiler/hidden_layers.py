"""The hidden layers of an MLP: steps between neighbouring integers, made of ReLUs.

Steps have ramps of width 1/2 around the midpoint, so that every value has a plateau of
±1/4 on which noise is removed; all constants are multiples of 1/2 and survive every
precision that can hold the integers (Lemmas 10, 11).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from krohn.compiler.units import Expression, Stage
from krohn.network.precision import FloatArray


@dataclass
class HiddenLayers:
    """The hidden layers of an MLP under construction.

    Attributes:
        count: How many there are: 1, always in the strict form; 2, to recognise and to
            combine; 3, if some table is read from a circle.
        slope: K, where ReLUs are made of GeLUs; else None.
        stages: Each of them, the lowest first.
    """

    count: int
    slope: float | None = None
    stages: list[Stage] = field(init=False)

    def __post_init__(self) -> None:
        self.stages = [Stage(self.slope) for _ in range(self.count)]

    @property
    def deep(self) -> bool:
        """Whether values are recognised one layer before they are combined."""
        return self.count > 1

    @property
    def recognise(self) -> Stage:
        """The first hidden layer."""
        return self.stages[0]

    @property
    def combine(self) -> Stage:
        """The second hidden layer, where there is one."""
        return self.stages[1 if self.deep else 0]

    def rise(
        self, twice: Mapping[int, float], middle: float, rising: bool
    ) -> Expression:
        """The step of twice a sum at its middle value, rising or falling."""
        sign = 1.0 if rising else -1.0
        inside = {dimension: sign * weight for dimension, weight in twice.items()}
        ramp = self.recognise.unit(Expression(inside, 0.5 - sign * middle))
        flat = self.recognise.unit(Expression(inside, -0.5 - sign * middle))
        return Expression().add(ramp).add(flat, -1.0)

    def beyond(self, dimension: int, inside: int, outside: int) -> Expression:
        """Exactly 0 up to 1/4 before the midpoint, at least 1 from ``outside`` on."""
        slope = 2.0 if outside > inside else -2.0
        middle = slope * (inside + outside) / 2
        return self.recognise.unit(Expression({dimension: slope}, 0.5 - middle))

    def pass_on(self, dimension: int) -> Expression:
        """A value that is never negative, passed on to where tables are combined."""
        inside = Expression({dimension: 1.0})
        return self.recognise.unit(inside) if self.deep else inside

    def conjunction(self, inside: Expression) -> Expression:
        """A unit where tables are combined."""
        return (self.combine if self.deep else self.recognise).unit(inside)

    def steps(
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
        return self.lift(outputs, 1)

    def saturating(
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
        return self.lift(outputs, 2)

    def lift(self, outputs: list[Expression], layers: int) -> list[Expression]:
        """Pass finished values, never negative, through all but the first layers."""
        for stage in self.stages[layers:]:
            outputs = [stage.unit(output) for output in outputs]
        return outputs
