"""Tables of positions and penalties for distance."""

import math

import pytest
import torch
from hypothesis import given, strategies as st

from krohn.compare.models.gpt import linear, penalties, sinusoidal, slopes


@given(place=st.integers(0, 99), pair=st.integers(0, 7))
def test_sinusoidal_positions_are_those_of_vaswani(place: int, pair: int) -> None:
    angle = place / 10_000 ** (2 * pair / 16)
    row = sinusoidal(100, 16)[place]
    assert row[2 * pair] == pytest.approx(math.sin(angle), abs=1e-6)
    assert row[2 * pair + 1] == pytest.approx(math.cos(angle), abs=1e-6)


@given(by=st.integers(0, 40))
def test_a_shift_of_sinusoidal_positions_is_a_rotation(by: int) -> None:
    table = sinusoidal(100, 16).double()
    products = (table[by:] * table[: 100 - by]).sum(dim=1)
    assert torch.allclose(products, products[0].expand_as(products), atol=1e-6)


def test_linear_positions_are_proportional_and_survive_layer_norm() -> None:
    table = linear(50, 16)
    assert torch.allclose(table[40], 4 * table[10])
    assert torch.allclose(table.mean(dim=1), torch.zeros(50))
    assert table.abs().max() < 1


def test_slopes_are_those_of_press() -> None:
    assert slopes(8).tolist() == [2.0**-i for i in range(1, 9)]
    assert slopes(4).tolist() == [2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8]
    # Six heads: those of four, then the first and third of eight.
    assert slopes(6).tolist() == [*slopes(4).tolist(), 2.0**-1, 2.0**-3]
    assert slopes(1).tolist() == [2.0**-8]


@given(heads=st.integers(1, 20))
def test_every_head_has_a_slope_of_its_own(heads: int) -> None:
    found = slopes(heads).tolist()
    assert len(set(found)) == heads
    assert all(0 < slope < 1 for slope in found)


@given(heads=st.integers(1, 6), length=st.integers(1, 12))
def test_penalties_grow_with_distance_and_forbid_what_follows(
    heads: int, length: int
) -> None:
    found = penalties(heads, length, torch.device("cpu"))[0]
    for head, slope in enumerate(slopes(heads).tolist()):
        for query in range(length):
            for key in range(length):
                paid = -slope * (query - key) if key <= query else -math.inf
                assert found[head, query, key].item() == pytest.approx(paid)
