"""The words of an acceptor, and those of Python's matcher."""

import random
import re
from itertools import product

import numpy as np

from krohn.algebra.automaton import Automaton

LONGEST = 7


def accepted(machine: Automaton, longest: int = LONGEST) -> set[str]:
    """The words of up to so many letters that an acceptor takes."""
    assert machine.output is not None
    taken = [name == "accept" for name in machine.output.names]
    found = set()
    for length in range(longest + 1):
        words = list(product(range(len(machine.letters)), repeat=length))
        letters = np.array(words, dtype=np.int64).reshape(len(words), length)
        states = machine.semiautomaton.trace(letters, machine.start)
        last = states[:, -1] if length else [machine.start] * len(words)
        for word, state in zip(words, last, strict=True):
            if taken[machine.output.table[state]]:
                found.add("".join(machine.letters[a] for a in word))
    return found


def matched(pattern: str, letters: str, longest: int = LONGEST) -> set[str]:
    """The words that Python's matcher accepts."""
    match = re.compile(pattern).fullmatch
    words = ("".join(w) for n in range(longest + 1) for w in product(letters, repeat=n))
    return {word for word in words if match(word)}


def random_pattern(source: random.Random, depth: int = 3) -> str:
    """A random regular expression over a, b and c."""
    kind = source.random() if depth else 0.0
    if kind < 0.2:
        return source.choice("abc")
    left = random_pattern(source, depth - 1)
    if kind < 0.5:
        return left + random_pattern(source, depth - 1)
    if kind < 0.8:
        return f"({left}|{random_pattern(source, depth - 1)})"
    return f"({left})*"
