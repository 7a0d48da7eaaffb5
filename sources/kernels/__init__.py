"""Kernels: causal convolutions of real inputs, exactly."""

from sources.kernels.families import EXAMPLES, named
from sources.kernels.kernel import KIND, Kernel, Mode
from sources.kernels.text import SUFFIXES, read
from sources.kernels.transforms import mixed, permuted, swapped

__all__ = [
    "EXAMPLES",
    "KIND",
    "SUFFIXES",
    "Kernel",
    "Mode",
    "mixed",
    "named",
    "permuted",
    "read",
    "swapped",
]
