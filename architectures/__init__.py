"""Architectures beside the Transformer, one folder each."""
