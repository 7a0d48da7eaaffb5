"""Attempts to violate the bounds of a proof by running the network."""

from krohn.program.slices import Slice

SLICE = Slice(
    parts={"attack": f"{__name__}.campaign"},
    uses=(
        "architectures.generator",
        "architectures.recurrent",
    ),
)
