"""Training: recipes, runs that can be interrupted and go on, sweeps."""

from krohn.compare.training.recipe import Balance, Recipe, Sharpening, Steadiness
from krohn.compare.training.run import Cell, Measure, Run, train
from krohn.compare.training.sweep import Result, sweep
from krohn.compare.training.trainer import Evaluation

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
