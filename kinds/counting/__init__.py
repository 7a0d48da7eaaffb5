"""Counting programs (C-RASP)."""

from krohn.program.slices import Slice

SLICE = Slice(
    commands={"crasp": f"{__name__}.command_line:crasp"},
    uses=("kinds.sequence_functions", "instruments.equivalence"),
)
