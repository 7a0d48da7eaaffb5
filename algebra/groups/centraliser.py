"""Permutations that commute with a group."""

from collections.abc import Sequence
from math import prod

import numpy as np

from algebra.budget import BudgetExceeded
from algebra.groups.permutations import product
from algebra.semiautomaton import IntArray

MOST_ROWS = 100_000


def commuting_permutations(
    generators: IntArray, orbits: Sequence[Sequence[int]]
) -> IntArray:
    """All permutations that commute with the generators and keep each orbit, ``(m, n)``.

    On an orbit such a permutation is determined by the image of one point, since the
    image of x·g is the image of x followed by g; so they are tried one by one. The
    centre of a group consists of those that lie in the group, as its elements keep the
    orbits.

    Raises:
        BudgetExceeded: If there are more than 100,000.
    """
    parts = [_on_orbit(generators, np.array(orbit)) for orbit in orbits]
    number = prod(len(part) for part in parts)
    if number > MOST_ROWS:
        raise BudgetExceeded(
            f"{number:,} permutations commute with the group, too many to be listed",
            MOST_ROWS,
        )
    found = np.arange(generators.shape[1])[None]
    for part in parts:
        # The parts move disjoint sets of points, so that their order does not matter.
        found = product(found[:, None], part[None]).reshape(-1, generators.shape[1])
    return found


def _on_orbit(generators: IntArray, orbit: IntArray) -> IntArray:
    """Those that fix all other points: first by their orbits' first points' images."""
    if len(orbit) == 1:
        return np.arange(generators.shape[1])[None]
    images = np.tile(np.arange(generators.shape[1]), (len(orbit), 1))
    images[:, orbit[0]] = orbit
    done, frontier = {int(orbit[0])}, [int(orbit[0])]
    for point in frontier:
        for row in generators:
            after = int(row[point])
            if after not in done:
                done.add(after)
                frontier.append(after)
                images[:, after] = row[images[:, point]]
    good = np.ones(len(images), dtype=bool)
    for row in generators:
        inside = row[orbit]
        good &= (images[:, inside] == row[images[:, orbit]]).all(axis=1)
    return images[good]
