"""Numbers on file are read as they are written, or refused."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from krohn.program.errors import Refused
from krohn.program.strict_json import real, reals, whole
from krohn.program.user_input import real_array

NO_NUMBERS = (True, 2**60 + 127, "1", "1+2j", None, float("nan"), float("inf"), 10**400)


@pytest.mark.parametrize("given", NO_NUMBERS)
def test_what_float64_does_not_hold_is_no_real_number(given: object) -> None:
    for values, axes in ((given, 0), ([0.5, given], 1), ([[1, 0.5], [given, 0.5]], 2)):
        with pytest.raises(Refused):
            reals(values, axes)


def test_whole_numbers_that_float64_holds_are_real_numbers() -> None:
    assert reals([[0.5, 2**60], [-1, 0]], 2).tolist() == [[0.5, 2.0**60], [-1.0, 0.0]]
    assert real(3) == 3.0


@pytest.mark.parametrize("given", [*NO_NUMBERS, 1.0, -1])
def test_no_other_number_is_a_whole_one(given: object) -> None:
    for values, axes in ((given, 0), ([1, given], 1), ([[0, 1], [given, 1]], 2)):
        with pytest.raises(Refused):
            whole(values, axes)


def test_whole_numbers_start_where_they_are_said_to() -> None:
    assert np.array_equal(whole([-1, 4], 1, least=-1), [-1, 4])


@pytest.mark.parametrize("ragged", [[[1], [1, 2]], [1, [2]], [[[1]]], 1, [1], []])
def test_rows_have_one_length_and_arrays_their_axes(ragged: object) -> None:
    for reader in (reals, whole):
        with pytest.raises(Refused):
            reader(ragged, 2)


@pytest.mark.parametrize(
    "values",
    [
        [1, 2.5],
        np.array([1, 2.5], np.float32),
        torch.tensor([1, 2.5]),
        [True, Fraction(5, 2)],
    ],
)
def test_arrays_of_python_are_taken_as_they_are(values: object) -> None:
    assert real_array(values, "it").tolist() == [1.0, 2.5]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.array([1 + 0j]), "complex"),
        ([1j], "complex"),
        (torch.tensor([1j]), "complex"),
        (["a"], "no array of numbers"),
        ([[1.0], [1.0, 2.0]], "no array of numbers"),
        ([2**60 + 1], "float64 would round"),
        (np.array([2**60 + 1]), "float64 would round"),
    ],
)
def test_arrays_that_would_lose_something_are_refused(
    values: object, reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        real_array(values, "it")
