"""Many machines at once."""

from krohn.program.slices import Slice

SLICE = Slice(
    commands={"batch": f"{__name__}.commands:batch"},
)
