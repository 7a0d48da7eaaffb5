"""Machines for properties that hold of all."""

from itertools import product

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.compiler.constructions.registry import construct
from krohn.program.interpreter import states


@st.composite
def machines(draw: st.DrawFn, least: int = 1, most: int = 4) -> Automaton:
    """Up to three letters; so many states, at most 6; any start."""
    letters, size = draw(st.integers(1, 3)), draw(st.integers(least, most))
    row = st.lists(st.integers(0, size - 1), min_size=size, max_size=size)
    table = draw(st.lists(row, min_size=letters, max_size=letters))
    names = tuple("abc"[:letters]), tuple("pqrstu"[:size])
    start = draw(st.integers(0, size - 1))
    return Automaton(Semiautomaton(np.array(table), *names), start=start)


def agrees(
    machine: Automaton,
    construction: str,
    length: int,
    words: npt.ArrayLike | None = None,
) -> bool:
    """Whether a Program is right on some words, or on all of its length."""
    if words is None:
        words = np.array(list(product(range(len(machine.letters)), repeat=length)))
    expected = machine.semiautomaton.trace(words, machine.start)
    return np.array_equal(
        states(construct(construction, machine, length), words), expected
    )
