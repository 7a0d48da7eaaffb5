"""How good a network is: rates with intervals, curves, baselines, failures."""

from krohn.compare.measures.accuracy import Accuracy, Rate, Spread, simulator, spread
from krohn.compare.measures.baselines import Baseline
from krohn.compare.measures.curves import Curve, by_bias, by_count, by_length, countable

__all__ = [
    "Accuracy",
    "Baseline",
    "Curve",
    "Rate",
    "Spread",
    "by_bias",
    "by_count",
    "by_length",
    "countable",
    "simulator",
    "spread",
]
