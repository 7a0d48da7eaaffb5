"""A picture of the networks that compute a machine: their blocks and their parameters."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from krohn.drawing.canvas import FAINT, INK, PALETTE, DrawingError, legible

MOST_BLOCKS = 200
"""Blocks of the deepest network of which the curve of equal products is drawn."""


def draw_front(facts: Mapping[str, Any]) -> Figure:
    """The networks that no other one beats, by blocks and parameters.

    The curve joins all sizes with the parameters × blocks² of the chosen network; the
    compromise leaves nothing below it but scans of higher radix.

    Args:
        facts: What `krohn.explain` says of a machine.

    Raises:
        DrawingError: If it is about another source, or nothing applies.
    """
    front = facts.get("front")
    if not front:
        raise DrawingError(
            "there is nothing to draw: -o draws the networks of a machine, if there are any"
        )
    figure = Figure(figsize=(7, 4.5))
    axes = figure.subplots()
    for row in front:
        at, chosen = (row["layers"], row["parameters"]), row["chosen"]
        axes.plot(*at, "o", color=PALETTE[1] if chosen else PALETTE[0])
        text = f"{row['name']}, depth {row['depth']}"
        axes.annotate(text, at, xytext=(5, 5), textcoords="offset points", fontsize=7)
        if chosen:
            _equal(axes, row, [other["layers"] for other in front])
    # The scale of blocks begins at 0, which the network of a short word may have.
    axes.set_xscale("symlog", linthresh=1)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.margins(x=0.2)
    axes.set(
        yscale="log",
        xlabel="blocks",
        ylabel="parameters",
        title=f"networks of {legible(facts['name'])}, T = {facts['length']}",
    )
    axes.grid(color=FAINT, linewidth=0.4)
    axes.tick_params(colors=INK)
    figure.tight_layout()
    return figure


def _equal(axes: Any, chosen: Mapping[str, Any], layers: list[int]) -> None:
    """The sizes with the product of the chosen network."""
    product = chosen["parameters"] * chosen["layers"] ** 2
    if not product:
        return
    x = np.linspace(max(1, min(layers)), min(MOST_BLOCKS, max(layers)), 100)
    label = "parameters × blocks² of the chosen network"
    axes.plot(x, product / x**2, "--", color=PALETTE[1], linewidth=0.8, label=label)
    axes.legend(fontsize=7)
