"""Kernels: causal convolutions of real inputs, exactly."""

from krohn.sources.kernels.families import EXAMPLES, SUFFIXES, named, read
from krohn.sources.kernels.kernel import KIND, Kernel, Mode, mixed, permuted, swapped

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
