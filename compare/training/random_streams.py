"""Random numbers of a run: a function of seed, step and purpose, and of nothing else.

So a run that goes on needs no state of a generator, and the draws of one part (a longer
evaluation, a regulariser) change nothing for the others. Whoever measures networks draws
from here too, or from a large seed: numpy's generators of a number, of (number, 0) and of
(number, 0, 0) are one, so a small seed alone gives the words of a run's first step.
"""

from enum import IntEnum

import numpy as np

from krohn.algebra.errors import KrohnError

MOST = 2**32
"""A seed is one word of what seeds a generator; a step is the next one."""


class Purpose(IntEnum):
    """The purpose of random numbers; words to train on come from ``(seed, step)``."""

    WORDS = 0
    SHIFT = 1
    DROPOUT = 2
    REGULARISER = 3
    EVALUATION = 4
    PROBES = 5
    MEASURES = 6


def stream(seed: int, step: int, purpose: Purpose) -> np.random.Generator:
    """The random numbers of a step of a run."""
    return np.random.default_rng((seed, step, purpose))


def dropout_seed(seed: int, step: int) -> int:
    """The seed of torch's generator before a step."""
    words = np.random.SeedSequence((seed, step, Purpose.DROPOUT))
    return int(words.generate_state(1, np.uint64)[0] >> np.uint64(1))


def check_seed(seed: int) -> int:
    """A seed that can be used.

    Raises:
        KrohnError: If it is negative or needs more than 32 bits.
    """
    if not 0 <= seed < MOST:
        raise KrohnError(f"a seed is a whole number in 0..{MOST - 1}, not {seed}")
    return seed
