"""One layer of several attention heads on real inputs, without an MLP."""

from krohn.program.slices import Architecture, Slice

SLICE = Slice(
    architectures={
        "multihead-attention": Architecture(
            f"{__name__}.statement", f"{__name__}.meaning"
        )
    },
)
