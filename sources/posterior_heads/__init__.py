"""Hidden Markov models whose best guesses are one softmax head: keys, biases and values."""

from krohn.sources.posterior_heads.head import EXAMPLES, KIND, PosteriorHead, named

__all__ = ["EXAMPLES", "KIND", "PosteriorHead", "named"]
