"""Training: recipes, runs that can be interrupted and go on, sweeps."""

from compare.training.balance import Balance
from compare.training.cells import Cell, Measure
from compare.training.recipe import Recipe
from compare.training.run import Run, train
from compare.training.sharpening import Sharpening
from compare.training.sweep import Result, sweep
from compare.training.trainer import Evaluation

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
