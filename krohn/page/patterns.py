"""Patterns of attention as small pictures, a pixel for each weight."""

import base64
import io
from collections.abc import Sequence

import numpy as np
from matplotlib.image import imsave

SHADES = "Blues"


def pixels(weights: Sequence[Sequence[float]]) -> str:
    """A ``data:`` address of a picture: a row for each position that looks.

    Colour goes by the square root of the weight, so that small weights are seen.
    """
    found = np.sqrt(np.clip(np.array(weights, dtype=np.float64), 0.0, 1.0))
    buffer = io.BytesIO()
    imsave(buffer, found, cmap=SHADES, vmin=0.0, vmax=1.0, format="png")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode(
        "ascii"
    )
