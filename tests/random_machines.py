"""Machines for properties that hold of all."""

import numpy as np
from hypothesis import strategies as st

from krohn.algebra.automaton import Automaton, Semiautomaton


@st.composite
def machines(draw: st.DrawFn, least: int = 1, most: int = 4) -> Automaton:
    """Up to three letters; so many states, at most 6; any start."""
    letters, size = draw(st.integers(1, 3)), draw(st.integers(least, most))
    row = st.lists(st.integers(0, size - 1), min_size=size, max_size=size)
    table = draw(st.lists(row, min_size=letters, max_size=letters))
    names = tuple("abc"[:letters]), tuple("pqrstu"[:size])
    start = draw(st.integers(0, size - 1))
    return Automaton(Semiautomaton(np.array(table), *names), start=start)
