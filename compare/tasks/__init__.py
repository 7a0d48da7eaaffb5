"""Tasks for training and measuring: words of a machine, with labels."""

from krohn.compare.tasks.catalogue import DyckPrefixes, FlipFlop
from krohn.compare.tasks.letters import Abab, Biased, Counted, Default, Given, Uniform
from krohn.compare.tasks.task import Batch, Inputs, Task

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
