"""Questions to an SMT solver (z3): networks as exact rational arithmetic."""

from krohn.program.slices import Slice

SLICE = Slice(
    parts={"smt": f"{__name__}.commands"},
    uses=("instruments.gadgets", "kinds.dynamic_programs"),
)
