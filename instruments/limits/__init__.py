"""Limits of heads, from their tensors alone."""

from krohn.program.slices import Slice

SLICE = Slice()
