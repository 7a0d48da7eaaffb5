"""Limits of heads, from their tensors alone."""

from krohn.program.slices import Slice

SLICE = Slice(
    parts={
        "limits of heads": f"{__name__}.head_limits:head_bounds",
        "limits of modules": f"{__name__}.layer_norm:module_bounds",
    },
    uses=("architectures.generator",),
)
