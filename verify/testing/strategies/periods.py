"""Words that repeat themselves, at the periods that codes and machines have."""

from functools import lru_cache

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.monoid import TransformationMonoid
from krohn.algebra.semiautomaton import IntArray, Semiautomaton
from krohn.verify.testing.strategies.facts import monoid
from krohn.verify.testing.strategies.strategy import choose, none, repeat, scales


def code_periods(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: periods of a power of two, one less or one more.

    Codes of positions have such periods (docs/numerics.md); where one is too short,
    positions a period apart are the same to a head. In half of the words all letters of
    the period are equal but one.
    """
    period = 2 ** rng.integers(scales(length) + 1, size=(count, 1))
    period = np.maximum(1, period + rng.integers(-1, 2, size=(count, 1)))
    base = rng.integers(len(machine.letters), size=(count, int(period.max())))
    base[::2, 1:] = base[::2, 1:2]
    at = np.arange(length) + rng.integers(length, size=(count, 1))
    return np.take_along_axis(base, at % period, axis=1)


def turns(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: a word that permutes states in as many turns as any, repeated.

    Half of the words take one of the largest order that the monoid has, the others one of
    any order above 1.
    """
    found = turning(machine.semiautomaton)
    if not found:
        return none(length)
    most = max(order for order, _ in found)
    order = np.array([order for order, _ in found])
    wanted = (order == most) | (np.arange(count)[:, None] % 2 == 1)
    at = np.arange(length) + rng.integers(length, size=(count, 1))
    return repeat([word for _, word in found], choose(rng, wanted), at)


@lru_cache(8)
def turning(machine: Semiautomaton) -> list[tuple[int, tuple[int, ...]]]:
    """The elements of order above 1 with their least words: (order, word).

    The order of x is the order of x·x^ω in its group: how many powers of x come again and
    again.
    """
    found = monoid(machine)
    if found is None:
        return []
    order = _orders(found)
    return [(int(order[i]), found.word(int(i))) for i in np.flatnonzero(order > 1)]


def _orders(found: TransformationMonoid) -> IntArray:
    elements = np.arange(found.size)
    unit = found.omega
    power = turn = found.product(elements, unit)
    order = np.ones(found.size, dtype=np.int64)
    while (open_ := power != unit).any():
        order += open_
        power = np.where(open_, found.product(power, turn), power)
    return order
