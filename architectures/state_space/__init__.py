"""State-space models with gates, one layer for each level of a cascade."""

from krohn.program.slices import Architecture, Slice

SLICE = Slice(
    architectures={
        "ssm": Architecture(
            f"{__name__}.statement",
            f"{__name__}.meaning",
            f"{__name__}.draw:draw_state_space",
        )
    },
    rules={"state_space": f"{__name__}.check"},
    finders={f"{__name__}.check": f"{__name__}.find:layers"},
    kernel_evidence={"ssm": f"{__name__}.kernel:find_evidence"},
    networks={("ssm", "*"): f"{__name__}.commands:networks"},
    parts={"facts of ssm": f"{__name__}.commands:forms"},
    uses=("architectures.linear_recurrence",),
)
