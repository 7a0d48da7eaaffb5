"""Whether two counting programs or machines accept the same words.

docs/kinds/counting.md says what is decided.
"""

from krohn.equivalence.question import USUAL_LENGTH, Answer, equivalent

__all__ = ["USUAL_LENGTH", "Answer", "equivalent"]
