"""Hidden Markov models whose best guesses are one softmax head: keys, biases and values."""

from krohn.sources.posterior_heads.families import EXAMPLES, named
from krohn.sources.posterior_heads.head import KIND, PosteriorHead

__all__ = ["EXAMPLES", "KIND", "PosteriorHead", "named"]
