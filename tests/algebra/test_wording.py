"""Words for people."""

from fractions import Fraction
from random import Random

from krohn.algebra.wording import exactly, in_runs
from krohn.program.wording import at_most


def test_letters_in_a_row_are_powers() -> None:
    assert in_runs("1" * 128 + "0") == "1^128 0"
    assert in_runs(["coin", "push", "push"]) == "coin push^2"
    assert in_runs("") == ""


def test_a_bound_is_never_said_to_be_smaller_than_it_is() -> None:
    assert at_most(1.2301) == "1.24"
    for written in ("1", "0.25", "0.001", "1e-07", "1.5e+300"):
        assert at_most(float(written)) == written
    for x in (Random(0).random() * 10.0**n for n in range(-300, 300)):
        written = Fraction(repr(x))
        assert written <= Fraction(at_most(x)) <= written * Fraction("1.01")


def test_a_number_is_said_so_that_it_is_no_other_one() -> None:
    assert [exactly(x) for x in (1.0, -0.5, 2.0**-70)] == [
        "1",
        "-0.5",
        "8.470329472543003e-22",
    ]
    assert exactly(0.99999999) == "0.99999999"
