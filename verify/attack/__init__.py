"""Attempts to violate the bounds of a proof by running the network.

The proof says how far every stored number can be from where it should be, for all words,
orders of summation and kernels (docs/soundness.md). Here real networks are run, in many
ways and on words that were bred to be bad, and every number is held against its bound. One
number beyond its bound is an error of the checker or of its assumptions.
"""
