"""Kinds of sources, one folder each."""
