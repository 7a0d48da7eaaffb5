"""The monoids agree with those that libsemigroups enumerates."""

from collections.abc import Iterator

import numpy as np
import pytest

from krohn.algebra.green import green
from krohn.algebra.monoid import TransformationMonoid
from krohn.algebra.semiautomaton import IntArray

libsemigroups = pytest.importorskip("libsemigroups_pybind11")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    guard = libsemigroups.ReportGuard(False)
    yield
    del guard


def random_generators(seed: int) -> IntArray:
    rng = np.random.default_rng(seed)
    n, letters = rng.integers(2, 7), rng.integers(1, 4)
    return rng.integers(n, size=(letters, n))


@pytest.mark.parametrize("seed", range(100))
def test_random_machines(seed: int) -> None:
    rows = random_generators(seed)
    monoid = TransformationMonoid.enumerate(rows)
    maps = [libsemigroups.Transf(row) for row in rows.tolist()]
    other = libsemigroups.FroidurePin(maps)
    assert other.size() == monoid.semigroup_size
    own = monoid.idempotents if monoid.identity_is_product else monoid.idempotents[1:]
    assert other.number_of_idempotents() == len(own)
    # The identity has the empty word here, and a longer one there.
    for element in monoid.semigroup[monoid.semigroup > 0][:300].tolist():
        row = libsemigroups.Transf(monoid.elements[element].tolist())
        word = libsemigroups.froidure_pin.minimal_factorisation(other, row)
        assert tuple(word) == monoid.word(element)


@pytest.mark.parametrize("seed", range(100))
def test_rules(seed: int) -> None:
    """Without the identity, the rules for the monoid are those for the semigroup."""
    rows = np.unique(random_generators(seed), axis=0)
    monoid = TransformationMonoid.enumerate(rows)
    if monoid.identity_is_product:
        return
    maps = [libsemigroups.Transf(row) for row in rows.tolist()]
    assert libsemigroups.FroidurePin(maps).number_of_rules() == monoid.rules


@pytest.mark.parametrize("seed", range(100))
def test_d_classes(seed: int) -> None:
    rows = random_generators(seed)
    found = green(TransformationMonoid.enumerate(rows))
    other = libsemigroups.Konieczny(
        [libsemigroups.Transf(row) for row in rows.tolist()]
    )
    lone = 0 if found.monoid.identity_is_product else 1
    assert other.size() == found.monoid.semigroup_size
    assert other.number_of_D_classes() == len(found.d_sizes) - lone
    assert other.number_of_R_classes() == found.r_class.max() + 1 - lone
    assert other.number_of_L_classes() == found.l_class.max() + 1 - lone
    assert other.number_of_H_classes() == found.h_class.max() + 1 - lone
    regular = int((found.idempotent_counts > 0).sum())
    assert other.number_of_regular_D_classes() == regular - lone
