"""Hidden Markov models, and the beliefs that their filter holds."""

from krohn.sources.hidden_markov.families import EXAMPLES, FAMILIES, named
from krohn.sources.hidden_markov.model import KIND, HiddenMarkovModel

__all__ = ["EXAMPLES", "FAMILIES", "KIND", "HiddenMarkovModel", "named"]
