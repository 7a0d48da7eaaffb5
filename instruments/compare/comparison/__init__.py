"""A machine's derived network beside networks that are trained on the same task."""

from krohn.instruments.compare.comparison.result import Comparison

__all__ = ["Comparison"]
