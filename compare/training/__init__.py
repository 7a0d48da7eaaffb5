"""Training: recipes, runs that can be interrupted and go on, sweeps."""

from krohn.compare.training.balance import Balance
from krohn.compare.training.cells import Cell, Measure
from krohn.compare.training.recipe import Recipe
from krohn.compare.training.run import Run, train
from krohn.compare.training.sharpening import Sharpening
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
    "sweep",
    "train",
]
