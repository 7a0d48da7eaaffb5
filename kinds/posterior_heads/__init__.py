"""Posterior heads: the posterior of a hidden state, by one head of attention."""

from krohn.kinds.hidden_markov import PROCESSES
from krohn.program.slices import Slice, Source

SLICE = Slice(
    sources={
        "posterior-head": Source(
            f"{__name__}.commands:PosteriorHeads",
            rf"GaussianHMM|Power|Twin|({PROCESSES}).*given",
            objects=(f"{__name__}.source",),
            inputs=f"{__name__}.statement_inputs:points_or_letters",
        )
    },
    readers={("attention-layer", "posterior-head"): f"{__name__}.check"},
    uses=("kinds.hidden_markov", "architectures.attention_layer"),
)
