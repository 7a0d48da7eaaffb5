"""A head that is uniform on the positions whose key suits the query."""

from math import ceil, log, log2

import numpy as np

from krohn.compiler import CompileError
from krohn.compiler.attention import Lowering, Matrices, blank
from krohn.compiler.attention.best import fill_queries, keys_that_count
from krohn.compiler.attention.places import value_at_bos
from krohn.compiler.layout import Layout
from krohn.compiler.positions import Positions, leak_target
from krohn.program import Mean, Program


class MeanLowering(Lowering):
    """Score slope where the key suits, slope/2 at BOS, 0 elsewhere.

    So positions that suit weigh alike, and BOS is found where there are none. T rivals
    behind by slope/2 weigh a quarter of a rounding error together.
    """

    operation = Mean
    features = frozenset({"one", "bos"})

    def matrices(self, layout: Layout, positions: Positions, looked: Mean) -> Matrices:
        """One entry for each key that suits some query, and one for BOS."""
        program, last = layout.plan.program, -1
        keys, (slope, _) = keys_that_count(program, looked), self.largest(positions)
        query, key = blank(layout, len(keys) + 1)
        fill_queries(layout, looked, keys, query[:, :last], slope)
        key[layout.places[looked.key].start + keys, np.arange(len(keys))] = 1.0
        query[layout.features["one"][0], last] = slope
        bos = layout.features["bos"][0]
        key[bos, last] = 0.5
        key[bos, :last] = -1.0 * (keys == value_at_bos(program, looked.key))
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """The slope, and the largest key.

        Raises:
            CompileError: If the format rounds fractions more coarsely when it stores them.
        """
        precision = positions.precision
        if precision.digits < precision.accumulator_digits:
            raise CompileError(
                f"{precision.name} cannot tell means apart; use a wider dtype"
            )
        needed = log((positions.length + 1) / leak_target(precision))
        return [float(2 ** (1 + ceil(log2(needed)))), 1.0]

    def query_size(self, program: Program, positions: Positions, looked: Mean) -> int:
        """The keys that suit some query, and one entry for BOS."""
        return len(keys_that_count(program, looked)) + 1
