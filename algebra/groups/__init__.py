"""Permutation groups: their names, composition factors and extensions."""
