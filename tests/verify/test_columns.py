"""Products with nearly empty matrices."""

import numpy as np
import pytest

from verify.columns import Columns, used


@pytest.mark.parametrize("share", [0.0, 0.001, 0.02, 0.5])
def test_products_are_those_of_the_matrix(share: float) -> None:
    random = np.random.default_rng(0)
    whole = random.integers(-9, 10, size=(400, 40)).astype(float)
    matrix = whole * (random.random(whole.shape) < share)
    x = random.integers(-9, 10, size=(7, 400)).astype(float)
    found = Columns.of(matrix)
    assert (found.places is None) == (share == 0.5)
    assert np.array_equal(found.after(x), x @ matrix)
    assert np.array_equal(found.changed(np.abs).after(x), x @ np.abs(matrix))
    assert np.array_equal(found.changed(used).after(x), x @ (matrix != 0))


@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (0, 0), (40, 1)])
def test_matrices_without_entries(shape: tuple[int, int]) -> None:
    found = Columns.of(np.zeros(shape))
    assert np.array_equal(found.after(np.ones((2, shape[0]))), np.zeros((2, shape[1])))
