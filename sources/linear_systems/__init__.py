"""Linear systems whose matrix is the letter: b_t = A_{o_t} … A_{o_1} b_0."""

from krohn.sources.linear_systems.families import EXAMPLES, FAMILIES, LARGEST, named
from krohn.sources.linear_systems.in_blocks import VectorsInBlocks
from krohn.sources.linear_systems.system import KIND, LinearSystem

__all__ = [
    "EXAMPLES",
    "FAMILIES",
    "KIND",
    "LARGEST",
    "LinearSystem",
    "VectorsInBlocks",
    "named",
]
