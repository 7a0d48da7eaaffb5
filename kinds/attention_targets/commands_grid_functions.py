"""Functions on grids in the commands: encoded inputs, a network that is exact on all."""

from itertools import pairwise, product
from typing import Any, Literal

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.compile_options import CompileOptions
from krohn.compiler import CompileError
from krohn.kinds.attention_targets.build import (
    UNIVERSAL,
    grid_function,
)
from krohn.kinds.attention_targets.source_grid_function import (
    GridFunction,
    find_by_name,
    simple,
    superpose_triple,
)
from krohn.kinds.attention_targets.statement_grid_function import StatedGridFunction
from krohn.network.architecture import parameters
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program.errors import told_as
from krohn.source_kinds.base import Built
from krohn.source_kinds.real_outputs import Reference
from krohn.source_kinds.real_sequences import (
    Attended,
    Box,
    RealSequences,
)


class GridFunctionFacts(Attended):
    """The facts of a function on a grid.

    Attributes:
        dimensions: The numbers of an input vector.
        inputs: The inputs of the grid, counted.
        triple: The coupling ρ and the number n of outputs of f that represent the
            function.
        as_superposition: The outputs of f, if the function is written as a
            superposition.
        exact_values: The outputs, one at each position of each input, that both
            representations give exactly.
        units: The hidden units of the MLPs for features, and for outputs.
    """

    kind: Literal["grid-function"]
    dimensions: int
    inputs: int
    triple: str
    as_superposition: str
    exact_values: int
    units: tuple[list[int], list[int]]


class GridFunctions(RealSequences[GridFunction]):
    """Functions of finitely many inputs: ``Sorted3,4``, ``RanGrid3,4@5``, or an object."""

    wire = StatedGridFunction.kind
    facts_types = (GridFunctionFacts,)
    stated_type = StatedGridFunction
    source = GridFunction
    of_name = staticmethod(find_by_name)
    takes = frozenset()
    measured = True

    def build(self, source: GridFunction, asked: CompileOptions) -> Built:
        """The network of its triple, with the error that the checker shows."""
        if asked.length not in (None, source.length):
            raise CompileError(
                f"{source.name} is about inputs of {source.length} points; leave -T out"
            )
        asked.choose_construction({"transformer": UNIVERSAL})
        with told_as(CompileError, f"{source.name}: "):
            source.to_wire()
        options = asked.options
        network = grid_function(source, options.precision)
        arguments = UNIVERSAL, network, source.length, options
        built, claim = self.with_error(source, *arguments)
        if 2 * claim["error"] >= _least_gap(source):
            raise CompileError(
                f"{options.precision.name} is too narrow: outputs could be off by "
                f"{claim['error']:.3g}, and so not tell values apart; say float64"
            )
        return built, claim

    def facts(self, source: GridFunction, asked: CompileOptions) -> dict[str, Any]:
        """Its triples, checked exactly, and what its network needs."""
        built, claim = self.build(source, asked)
        shape, small = built.network.architecture, simple(source)
        large = superpose_triple(source)
        return {
            "error": claim["error"],
            "length": source.length,
            "dimensions": source.dimensions,
            "inputs": len(source.values),
            "triple": f"ρ = ln 2 · [same position], n = {small.width}",
            "as_superposition": f"n = {large.width}",
            "exact_values": min(small.check(source), large.check(source)),
            "construction": UNIVERSAL,
            "m_h": shape["d_qk"],
            "units": [shape["features_units"], shape["output_units"]],
            "parameters": parameters(shape),
        }

    def box(self, source: GridFunction) -> Box:
        """The smallest box around the points."""
        points = np.array([p for piece in source.pieces for p in piece], np.float64)
        names = tuple(f"x{k + 1}" for k in range(source.dimensions))
        return Box(names, points.min(axis=0), points.max(axis=0))

    def least(self, source: GridFunction, length: int) -> int:
        """All positions are there."""
        return length

    def check(self, source: GridFunction, x: FloatArray) -> None:
        """Refuse what is no input: position t has a point of its own set."""
        for t, (point, piece) in enumerate(
            zip(x.tolist(), source.pieces, strict=False)
        ):
            own = [[float(y) for y in p] for p in piece]
            if point not in own:
                points = " ".join(",".join(f"{y:g}" for y in p) for p in own[:8])
                raise KrohnError(
                    f"vector {t + 1} is no point of its position; it has {points}"
                )

    def reference(self, source: GridFunction) -> Reference:
        """The table itself."""
        table = source.values

        def run(x: FloatArray) -> FloatArray:
            rows = [tuple(map(tuple, row)) for row in x.tolist()]
            return np.array([[[float(y)] for y in table[row]] for row in rows])

        return Reference(run, 0.0)

    def sample_vectors(
        self, source: GridFunction, shape: tuple[int, int], rng: np.random.Generator
    ) -> FloatArray:
        """``(count, τ, d)``: random points of the positions."""
        drawn = [
            np.array(piece, np.float64)[rng.integers(len(piece), size=shape[0])]
            for piece in source.pieces
        ]
        return np.stack(drawn, axis=1)

    def adversarial(
        self,
        source: GridFunction,
        file: ModelFile,
        count: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """None is worse than others: the first of all inputs, in order."""
        return _all(source)[:count]

    def list_inputs(self, file: ModelFile, length: int) -> FloatArray:
        """All inputs, of which there are finitely many."""
        source = self.of_file(file)
        if length < source.length:
            raise KrohnError(f"an input has {source.length} points, not {length}")
        return _all(source)


def _least_gap(source: GridFunction) -> float:
    """Between any two values of a function."""
    values = sorted({float(y) for outputs in source.values.values() for y in outputs})
    return min((b - a for a, b in pairwise(values)), default=float("inf"))


def _all(source: GridFunction) -> FloatArray:
    return np.array(list(product(*source.pieces)), np.float64)
