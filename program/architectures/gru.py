"""GRUs, as torch has them."""

from krohn.program.architectures.lstm import Gated


class Gru(Gated):
    """h alone."""

    kind, gates, starts = "gru", "rzn", ("start.hidden",)
