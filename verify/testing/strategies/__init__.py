"""Strategies: long words that break networks, each for a reason of its own.

Random words hardly ever keep a state for long, count to an extreme, or come back to what
was far away; networks fail there (thesis, section 3.5). Some strategies know the shapes
of such words; others find them in the machine's algebra.
"""

from krohn.verify.testing.strategies.journeys import levels, rare, returns, walls
from krohn.verify.testing.strategies.shapes import (
    code_periods,
    constant,
    counts,
    loops,
    needles,
    no_ops,
    periodic,
    resets,
    runs,
    switch,
    synchronise_states,
    turns,
)
from krohn.verify.testing.strategies.strategy import Strategy, uniform

STRATEGIES: dict[str, Strategy] = {
    "uniform": uniform,
    "constant": constant,
    "runs": runs,
    "switch": switch,
    "needles": needles,
    "periodic": periodic,
    "loops": loops,
    "counts": counts,
    "no-ops": no_ops,
    "resets": resets,
    "synchronised": synchronise_states,
    "levels": levels,
    "walls": walls,
    "rare": rare,
    "turns": turns,
    "code periods": code_periods,
    "returns": returns,
}

__all__ = ["STRATEGIES", "Strategy", "uniform"]
