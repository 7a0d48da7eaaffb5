"""Counting programs (C-RASP)."""

from krohn.program.slices import Slice

SLICE = Slice(uses=("kinds.sequence_functions",))
