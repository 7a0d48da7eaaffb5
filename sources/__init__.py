"""What a network can compute beside machines, with exact reference interpreters."""

from sources import dynamic_programs, hidden_markov, in_context, linear_systems
from sources.sequence_functions import catalogue

FAMILIES = {
    "chain-of-thought": dynamic_programs.FAMILIES,
    hidden_markov.KIND: hidden_markov.EXAMPLES,
    in_context.KIND: in_context.EXAMPLES,
    linear_systems.KIND: linear_systems.EXAMPLES,
    "program": catalogue.FAMILIES,
}
"""By kind an example of each family that has names, with what it is."""
