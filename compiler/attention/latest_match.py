"""A head that finds the last position whose key equals the query."""

from math import ceil, log, log2
from typing import ClassVar

import numpy as np

from krohn.compiler.attention.base import Lowering, Matrices, blank
from krohn.compiler.errors import CompileError
from krohn.compiler.layout import Layout
from krohn.compiler.positions import Positions, leak_target
from krohn.network.precision import Precision
from krohn.program import LatestMatch, Match, Operation, Program
from krohn.program.domains import IntArray
from krohn.program.interpreter import interpret


def equality_scale(length: int, precision: Precision) -> tuple[float, float]:
    """Slope per position and bonus, in positions, of a head that matches values.

    A position j scores slope·(j + bonus·[key is query]), BOS slope·bonus/2. The bonus is
    at least 2(T + 1), so that BOS lies above all mismatches by at least one position and
    below all matches by T + 2. Scores must be exact: integers up to T + bonus must fit.

    Raises:
        CompileError: If they do not.
    """
    bonus = float(2 ** ceil(log2(2 * (length + 1))))
    slope = float(2 ** ceil(log2(log(2 / leak_target(precision)))))
    most = length + bonus
    if most > 2.0**precision.digits or most * slope > precision.largest:
        raise CompileError(
            f"{precision.name} cannot order {length} positions behind a match; "
            "use a shorter length or a wider dtype"
        )
    return slope, bonus


class LatestMatchLowering(Lowering):
    """Score slope·(j + bonus·[key_j = query]): the latest match wins, else the sink.

    The sink is BOS, at slope·bonus/2. Its own key is subtracted, so that no query finds
    it among the matches.
    """

    operation: ClassVar[type[Operation]] = LatestMatch
    features = frozenset({"one", "bos", "index"})

    def matrices(self, layout: Layout, positions: Positions, looked: Match) -> Matrices:
        """One entry for each value that keys and queries share, and one for the order."""
        program = layout.plan.program
        slope, bonus = self.largest(positions)
        compared = _common_values(program, looked)
        n, index = len(compared), np.arange(len(compared))
        query, key = blank(layout, n + 1)
        query[layout.places[looked.query].start + compared, index] = slope
        key[layout.places[looked.key].start + compared, index] = bonus
        query[layout.features["one"][0], n] = slope
        key[layout.features["index"][0], n] = 1.0
        bos = layout.features["bos"][0]
        key[bos, n] = bonus / 2
        key[bos, index] = -bonus * (compared == _at_bos(program, looked.key))
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """The slope and the bonus."""
        return [*equality_scale(positions.length, positions.precision)]

    def query_size(self, program: Program, positions: Positions, looked: Match) -> int:
        """The values compared, and one entry for the order."""
        return len(_common_values(program, looked)) + 1


def _common_values(program: Program, looked: Match) -> IntArray:
    """The values that a key and a query can both have, ascending."""
    assert program.one_hot.issuperset((looked.key, looked.query))
    return np.intersect1d(program.domains[looked.key], program.domains[looked.query])


def _at_bos(program: Program, name: str) -> int:
    return int(interpret(program, np.zeros((1, 0), dtype=np.int64))[name][0, 0])
