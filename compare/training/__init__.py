"""Training: recipes, runs that can be interrupted and go on, sweeps."""

from compare.training.recipe import Recipe

__all__ = ["Recipe"]
