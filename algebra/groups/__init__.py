"""Permutation groups: what they are, what they are made of, how they split."""
