"""Probabilistic grammars, cut to a depth: hidden Markov models of their words."""

from krohn.program.slices import Slice

SLICE = Slice(uses=("kinds.hidden_markov",))
