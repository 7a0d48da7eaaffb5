"""Theorem R6: what distances say of rivals is no less than what all scores say."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import krohn
from krohn.program.domains import FloatArray, IntArray
from krohn.verify.checker import node_scores
from krohn.verify.checker.rotations import heaviest_by_distance
from krohn.verify.proof import prove

TURNS = (1, 2, 3, 4, 6, 7)


def points(place: IntArray, order: IntArray) -> FloatArray:
    """``(places, d)``: codes of positions, their entries in some order."""
    angles = 2 * np.pi * place[:, None] / 2.0 ** np.array(TURNS)
    return np.hstack([np.cos(angles), np.sin(angles)[:, 1:]])[:, order]


def worst(q: FloatArray, k: FloatArray, asked: IntArray, ahead: FloatArray) -> float:
    """The largest sum over all keys but the one asked for."""
    weight = np.exp(q @ k.T + ahead[:, None])
    weight[np.arange(1, len(k) + 1) == asked[:, None]] = 0
    return float(weight.sum(axis=1).max())


@given(
    st.integers(0, 10**6),
    st.integers(1, 40),
    st.sampled_from([0.0, 1e-6, 1e-2]),
    st.sampled_from([1.0, 3.0]),
)
def test_no_row_is_worse_than_distances_say(
    seed: int, back: int, noise: float, scale: float
) -> None:
    rng = np.random.default_rng(seed)
    place, order = np.arange(1, 61), rng.permutation(2 * len(TURNS) - 1)
    asked = rng.permutation(place)[: rng.integers(1, 60)] - back
    q, k = scale * points(asked, order), 2.0 * points(place, order)
    q, k = (x + noise * rng.uniform(-1, 1, x.shape) for x in (q, k))
    ahead = rng.normal(size=len(q)) - 2.0 * scale * len(TURNS)
    found = heaviest_by_distance(q, k, asked, ahead, 100.0)
    assert found is not None
    assert found >= worst(q, k, asked, ahead)


@pytest.mark.parametrize("column", range(4))
def test_entries_that_are_no_points_of_circles_are_told(column: int) -> None:
    """A sine is missing, or there twice, or an entry is none."""
    place, order = np.arange(1, 61), np.arange(2 * len(TURNS) - 1)
    k = points(place, order)
    if column == 0:
        k = k[:, :-1]
    elif column == 1:
        k = np.hstack([k, k[:, 2:3]])
    elif column == 2:
        k = np.hstack([k, np.zeros((60, 1))])
    else:
        k[7, 3] = np.nan
    found = heaviest_by_distance(k[5:6], k, np.array([6]), np.zeros(1), 100.0)
    assert found is None


def test_an_entry_off_its_circle_counts_in_full() -> None:
    """One key far off, wherever it is, makes the bound as large as it may be."""
    place, order = np.arange(1, 61), np.arange(2 * len(TURNS) - 1)
    k = 4.0 * points(place, order)
    asked = place[20:]
    q, ahead = 4.0 * points(asked, order), np.full(len(asked), -16.0 * len(TURNS))
    before = heaviest_by_distance(q, k, asked, ahead, 1e3)
    k[3] *= 1.5
    after = heaviest_by_distance(q, k, asked, ahead, 1e3)
    assert before is not None
    assert after is not None
    assert worst(q, k, asked, ahead) <= after
    assert after > before * np.exp(4)


@pytest.mark.slow
def test_long_scans_are_proved_by_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    model = krohn.compile("C2", 1100, "scan", proof=False)
    monkeypatch.setattr(node_scores.Rivals, "of", None)
    assert prove(model.file, krohn.zoo("C2")).verdict == "verified"
