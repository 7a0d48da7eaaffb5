"""Whether two counting programs or machines accept the same words (docs/counting.md)."""

from krohn.equivalence.question import Answer, equivalent

__all__ = ["Answer", "equivalent"]
