"""Targets of one layer of attention: rates, grid functions, selected means."""

from krohn.program.slices import Slice, Source

SLICE = Slice(
    sources={
        "attention-target": Source(
            f"{__name__}.commands:AttentionTargets",
            r"Sine(?![\w,]*+\.[a-z])",
            objects=(f"{__name__}.source_target",),
            inputs=f"{__name__}.statement_inputs:unit_interval",
        ),
        "grid-function": Source(
            f"{__name__}.commands_grid_functions:GridFunctions",
            r"Sorted\d|RanGrid",
            objects=(f"{__name__}.source_grid_function",),
            examples=f"{__name__}.source_examples:EXAMPLES",
            inputs=f"{__name__}.statement_inputs:points",
        ),
        "selected-mean": Source(
            f"{__name__}.commands_selected_means:SelectedMeans",
            r"(Nearest|Gravity|Select)\d",
            objects=(f"{__name__}.source_selected_means",),
            inputs=f"{__name__}.statement_inputs:selections",
        ),
    },
    readers={
        ("attention-layer", "attention-target"): f"{__name__}.check_target",
        ("attention-layer", "grid-function"): f"{__name__}.check_grid_function",
        ("attention-layer", "selected-mean"): f"{__name__}.check_selected_mean",
    },
    public={"attention_target": f"{__name__}.source_sampling"},
    uses=("architectures.attention_layer",),
)
