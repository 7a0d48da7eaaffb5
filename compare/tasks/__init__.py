"""What networks are trained and measured on: words of a machine, with labels."""

from compare.tasks.brackets import DyckPrefixes
from compare.tasks.default import Default
from compare.tasks.fixed import Abab, Given
from compare.tasks.flipflop import FlipFlop
from compare.tasks.letters import Biased, Counted, Uniform
from compare.tasks.task import Batch, Inputs, Task

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
