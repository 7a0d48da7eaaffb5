"""The most work that a proof may take; a longer one is not worth compiling for."""

MOST_SCORES = 2**28
"""Scores of one head that are looked at one by one: about a minute."""
