"""What networks that learn in context say of prompts in a row, from the reference."""

import numpy as np

from krohn.kinds.in_context.source import (
    Prompt,
    descent,
    of_sizes,
    regression,
)
from krohn.program.domains import FloatArray, IntArray

STEPS = 32
"""Of gradient descent: more than the usual 8, so that little is left of the way."""


def answer_prompts(letters: int, window: int, words: IntArray) -> FloatArray:
    """``(words, length, letters + 1)``: the law of the next letter, by gradient descent.

    A word is demonstrations of L + 1 letters, each with the delimiter behind it, which is
    the last letter. After n of them and L letters more the law is that of the network that
    is compiled for n demonstrations, whose numbers are off by no more than its proved
    error. Elsewhere it says what needs no demonstration: the delimiter where it must come,
    and each letter alike.

    Raises:
        Refused: If there is no such network.
    """
    laws = np.zeros((*words.shape, letters + 1))
    laws[:, :, :letters] = 1 / letters
    segment = window + 2
    laws[:, window::segment] = np.eye(letters + 1)[letters]
    for at in range(segment + window - 1, words.shape[1], segment):
        laws[:, at, :letters] = _learned(letters, window, words[:, : at + 1])
    return laws


def _learned(letters: int, window: int, words: IntArray) -> FloatArray:
    """``(words, letters)``: W z of the last window."""
    count = words.shape[1] // (window + 2)
    usual = max(2 * window + 2, 8)
    source = of_sizes(
        letters, window, demonstrations=count, history=usual, steps=STEPS, ahead=1
    )
    shown = words[:, : count * (window + 2)].reshape(len(words), count, window + 2)
    prompts = [
        Prompt(tuple(map(tuple, parts)), tuple(test))
        for parts, test in zip(
            shown[:, :, :-1].tolist(), words[:, -window:].tolist(), strict=True
        )
    ]
    problem = regression(source, prompts)
    said: FloatArray = (descent(problem) @ problem.asked[:, :, None])[:, :, 0]
    return said
