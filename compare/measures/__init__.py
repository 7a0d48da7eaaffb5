"""How good a network is: rates with intervals, curves, baselines, failures."""

from compare.measures.accuracy import Accuracy
from compare.measures.answers import simulator
from compare.measures.baselines import Baseline
from compare.measures.curves import Curve, by_bias, by_count, by_length, countable
from compare.measures.rates import Rate, Spread, spread

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
