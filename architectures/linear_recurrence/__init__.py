"""Linear RNNs on real inputs."""

from krohn.program.slices import Architecture, Slice

SLICE = Slice(
    architectures={
        name: Architecture(f"{__name__}.statement", f"{__name__}.meaning")
        for name in ("linear-recurrence", "started-recurrence")
    },
)
