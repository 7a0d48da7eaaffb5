"""The learning rate of each step."""

import math

from krohn.compare.training.recipe import Recipe


def rate(recipe: Recipe, step: int) -> float:
    """The learning rate of a step, counted from 0.

    It rises in equal parts over the warm-up, which ends at the highest rate, and then
    falls so that the step after the last one would have 0 (thesis, section 3.5.6.2).
    """
    if step < recipe.warmup:
        return recipe.rate * (step + 1) / recipe.warmup
    left = recipe.steps - recipe.warmup
    passed = (step - recipe.warmup) / left
    shares = {
        "constant": 1.0,
        "linear": 1 - passed,
        "cosine": (1 + math.cos(math.pi * passed)) / 2,
    }
    return recipe.rate * shares[recipe.decay]
