"""Tests are chosen by the pairs of words that they tell apart, counted without pairs."""

from itertools import combinations

import numpy as np
import pytest

from krohn.algebra.departures.subsequences import _Candidates


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_counted_as_one_by_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    candidates = _Candidates(np.eye(3, dtype=bool), 2)
    words = [random.integers(0, 3, size=n).tolist() for n in random.integers(0, 7, 20)]
    shows = random.integers(0, 3, size=20)
    candidates.add(list(zip(words, shows.tolist(), strict=True)))
    group = random.integers(0, 4, size=20)
    wanted = np.zeros(len(candidates.tests), dtype=np.int64)
    for i, j in combinations(range(20), 2):
        if shows[i] != shows[j] and group[i] == group[j]:
            wanted += candidates.holds[i] != candidates.holds[j]
    assert candidates._count_pairs_apart(group).tolist() == wanted.tolist()
    assert wanted.any()


def test_no_chosen_test_can_be_left_out() -> None:
    candidates = _Candidates(np.eye(2, dtype=bool), 2)
    candidates.add([([0], 0), ([1], 1), ([0, 1], 2), ([1, 0], 3)])
    tests = candidates.separating_tests()
    assert tests is not None
    places = [candidates.tests.index(test) for test in tests]
    for left_out in (None, *places):
        rows = candidates.holds[:, [p for p in places if p != left_out]]
        assert (len(np.unique(rows, axis=0)) == 4) == (left_out is None)
