"""Linear systems whose matrix is the letter: b_t = A_{o_t} … A_{o_1} b_0."""

from sources.linear_systems.families import FAMILIES, SHORTEST, named
from sources.linear_systems.system import LinearSystem

__all__ = ["FAMILIES", "SHORTEST", "LinearSystem", "named"]
