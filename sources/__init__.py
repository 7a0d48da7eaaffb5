"""What a network can compute beside machines, with exact reference interpreters."""

from sources import dynamic_programs

FAMILIES = {"chain-of-thought": dynamic_programs.FAMILIES}
"""By kind an example of each family that has names, with what it is."""
