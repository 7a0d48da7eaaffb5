"""GRUs, as torch has them."""

from krohn.architectures.gated.statement_lstm import Gated


class Gru(Gated):
    """h alone."""

    kind, gates, starts = "gru", "rzn", ("start.hidden",)
