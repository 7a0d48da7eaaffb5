"""ReLU RNNs that follow a machine."""

from krohn.program.slices import Architecture, Slice

SLICE = Slice(
    architectures={
        "rnn": Architecture(
            f"{__name__}.statement", f"{__name__}.meaning", f"{__name__}.draw:draw_rnn"
        )
    },
    rules={"recurrent": f"{__name__}.check"},
    finders={f"{__name__}.check": f"{__name__}.find:simulation"},
)
