"""One layer of attention on real inputs."""

from krohn.program.slices import Architecture, Slice

SLICE = Slice(
    architectures={
        "attention-layer": Architecture(f"{__name__}.statement", f"{__name__}.meaning")
    },
)
