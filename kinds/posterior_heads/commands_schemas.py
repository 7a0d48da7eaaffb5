"""Types of a decompiled model as JSON."""

from typing import TypedDict


class DecompiledLetters(TypedDict):
    """The hidden Markov model of letters behind a network's laws.

    Attributes:
        emissions: (letters, states).
        transitions: (states, states).
        residual: How far laws of the model are off those of the network.
        error: How far an entry is off the model of the file, if it states one.
        condition: By how much errors of the laws may grow.
    """

    network: str
    task: str
    states: int
    emissions: list[list[float]]
    transitions: list[list[float]]
    residual: float
    error: float | None
    prior: list[float]
    condition: float
    file: str | None


class DecompiledPoints(TypedDict):
    """The hidden Markov model of points behind a network's laws."""

    network: str
    task: str
    states: int
    means: list[list[float]]
    transitions: list[list[float]]
    residual: float
    error: float | None
    file: str | None


DECOMPILED = DecompiledLetters | DecompiledPoints
"""What ``krohn decompile`` prints."""
