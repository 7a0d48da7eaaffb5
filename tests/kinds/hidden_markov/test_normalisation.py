"""Normalised products: what the Program means, and between which numbers masses lie."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from normalised_networks import model, positive

from krohn.compiler.products import Masses, masses, normalised_scale
from krohn.kinds.hidden_markov.build_normalised import normalised_products
from krohn.kinds.hidden_markov.check_normaliser import bound_noise
from krohn.kinds.linear_systems.check_matrix_norms import ColumnSums
from krohn.network.precision import FLOAT32, FLOAT64
from krohn.program import Normalised
from krohn.program.errors import Refused
from krohn.program.interpreter import interpret
from krohn.program.language import operation_to_wire
from krohn.program.operations.base import Operation

START = (0.25, 0.75)


@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_the_program_says_the_belief(length: int) -> None:
    source = positive(3, 2, 5)
    program = normalised_products(source, length, FLOAT64)
    words = np.random.default_rng(0).integers(2, size=(20, length))
    said = interpret(program, words)["belief"][:, 1:] @ source.start
    assert np.abs(said - source.filter(words)[0]).max() < 1e-13


def test_masses_are_between_the_numbers_that_networks_are_made_for() -> None:
    source = model("RanHMM5,5@3")
    program = normalised_products(source, 20, FLOAT64)
    words = np.random.default_rng(0).integers(5, size=(60, 20))
    found, exact = masses(program), interpret(program, words)
    for name in ("product2", "product8", "product32"):
        mass = (exact[name] @ source.start).sum(axis=-1)
        assert found[name].low < mass.min() < mass.max() < found[name].high * (1 + 1e-9)


def test_chords_of_the_reciprocal_are_within_their_excess() -> None:
    for pieces in (1, 8, 64):
        before = Masses(0.2, 1.7, pieces)
        points = before.points
        v = np.linspace(points[0], points[-1], 4001)
        chords = np.interp(v, points, 1 / points)
        assert 0 <= (chords * v - 1).min() + 1e-12
        assert (chords * v - 1).max() == pytest.approx(before.excess, rel=1e-3)


def test_the_scale_is_larger_where_rounding_is_finer() -> None:
    letters = np.full((2, 3, 3), 1 / 3)
    assert normalised_scale(letters, FLOAT64) > 100 * normalised_scale(letters, FLOAT32)


def test_the_operation_is_read_as_it_is_written() -> None:
    operation = Normalised("x", START)
    told = operation_to_wire(operation)
    assert Operation.named["normalised"].from_wire(told) == operation
    rounded = ([1, 2**60 + 127], [True, 0.5])
    for vector in ([], [0.0, 0.0], [-1.0, 2.0], [np.nan, 1.0], [[0.5]], *rounded):
        with pytest.raises(Refused):
            Normalised.from_wire({"source": "x", "vector": vector})


def test_matrices_that_are_measured_by_a_norm_are_not_normalised() -> None:
    """A norm bounds errors; it does not say which sum of entries is the mass."""
    stream = SimpleNamespace(of_matrices=ColumnSums(2, 1.0))
    mlp: Any = SimpleNamespace(check_fresh=lambda channel: None, stream=stream)
    channel: Any = SimpleNamespace(name="x", operation=Normalised("y", (1.0, 1.0)))
    with pytest.raises(Refused, match="'x' is normalised, and a norm does not say by"):
        bound_noise(mlp, channel)
