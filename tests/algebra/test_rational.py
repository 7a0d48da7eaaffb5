"""Rational and prime numbers."""

from fractions import Fraction
from math import factorial, prod

import pytest
from hypothesis import given, strategies as st
from sympy import factorint, isprime

from krohn.algebra.groups.abelian import factorise
from krohn.algebra.groups.permutations import is_prime
from krohn.algebra.wording import rational


@given(st.integers(0, 10**30), st.integers(1, 10**30))
def test_fractions_are_read_as_written(above: int, below: int) -> None:
    assert rational(f"{above}/{below}") == Fraction(above, below)


@given(st.floats(1e-99, 1))
def test_floats_are_read_as_python_writes_them(value: float) -> None:
    assert rational(str(value)) == Fraction(str(value))


@pytest.mark.parametrize("text", ["1/2", "0.4", ".5", "30", "1e-3", "2E2", "0"])
def test_what_people_write(text: str) -> None:
    assert rational(text) == Fraction(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "1e999999999",
        "1e-999999999",
        "9" * 41,
        "-1",
        "1/-2",
        "nan",
        "inf",
        "1/2/3",
    ],
)
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match="is no number"):
        rational(text)


def test_nothing_is_divided_by_zero() -> None:
    with pytest.raises(ZeroDivisionError):
        rational("1/0")


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
