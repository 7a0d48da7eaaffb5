"""A head that looks a fixed number of positions back."""

import numpy as np

from krohn.compiler.attention.base import Lowering, Matrices, blank
from krohn.compiler.layout import Layout
from krohn.compiler.positions import Positions, match_scale
from krohn.program import Program, Shift


class ShiftLowering(Lowering):
    """A match at position t − by; BOS is the sink, halfway to all other positions."""

    operation = Shift
    features = frozenset({"one", "bos", "code"})
    uniform = True

    def matrices(self, layout: Layout, positions: Positions, looked: Shift) -> Matrices:
        """The code of a position, rotated by the distance."""
        code = positions.code
        assert code is not None
        scale = match_scale(code, positions.horizon, positions.precision)
        n = code.dimensions
        query, key = blank(layout, n + 1)
        low, high = layout.features["code"]
        query[low:high, :n] = scale * code.rotation(looked.by)
        key[low:high, :n] = scale * np.eye(n)
        query[layout.features["one"][0], n] = scale
        key[layout.features["bos"][0], n] = scale * (code.terms - code.lead)
        return query, key

    def largest(self, positions: Positions) -> list[float]:
        """The scale, and the key of BOS."""
        code = positions.code
        assert code is not None
        scale = match_scale(code, positions.horizon, positions.precision)
        return [scale * max(1.0, code.terms - code.lead)]

    def query_size(self, program: Program, positions: Positions, looked: Shift) -> int:
        """The dimensions of the code, and one for the sink."""
        assert positions.code is not None
        return positions.code.dimensions + 1
