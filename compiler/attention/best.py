"""A head that finds the best-rated position whose key suits the query."""

import numpy as np

from krohn.compiler.attention import Lowering, Matrices, blank
from krohn.compiler.attention.places import equality_scale, value_at_bos
from krohn.compiler.layout import Layout
from krohn.compiler.positions import Positions
from krohn.network.precision import FloatArray
from krohn.program import Best, Mean, Program
from krohn.program.domains import IntArray


class BestLowering(Lowering):
    """Score slope·(rank + bonus·[key_j suits the query]), rank = (T + 1)·rating_j + j.

    The best rank wins among the keys that suit, else the sink: BOS, at slope·bonus/2. Its
    own key and rating are subtracted.
    """

    operation = Best
    features = frozenset({"one", "bos", "index"})

    def matrices(self, layout: Layout, positions: Positions, looked: Best) -> Matrices:
        """One entry for each key that suits some query, and one for the rank."""
        program, one = layout.plan.program, layout.features["one"][0]
        slope, bonus = self.largest(positions)[:2]
        keys, last = keys_that_count(program, looked), -1
        query, key = blank(layout, len(keys) + 1)
        fill_queries(layout, looked, keys, query[:, :last], slope)
        own = layout.places[looked.key].start + keys
        key[own, np.arange(len(keys))] = bonus
        query[one, last] = slope
        key[layout.features["index"][0], last] = 1.0
        rating, above = layout.places[looked.rating].start, positions.length + 1.0
        each = np.array(program.domains[looked.rating], dtype=np.int64)
        wide = looked.rating in program.one_hot
        key[rating + each * wide, last] = above * (each if wide else 1)
        bos = layout.features["bos"][0]
        key[bos, last] = bonus / 2 - above * value_at_bos(program, looked.rating)
        key[bos, :last] = -bonus * (keys == value_at_bos(program, looked.key))
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """The slope, the bonus, and what the largest rating adds."""
        above = positions.length + 1
        ranks = above * (positions.best_rating + 1) - 1
        scale = equality_scale(ranks, positions.precision)
        return [*scale, float(above * positions.best_rating)]

    def query_size(self, program: Program, positions: Positions, looked: Best) -> int:
        """The keys that suit some query, and one entry for the rank."""
        return len(keys_that_count(program, looked)) + 1


def keys_that_count(program: Program, looked: Best | Mean) -> IntArray:
    """The values of the key that suit some value of the query, ascending."""
    assert program.one_hot.issuperset((looked.key, looked.query))
    keys = np.array(program.domains[looked.key], dtype=np.int64)
    asked = program.domains[looked.query]
    return keys[np.any([looked.suits(keys, c) for c in asked], axis=0)]


def fill_queries(
    layout: Layout,
    looked: Best | Mean,
    keys: IntArray,
    query: FloatArray,
    slope: float,
) -> None:
    """Fill in queries, ``(d, keys)``: the slope for each key that suits the query."""
    place = layout.places[looked.query].start
    for c in layout.plan.program.domains[looked.query]:
        query[place + c] = slope * looked.suits(keys, c)
