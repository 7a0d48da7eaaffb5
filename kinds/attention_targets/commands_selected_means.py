"""Means over what is selected exactly, in the commands."""

from typing import Any, Literal

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.compile_options import CompileOptions
from krohn.compiler import CompileError
from krohn.kinds.attention_targets import source_selected_means as selected_means
from krohn.kinds.attention_targets.build import (
    SELECTED_MEAN,
    selected_mean,
)
from krohn.kinds.attention_targets.source_selected_means import SelectedMean
from krohn.kinds.attention_targets.statement_selected_mean import (
    NEAREST,
    SELECTION,
    StatedSelectedMean,
)
from krohn.network.architecture import parameters
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.source_kinds.base import Built
from krohn.source_kinds.real_outputs import Reference
from krohn.source_kinds.real_sequences import (
    Attended,
    Box,
    RealSequences,
)


class SelectedMeanFacts(Attended):
    """The facts of a mean over selected positions.

    Attributes:
        form: The rule that selects positions.
        inputs: The columns of an input.
        features: The features that the embedding computes of an input.
    """

    kind: Literal["selected-mean"]
    form: str
    inputs: str
    features: int


class SelectedMeans(RealSequences[SelectedMean]):
    """``Nearest6``, ``Gravity10``, ``Select8``."""

    wire = StatedSelectedMean.kind
    facts_types = (SelectedMeanFacts,)
    stated_type = StatedSelectedMean
    source = SelectedMean
    of_name = staticmethod(selected_means.find_by_name)
    takes = frozenset()
    measured = True

    def build(self, source: SelectedMean, asked: CompileOptions) -> Built:
        """The network, and what the checker shows of it."""
        options = asked.options
        if asked.length is not None:
            raise CompileError(
                f"the name says how long inputs are ({source.length} vectors); leave -T out"
            )
        network = selected_mean(source, options.precision)
        return self.with_error(source, SELECTED_MEAN, network, source.length, options)

    def describe_source(
        self, source: SelectedMean, asked: CompileOptions
    ) -> dict[str, Any]:
        """The facts as of other kinds, and first the form."""
        front = {"name": source.name, "kind": self.wire, "form": source.form}
        return {**front, **super().describe_source(source, asked)}

    def facts(self, source: SelectedMean, asked: CompileOptions) -> dict[str, Any]:
        """Its inputs, and what its network needs."""
        built, claim = self.build(source, asked)
        shape = built.network.architecture
        return {
            "error": claim["error"],
            "length": claim["length"],
            "inputs": ", ".join(column.name for column in source.columns),
            "construction": SELECTED_MEAN,
            "m_h": shape["d_qk"],
            "features": shape["features"],
            "parameters": parameters(shape),
        }

    def box(self, source: SelectedMean) -> Box:
        """The columns of an input."""
        names, low, high = zip(
            *((c.name, c.low / c.scale, c.high / c.scale) for c in source.columns),
            strict=True,
        )
        return Box(names, np.array(low), np.array(high))

    def check(self, source: SelectedMean, x: FloatArray) -> None:
        """Refuse what is no input, also numbers that are not on the grid."""
        super().check(source, x)
        if problem := source.problem(x):
            raise KrohnError(problem)

    def least(self, source: SelectedMean, length: int) -> int:
        """A selection names positions, which must be there."""
        return length if source.form == SELECTION else 1

    def reference(self, source: SelectedMean) -> Reference:
        """By comparing whole numbers."""
        return Reference(source.run, source.rounding)

    def sample_vectors(
        self, source: SelectedMean, shape: tuple[int, int], rng: np.random.Generator
    ) -> FloatArray:
        """Random inputs on the grid, with a candidate, and a pick for each vector."""
        parts = [
            rng.uniform(size=shape)
            if column.real
            else rng.integers(column.low, column.high + 1, shape) / column.scale
            for column in source.columns
        ]
        x: FloatArray = np.stack(parts, axis=2)
        if source.form == NEAREST:
            x[:, -1, 2] = 1.0
        if source.form == SELECTION:
            none = ~x[..., 2:].any(axis=2)
            x[none, 2] = 1.0
        return x

    def adversarial(
        self,
        source: SelectedMean,
        file: ModelFile,
        count: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Ends of all ranges, and ties: what is wrong is as near and as far off as can be.

        Each column is at one of its ends or next to one; what is averaged is so too.
        """
        shape = count, source.length
        parts = []
        for column in source.columns:
            last = column.high
            ends = np.array([column.low, last, min(column.low + 1, last), last])
            parts.append(rng.choice(ends, shape) / column.scale)
        x: FloatArray = np.stack(parts, axis=2)
        if source.form == NEAREST:
            x[:, -1, 2] = 1.0
        if source.form == SELECTION:
            one = rng.integers(source.length, size=shape)
            x[..., 2:] *= np.arange(source.length) == one[..., None]
            none = ~x[..., 2:].any(axis=2)
            x[..., 2][none] = 1.0
        return x
