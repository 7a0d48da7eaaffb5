"""Prime factors beside sympy's, and of orders that are large."""

from math import factorial, prod

import pytest
from sympy import factorint, isprime

from krohn.algebra.groups.permutations import factorise, is_prime


def test_all_small_numbers() -> None:
    for number in range(1, 3000):
        assert list(factorise(number).items()) == sorted(factorint(number).items())
        assert is_prime(number) == isprime(number)
    assert not is_prime(0)


def test_orders_of_symmetric_groups_are_quick() -> None:
    order = factorial(500)
    found = factorise(order)
    assert prod(p**k for p, k in found.items()) == order
    assert max(found) == 499
    assert not is_prime(order)


def test_a_number_without_factors() -> None:
    with pytest.raises(ValueError, match="not positive"):
        factorise(0)
