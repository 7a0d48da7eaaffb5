"""Types of facts of linear systems and chains as JSON."""

from typing import TypedDict


class MixingTime(TypedDict):
    """After how many letters the start is forgotten, estimated from samples."""

    letters: int | None
    interval: list[int | None]
    looked_at: int
    samples: int


class Observability(TypedDict):
    """How far apart the laws of so many letters are at least."""

    gamma: float
    steps: int
