"""Elman networks, LSTMs and GRUs, as training makes them."""

from krohn.program.slices import Architecture, Slice

SLICE = Slice(
    architectures={
        name: Architecture(
            f"{__name__}.statement_{name}",
            f"{__name__}.meaning_{name}",
            "krohn.architectures.recurrent.draw:draw_rnn",
        )
        for name in ("elman", "gru", "lstm")
    },
    rules={"gated_recurrent": f"{__name__}.check"},
    parts={"recurrent networks": f"{__name__}.commands:model_file"},
    finders={f"{__name__}.check": f"{__name__}.find:simulation"},
    kernel_evidence=dict.fromkeys(
        ("elman", "gru", "lstm"), f"{__name__}.kernel:find_evidence"
    ),
    networks={
        (name, construction): "krohn.architectures.recurrent.commands:networks"
        for name in ("lstm", "gru")
        for construction in ("auto", "saturated")
    },
    public={"from_torch": f"{__name__}.commands"},
    uses=("architectures.recurrent",),
)
