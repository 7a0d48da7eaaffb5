"""What networks are trained and measured on: words of a machine, with labels."""

from compare.tasks.task import Batch, Inputs, Task

__all__ = ["Batch", "Inputs", "Task"]
