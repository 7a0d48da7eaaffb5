"""A logit that is no number, or a tie, is a pass by no path to a verdict."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

import krohn
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.instruments.smt.commands import verify_ideal
from krohn.network.model import NOT_FINITE, TIED, Model
from krohn.network.modelfile import ModelFile, pack
from krohn.program.errors import Refused
from krohn.running import GeneratorRunner, Runner
from krohn.verify.checker.network import recheck
from krohn.verify.proof import prove
from krohn.verify.search.find import find

torch.set_num_threads(1)

KINDS = ("transformer", "rnn", "generator")
BIAS = {"generator": "layers.0.mlp.3.bias"}
NO_NUMBERS = (np.nan, np.inf, -np.inf)
ASKED = (
    {"proof": True},
    {"exhaustive": 2},
    {"sample": 8},
    {"exhaustive": 1, "sample": 4},
)


@cache
def good(kind: str) -> ModelFile:
    if kind == "rnn":
        return krohn.compile("Grid4", arch="rnn").file
    if kind == "generator":
        return krohn.compile_generator("Dyck1,2", 4).file
    return krohn.compile("FlipFlop", 30, "memory").file


def with_bias(kind: str, number: float, at: int | None) -> ModelFile:
    """The model with a number in one place of its last bias, or in all."""
    file, name = good(kind), BIAS.get(kind, "unembed.bias")
    bias = file.tensors[name].copy()
    bias[slice(None) if at is None else at % len(bias)] = number
    return replace(file, tensors={**file.tensors, name: bias})


def tied(kind: str) -> ModelFile:
    """The model with all logits 0."""
    file = with_bias(kind, 0.0, None)
    zero = np.zeros_like(file.tensors["unembed.weight"])
    return replace(file, tensors={**file.tensors, "unembed.weight": zero})


@pytest.mark.slow
@settings(max_examples=2)
@given(
    st.sampled_from(KINDS),
    st.sampled_from(NO_NUMBERS),
    st.none() | st.integers(0, 9),
    st.sampled_from(ASKED),
)
def test_no_path_passes_what_is_no_number(
    kind: str, number: float, at: int | None, asked: dict[str, int]
) -> None:
    report = krohn.verify(with_bias(kind, number, at), None, **asked)  # type: ignore[arg-type]
    assert report.verdict in ("refuted", "undecided")
    if "proof" not in asked:
        assert report.verdict == "refuted"
        assert report.counterexample is not None
        assert report.counterexample.expected != report.counterexample.actual


@pytest.mark.parametrize("number", NO_NUMBERS)
def test_neither_z3_nor_evidence_passes_what_is_no_number(number: float) -> None:
    broken, file = with_bias("transformer", number, 0), good("transformer")
    with pytest.raises(KrohnError, match="not finite"):
        verify_ideal(broken, 2)
    evidence = find(pack(file.header, file.tensors))
    with np.errstate(all="ignore"):
        data = pack(broken.header, broken.tensors)
    with pytest.raises(Refused):
        recheck(data, json.dumps(evidence).encode())


@pytest.mark.parametrize("kind", KINDS[:2])
@pytest.mark.parametrize("number", NO_NUMBERS)
def test_no_run_names_a_state(kind: str, number: float) -> None:
    file = with_bias(kind, number, 0)
    model, machine = Model(file), json_format.from_object(file.header["machine"])
    letter = machine.letters[0]
    assert model.run([letter] * 2) == [NOT_FINITE] * 2
    with pytest.raises(KrohnError, match="no answer after letter 1"):
        Runner(file, machine).run([letter])


@pytest.mark.parametrize("number", NO_NUMBERS)
def test_no_run_says_a_law_that_is_none(number: float) -> None:
    file = with_bias("generator", number, 0)
    machine = json_format.from_object(file.header["machine"])
    with pytest.raises(KrohnError, match="no law"):
        GeneratorRunner(file, machine).run([machine.letters[0]])


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", KINDS[:2])
def test_no_path_passes_a_tie(kind: str) -> None:
    file = tied(kind)
    machine = json_format.from_object(file.header["machine"])
    for asked in ASKED:
        assert krohn.verify(file, None, **asked).verdict == "refuted"  # type: ignore[arg-type]
    assert prove(file, machine).verdict != "verified"
    assert Model(file).run([machine.letters[0]]) == [TIED]
    with pytest.raises(KrohnError, match="two are"):
        Runner(file, machine).run([machine.letters[0]])
    if kind == "transformer":
        assert verify_ideal(file, 2).verdict == "refuted"
