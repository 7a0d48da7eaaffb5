"""Hidden Markov models, and the beliefs that their filter holds."""

from sources.hidden_markov.model import KIND, HiddenMarkovModel

__all__ = ["KIND", "HiddenMarkovModel"]
