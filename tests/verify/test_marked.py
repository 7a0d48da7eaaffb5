"""Sums over marked positions: proved, also in narrow formats; spoilt heads are refused."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from model_files import place, redescribed, stated, with_entries

import krohn
from krohn.algebra import zoo
from krohn.algebra.formats import json_format
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.verify.proof import prove

PARITY = zoo.machine("Parity8@2,3,6")
QUERY, KEY = "blocks.0.attention.query", "blocks.0.attention.key"
OUT = "blocks.0.attention.out"


@cache
def file(dtype: str = "float32") -> ModelFile:
    """The parity of three of eight letters, which a head selects."""
    return krohn.compile(
        PARITY, 8, "parity-selected", dtype=dtype, observe="outputs"
    ).file


def spoilt(tensor: str, index: tuple[int, ...], value: float) -> ModelFile:
    return with_entries(file(), tensor, index, value)


ONE, BOS, COUNT = (place(file(), n) for n in ("one", "bos", "marked"))
WHERE, BIT, SUM = (place(file(), n) for n in ("counts0", "bit0", "sum0"))


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_every_word_is_right_in_every_format(dtype: str) -> None:
    words = np.array(list(product((0, 1), repeat=8)))
    shown = Model(file(dtype))(torch.from_numpy(words)).argmax(-1)
    counted = np.cumsum(words * np.isin(np.arange(1, 9), (2, 3, 6)), axis=1)
    assert np.array_equal(shown, counted % 2)
    assert prove(file(dtype), PARITY).verdict == "verified"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("tensor", "index", "value"),
    [
        pytest.param(KEY, (0, WHERE, 1), 0.0, id="no selection"),
        pytest.param(KEY, (0, WHERE, 1), 0.5, id="marks score below 0"),
        pytest.param(KEY, (0, WHERE, 1), 2.0, id="marks score above 0"),
        pytest.param(KEY, (0, WHERE, 0), 1.0, id="marks score as BOS does"),
        pytest.param(KEY, (0, ONE, 1), 0.0, id="others score as marks do"),
        pytest.param(KEY, (0, ONE, 0), 1.0, id="all score as BOS does"),
        pytest.param(KEY, (0, BOS, 0), 0.0, id="no sink"),
        pytest.param(KEY, (0, BOS, 0), 2.0, id="a sink that is squared"),
        pytest.param(KEY, (0, BOS, 1), 0.0, id="BOS is suppressed"),
        pytest.param(KEY, (0, COUNT, 1), 1.0, id="keys that depend on the position"),
        pytest.param(KEY, (0, BIT, 1), 1.0, id="keys that read letters"),
        pytest.param(QUERY, (0, ONE, 1), 1.0, id="a penalty that leaks"),
        pytest.param(QUERY, (0, ONE, 1), -16.0, id="a reward"),
        pytest.param(QUERY, (0, ONE, 1), -1000.0, id="a reward beyond all exponents"),
        pytest.param(QUERY, (0, COUNT, 0), 0.5, id="half a score for BOS"),
        pytest.param(QUERY, (0, BIT, 0), 1.0, id="queries that read letters"),
        pytest.param(OUT, (0, 0, SUM), 2.0, id="half the sum"),
        pytest.param(OUT, (0, 0, SUM), 3.0, id="a gain that rounds"),
        pytest.param("embed.position", (8, COUNT), 1.0, id="one wrong count"),
    ],
)
def test_spoilt_heads_are_refused(
    tensor: str, index: tuple[int, ...], value: float
) -> None:
    proof = prove(spoilt(tensor, index, value), PARITY)
    assert proof.verdict == "undecided"
    assert proof.reason


def restated(name: str, change: Callable[[Any], Mapping[str, Any]]) -> ModelFile:
    return redescribed(file(), name, **change(stated(file(), name)))


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("counts0", lambda c: {"values": [1, *c["values"][1:]]}, "not 0 at BOS"),
        ("counts0", lambda c: {"values": [*c["values"][:-1], 2]}, "outside its domain"),
        ("sum0", lambda c: {"where": "bit0"}, "needs a function of the position"),
        ("sum0", lambda c: {"op": "prefix-sum"}, "outside its domain"),
    ],
)
def test_wrong_statements_are_refused(
    name: str, change: Callable[[Any], Mapping[str, Any]], reason: str
) -> None:
    proof = prove(restated(name, change), PARITY)
    assert proof.verdict == "undecided"
    assert reason in proof.reason


def test_other_marks_are_another_parity() -> None:
    proof = prove(file(), zoo.machine("Parity8@2,3,7"))
    assert proof.verdict == "refuted"
    assert proof.word is not None
    assert len(proof.word) == 6


def test_marks_that_the_tensors_do_not_have_are_refused() -> None:
    moved = [0, 0, 1, 1, 0, 0, 0, 1, 0]
    other = zoo.machine("Parity8@2,3,7")
    claimed = restated("counts0", lambda _: {"values": moved})
    header = {**claimed.header, "machine": json_format.claimed_machine(other)}
    proof = prove(replace(claimed, header=header), other)
    assert proof.verdict == "undecided"
    assert "'counts0' is embedded wrongly" in proof.reason


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("dtype", "marked", "verdict"),
    [
        *(("float64", 40, "verified"), ("float32", 40, "verified")),
        *(("float16", 15, "verified"), ("float16", 16, "undecided")),
        *(("bfloat16", 5, "verified"), ("bfloat16", 6, "undecided")),
    ],
)
def test_a_sawtooth_has_no_plateau_and_passes_noise(
    dtype: str, marked: int, verdict: str
) -> None:
    """Steps are proved in all of these cases: they take the noise of the sum away."""
    support = ",".join(str(100 - i) for i in reversed(range(marked)))
    machine = zoo.machine(f"Parity100@{support}")
    steps, teeth = (
        krohn.compile(machine, 100, form, dtype=dtype, observe="outputs", proof=False)
        for form in ("parity-selected", "parity-sawtooth")
    )
    assert prove(steps.file, machine).verdict == "verified"
    assert teeth.summary()["mlp_width"] == marked
    assert prove(teeth.file, machine).verdict == verdict


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("tensor", "index", "value"),
    [
        ("blocks.0.mlp.0.weight", (SUM, 1), 2.0),
        ("blocks.0.mlp.0.bias", (2,), -1.5),
        ("blocks.0.mlp.1.weight", (1, -1), 0.0),
        ("blocks.0.mlp.1.bias", (-1,), 0.25),
    ],
)
def test_a_sawtooth_with_a_wrong_tooth_is_refused(
    tensor: str, index: tuple[int, ...], value: float
) -> None:
    teeth = krohn.compile(PARITY, 8, "parity-sawtooth", observe="outputs").file
    column = place(teeth, "parity")
    at = tuple(column if i == -1 else i for i in index)
    assert teeth.tensors[tensor][at] != value
    assert prove(with_entries(teeth, tensor, at, value), PARITY).verdict != "verified"
