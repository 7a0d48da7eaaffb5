"""Linear RNNs on real inputs."""

from krohn.program.slices import Architecture, Slice

SLICE = Slice(
    architectures={
        "linear-recurrence": Architecture(
            f"{__name__}.statement", f"{__name__}.meaning"
        )
    },
)
