"""A machine's derived network beside networks that are trained on the same task."""

from krohn.comparison.result import Comparison

__all__ = ["Comparison"]
