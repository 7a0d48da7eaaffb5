"""The machine that a network follows, learned from its answers.

docs/instruments/learning.md says how.
"""

from importlib.util import find_spec

from krohn.algebra.errors import KrohnError
from krohn.program.user_input import install

if find_spec("aalpy") is None:
    raise KrohnError(f"krohn learn needs aalpy; {install('learn')}")

from krohn.instruments.learning.learner import (
    Learned,
    learn,
)

__all__ = ["Learned", "learn"]
