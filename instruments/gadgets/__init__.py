"""Small MLPs for networks that are built by hand, each with a bound on its error."""

from krohn.program.slices import Slice

SLICE = Slice(parts={"gadgets": f"{__name__}.catalogue"})
