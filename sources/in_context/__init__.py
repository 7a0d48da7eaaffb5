"""Learning in context: prompts, and the gradient descent that a network does on them."""

from krohn.sources.in_context.gradient_descent import (
    Regression,
    condition,
    descent,
    exactly,
    least_squares,
    marginal,
    regression,
    rounding,
)
from krohn.sources.in_context.prompts import (
    DELIMITER,
    EXAMPLES,
    KIND,
    InContext,
    Prompt,
    named,
)

__all__ = [
    "DELIMITER",
    "EXAMPLES",
    "KIND",
    "InContext",
    "Prompt",
    "Regression",
    "condition",
    "descent",
    "exactly",
    "least_squares",
    "marginal",
    "named",
    "regression",
    "rounding",
]
