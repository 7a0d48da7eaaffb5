"""Theorem U: networks of functions on grids say the values that are proved of them."""

import copy
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from linear_networks import changed

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.attention_targets.source_grid_function import (
    GridFunction,
    levels,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program.errors import Refused
from krohn.source_kinds.real_sequences import run_network
from krohn.verify.proof import prove, shown_of

NAMES = ("Sorted3,3", "RanGrid2,5@1", "Sorted1,4", "RanGrid4,2@3", "RanGrid1,1@1")
PLANE = [[(Fraction(s, 4), Fraction(k, 4)) for k in range(3)] for s in range(2)]


@cache
def built(name: str, dtype: str = "float64") -> ModelFile:
    return krohn.compile(name, dtype=dtype).file


def inputs(file: ModelFile) -> tuple[FloatArray, FloatArray]:
    """All inputs of a file's function, and what is right."""
    stated = GridFunction.from_wire(file.header["source"])
    pairs = stated.values.items()
    return (
        np.array([x for x, _ in pairs], np.float64),
        np.array([y for _, y in pairs], np.float64)[:, :, None],
    )


def measured(file: ModelFile) -> float:
    """The largest error over all inputs; infinite if something is no number."""
    x, right = inputs(file)
    with np.errstate(all="ignore"):
        return float(
            np.nan_to_num(np.abs(run_network(file, x) - right), nan=np.inf).max()
        )


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_every_value_is_exact(name: str, dtype: str) -> None:
    file = built(name, dtype)
    proof = prove(file, None)
    assert proof.verdict == "verified"
    assert file.header["claim"]["error"] < 2.0**-125
    assert measured(file) == 0


def test_points_of_a_plane_and_values_that_are_no_small_fractions() -> None:
    random = np.random.default_rng(0)
    function = GridFunction.of(
        "plane",
        PLANE,
        lambda x: tuple(Fraction(float(y)) for y in random.normal(size=2)),
    )
    file = krohn.compile(function).file
    error = file.header["claim"]["error"]
    assert measured(file) <= error < 1e-12
    assert file.header["architecture"]["inputs"] == 2


def test_a_format_that_cannot_tell_values_apart_is_refused() -> None:
    close = GridFunction.of("close", levels(1, 2), lambda x: (1 + x[0][0] / 2**30,))
    with pytest.raises(KrohnError, match="say float64"):
        krohn.compile(close, dtype="float32")
    with pytest.raises(KrohnError, match="1,024"):
        krohn.compile("Sorted8,2")
    fine = GridFunction.of("", [[(Fraction(2**25 + 1, 2**26),)]], lambda x: x[0])
    with pytest.raises(KrohnError, match="does not hold"):
        krohn.compile(fine, dtype="float32")
    third = GridFunction.of("third", levels(1, 1), lambda x: (Fraction(1, 3),))
    with pytest.raises(KrohnError, match="binary fraction"):
        krohn.compile(third)


def test_a_weight_that_moves_a_value_moves_what_is_shown() -> None:
    file = built("Sorted3,3")
    moved = file.tensors["output.2.bias"] + 0.25
    damaged = changed(file, **{"output.2.bias": moved})
    assert prove(damaged, None).verdict == "undecided"
    restated = ModelFile(
        damaged.header | {"claim": damaged.header["claim"] | {"error": 1.0}},
        damaged.tensors,
        damaged.precision,
    )
    assert shown_of(restated).facts()["error"] == pytest.approx(measured(damaged))
    # less attention to oneself: weights are others, and so are aggregates
    flat = changed(file, **{"attention.key": file.tensors["attention.key"] * 0.5})
    assert measured(flat) >= 1
    assert prove(flat, None).verdict == "undecided"


HEADERS = {
    "another value": lambda h: h["source"]["values"][0].__setitem__(0, 7.0),
    "another point": lambda h: h["source"]["pieces"][0][0].__setitem__(0, 0.75),
    "a value less": lambda h: h["source"]["values"].pop(),
    "not finite": lambda h: h["source"]["values"][0].__setitem__(0, float("inf")),
    "no points": lambda h: h["source"].update(pieces=[]),
    "no list": lambda h: h["source"].update(pieces=3),
    "whole numbers": lambda h: h["source"].update(pieces=[[[0], [1]]] * 3),
    "huge": lambda h: h["source"].update(pieces=h["source"]["pieces"] * 300),
    "another length": lambda h: h["claim"].update(length=4),
    "a smaller error": lambda h: h["claim"].update(error=2.0**-127),
    "no error": lambda h: h["claim"].update(error=float("nan")),
    "causal": lambda h: h["architecture"].update(causal=True),
    "another kind": lambda h: h["source"].update(kind="attention-target"),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", HEADERS)
def test_other_headers_are_refused(name: str) -> None:
    file = built("Sorted3,3")
    header = copy.deepcopy(file.header)
    HEADERS[name](header)
    damaged = ModelFile(header, file.tensors, file.precision)
    assert prove(damaged, None).verdict == "undecided"
    with pytest.raises((Refused, LookupError, TypeError, ValueError, ArithmeticError)):
        shown_of(damaged)
