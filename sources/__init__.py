"""What a network can compute beside machines, with exact reference interpreters."""

from krohn.sources import (
    counting,
    dynamic_programs,
    grammars,
    hidden_markov,
    in_context,
    kernels,
    linear_systems,
    posterior_heads,
    rewriting,
)
from krohn.sources.attention_targets import grid_function
from krohn.sources.sequence_functions import catalogue

FAMILIES = {
    "chain-of-thought": dynamic_programs.FAMILIES,
    grid_function.KIND: grid_function.EXAMPLES,
    hidden_markov.KIND: hidden_markov.EXAMPLES | grammars.FAMILIES,
    in_context.KIND: in_context.EXAMPLES,
    kernels.KIND: kernels.EXAMPLES,
    linear_systems.KIND: linear_systems.EXAMPLES,
    "increasing": {"ShortLIS20": "longest increasing subsequence, one number a number"},
    posterior_heads.KIND: posterior_heads.EXAMPLES,
    "rewriting": rewriting.EXAMPLES,
    "program": catalogue.FAMILIES | counting.FAMILIES,
}
"""By kind an example of each family that has names, with what it is."""
