"""Mutation score of a checker: change models at random, see what it says, run them all.

A checker that accepts a mutant whose outputs are wrong is unsound; the share of harmless
mutants that it rejects says how much more than soundness it asks for.
"""
