"""The type of a comparison as JSON."""

from krohn.instruments.compare.comparison.belief_result import BeliefComparison
from krohn.instruments.compare.comparison.result import Comparison

COMPARISON = Comparison | BeliefComparison
"""What ``krohn compare`` prints."""
