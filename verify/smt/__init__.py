"""Questions to an SMT solver (z3): networks as exact rational arithmetic.

Every float of a model file is a rational number, and here the network that it describes
is evaluated over the rationals: nothing is rounded, and a head takes the value at a
largest score instead of a softmax. What is decided of this *ideal* network is another
claim than a proof of the network in its number format (docs/instruments/smt.md).
"""
