"""How much of a flip-flop a window of letters can know: estimated, and exactly."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.zoo.flipflop import ceiling
from compare.measures.ngram import TOKENS, best_ngram
from compare.tasks.catalogue import task
from compare.tasks.flipflop import FlipFlop


@dataclass(frozen=True)
class Window:
    """Reads of the last n letters alone.

    Attributes:
        order: n.
        held_out: The share that an n-gram reads rightly of words that it did not count.
        ceiling: The share that the best guess reads rightly, computed.
    """

    order: int
    held_out: float
    ceiling: float

    def to_object(self) -> dict[str, Any]:
        """Itself for JSON."""
        return {
            "order": self.order,
            "held_out": self.held_out,
            "ceiling": self.ceiling,
        }


def windows(
    ignore: float,
    rng: np.random.Generator,
    length: int,
    most: int | None = None,
    tokens: int = TOKENS,
) -> tuple[Window, ...]:
    """Windows of ascending sizes on words of FFL(length, ignore).

    Args:
        ignore: p.
        rng: The source of the words.
        length: Letters in each word, even and at least 4.
        most: The greatest n; None for the length.
        tokens: How many letters the n-grams are estimated from.

    Raises:
        KrohnError: If there are no such words.
    """
    asked = task("flip-flop", FlipFlop((ignore,)))
    chosen = best_ngram(asked, rng, length, most, tokens)
    return tuple(
        Window(order, share, ceiling(order, length, ignore))
        for order, share in chosen.held_out.items()
        if order
    )
