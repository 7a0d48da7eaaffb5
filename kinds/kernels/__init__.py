"""Kernels: causal convolutions of real inputs, as linear RNNs and attention layers."""

from krohn.program.slices import Slice, Source

SLICE = Slice(
    sources={
        "kernel": Source(
            f"{__name__}.commands:Kernels",
            r"(Exp|Power|Delay|Mean|RanKernel)\d",
            (".kernel", ".csv"),
            objects=(f"{__name__}.source_kernel",),
            examples=f"{__name__}.source_examples:EXAMPLES",
            inputs=f"{__name__}.statement_inputs:interval",
        )
    },
    readers={
        ("attention-layer", "kernel"): f"{__name__}.check_attention",
        ("linear-recurrence", "kernel"): f"{__name__}.check_rnn",
    },
    finders={f"{__name__}.check_rnn": f"{__name__}.find:groups"},
    public={"kernel": f"{__name__}.commands"},
    uses=("architectures.attention_layer", "architectures.linear_recurrence"),
)
