"""Probabilistic grammars, cut to a depth: hidden Markov models of their words."""

from krohn.program.slices import Slice

SLICE = Slice(
    commands={"grammar": f"{__name__}.command_line:grammar"},
    uses=("kinds.hidden_markov",),
)
