"""Proofs that tensors compute a machine, and searches for words on which they do not.

Nothing here knows how weights are made: the proof reads a model file and a machine.
"""
