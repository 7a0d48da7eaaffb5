"""Posterior heads: the posterior of a hidden state, by one head of attention."""

from krohn.kinds.hidden_markov import PROCESSES
from krohn.program.slices import Schema, Slice, Source

SLICE = Slice(
    sources={
        "posterior-head": Source(
            f"{__name__}.commands:PosteriorHeads",
            rf"GaussianHMM|Power|Twin|({PROCESSES}).*given",
            objects=(f"{__name__}.source",),
            examples=f"{__name__}.source_examples:EXAMPLES",
            inputs=f"{__name__}.statement_inputs:points_or_letters",
        )
    },
    readers={("attention-layer", "posterior-head"): f"{__name__}.check"},
    commands={"decompile": f"{__name__}.command_line:decompile"},
    schemas={
        "decompile": Schema(
            "`krohn decompile --json`", f"{__name__}.commands_schemas:DECOMPILED"
        ),
    },
    public={
        "decompile": f"{__name__}.commands_decompile",
        "gaussian_hmm": f"{__name__}.commands_objects",
        "masked": f"{__name__}.commands_objects",
    },
    uses=("kinds.hidden_markov", "architectures.attention_layer"),
)
