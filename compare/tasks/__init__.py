"""Tasks for training and measuring: words of a machine, with labels."""

from krohn.compare.tasks.brackets import DyckPrefixes
from krohn.compare.tasks.default import Default
from krohn.compare.tasks.fixed import Abab, Given
from krohn.compare.tasks.flipflop import FlipFlop
from krohn.compare.tasks.letters import Biased, Counted, Uniform
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
