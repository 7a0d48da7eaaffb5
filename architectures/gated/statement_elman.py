"""Elman networks with hyperbolic tangents (Elman 1990), as torch has them."""

from krohn.architectures.gated.statement_lstm import Gated


class Elman(Gated):
    """h alone, which is its only gate."""

    kind, gates, starts = "elman", "h", ("start.hidden",)
    version = 5
