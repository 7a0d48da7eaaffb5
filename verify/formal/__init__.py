"""Proofs for Coq: model files as terms, and a theorem about them that Coq checks.

The library, ``*.v`` beside this module, states what a network computes and has a checker
of evidence that is proved sound. docs/instruments/formal.md reads the statements line by
line.
"""
