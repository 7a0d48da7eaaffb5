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
    kernel_evidence={"rnn": f"{__name__}.kernel:find_evidence"},
    networks={
        ("rnn", name): f"{__name__}.commands:networks" for name in ("auto", "elman")
    },
    parts={"units of machines": f"{__name__}.build:Units"},
)
