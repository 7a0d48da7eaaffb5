"""Kernels: causal convolutions of real inputs, exactly."""

from krohn.sources.kernels.families import EXAMPLES, named
from krohn.sources.kernels.kernel import KIND, Kernel, Mode
from krohn.sources.kernels.text import SUFFIXES, read
from krohn.sources.kernels.transforms import mixed, permuted, swapped

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
