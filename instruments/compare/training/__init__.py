"""Training: recipes, runs that can be interrupted and go on, sweeps."""

from krohn.instruments.compare.training.recipe import (
    Balance,
    Recipe,
    Sharpening,
    Steadiness,
)
from krohn.instruments.compare.training.run import (
    Cell,
    Measure,
    Run,
    train,
)
from krohn.instruments.compare.training.sweep import (
    Result,
    sweep,
)
from krohn.instruments.compare.training.trainer import Evaluation

__all__ = [
    "Balance",
    "Cell",
    "Evaluation",
    "Measure",
    "Recipe",
    "Result",
    "Run",
    "Sharpening",
    "Steadiness",
    "sweep",
    "train",
]
