"""How good a network is: rates with intervals, curves, baselines, failures."""

from krohn.instruments.compare.measures.accuracy import (
    Accuracy,
    Rate,
    Spread,
    simulator,
    spread,
)
from krohn.instruments.compare.measures.baselines import Baseline
from krohn.instruments.compare.measures.curves import (
    Curve,
    by_bias,
    by_count,
    by_length,
    countable,
)

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
