"""How good a network is: rates with intervals, curves, baselines, failures."""

from krohn.compare.measures.accuracy import Accuracy
from krohn.compare.measures.answers import simulator
from krohn.compare.measures.baselines import Baseline
from krohn.compare.measures.curves import Curve, by_bias, by_count, by_length, countable
from krohn.compare.measures.rates import Rate, Spread, spread

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
