"""Tasks for training and measuring: words of a machine, with labels."""

from krohn.instruments.compare.tasks.catalogue import (
    DyckPrefixes,
    FlipFlop,
)
from krohn.instruments.compare.tasks.letters import (
    Abab,
    Biased,
    Counted,
    Default,
    Given,
    Uniform,
)
from krohn.instruments.compare.tasks.task import (
    Batch,
    Inputs,
    Task,
)

__all__ = [
    "Abab",
    "Batch",
    "Biased",
    "Counted",
    "Default",
    "DyckPrefixes",
    "FlipFlop",
    "Given",
    "Inputs",
    "Task",
    "Uniform",
]
