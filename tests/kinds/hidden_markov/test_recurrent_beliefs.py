"""RNNs of hidden Markov models with finitely many beliefs (Theorem W8d)."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.hidden_markov import check_situations as situations
from krohn.kinds.hidden_markov.check_recurrent import Says
from krohn.kinds.hidden_markov.check_situations import beliefs
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.statement import StatedHiddenMarkov
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.sparse_matrix import Sparse
from krohn.verify.proof import prove

HARD = "Cyclic-HARD5,5@3"


def file_of(name: str, dtype: str = "float32") -> ModelFile:
    return krohn.compile(name, arch="rnn", dtype=dtype).file


def source_of(name: str) -> HiddenMarkovModel:
    found = krohn.hidden_markov(name)
    assert isinstance(found, HiddenMarkovModel)
    return found


def stated(operators: np.ndarray, start: np.ndarray) -> StatedHiddenMarkov:
    states, letters = map(str, range(len(start))), map(str, range(len(operators)))
    return StatedHiddenMarkov("own", tuple(states), tuple(letters), operators, start)


def said(file: ModelFile, words: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        found: np.ndarray = (
            Model(file).network(torch.from_numpy(words)).double().numpy()
        )
    return found


@pytest.mark.slow
@pytest.mark.parametrize("dtype", list(PRECISIONS))
def test_cyclic_hard_has_one_unit_a_belief_and_is_exact(dtype: str) -> None:
    """75 states and the start: beliefs are unit vectors, in every format."""
    file, source = file_of(HARD, dtype), source_of(HARD)
    assert file.header["architecture"]["hidden"] == 76
    assert file.header["claim"]["error"] < 2.0**-52
    assert file.header["claim"]["length"] is None
    words = source.sample(4, 300, np.random.default_rng(0))[0]
    assert np.array_equal(said(file, words), source.filter(words)[0])


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", list(PRECISIONS))
@pytest.mark.parametrize("name", ["RRXOR", "EvenProcess", "GoldenMean"])
def test_beliefs_are_off_by_their_rounding(name: str, dtype: str) -> None:
    file, source = file_of(name, dtype), source_of(name)
    error = file.header["claim"]["error"]
    assert error <= PRECISIONS[dtype].unit + 2.0**-50
    words = source.sample(20, 2000, np.random.default_rng(1))[0]
    off = np.abs(said(file, words) - source.filter(words)[0]).max()
    assert off <= error + 1e-11


def test_forged_situations_and_claims_are_refused() -> None:
    file = file_of("GoldenMean")
    forged = [
        {"program": {"machine": {"start": 1, "transitions": [[0, 0, 0], [1, 1, 1]]}}},
        {"program": {}},
        {"claim": {**file.header["claim"], "error": 1e-18}},
        {"claim": {**file.header["claim"], "length": 9}},
    ]
    for change in forged:
        header = {**file.header, **change}
        assert krohn.verify(replace(file, header=header)).verdict == "undecided"
    claim = {**file.header["claim"], "kind": "exact"}
    with pytest.raises(KrohnError, match="of a wrong kind"):
        krohn.verify(replace(file, header={**file.header, "claim": claim}))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"length": 9}, "length= is for Transformers"),
        ({"strict": True}, "have one form"),
        ({"construction": "window"}, "auto or beliefs"),
        ({"within": 1e-20}, "is off by"),
    ],
)
def test_what_does_not_suit_is_refused(options: dict[str, object], reason: str) -> None:
    with pytest.raises(KrohnError, match=reason):
        krohn.compile("RRXOR", arch="rnn", **options)  # type: ignore[arg-type]


def test_endlessly_many_beliefs_have_no_rnn() -> None:
    with pytest.raises(KrohnError, match="more than 1000 beliefs"):
        krohn.compile("Mess3", arch="rnn")


def test_outputs_that_are_stored_below_the_least_normal_number() -> None:
    """2^-14·1.5·2^-11 is 0.75 times the least number of float16: it becomes 2^-24."""
    one = np.zeros(1, np.int64)
    hidden = Sparse(one, one, np.array([2.0**-14]), (1, 1))
    readout = Sparse(one, one, np.array([1.5 * 2.0**-11]), (1, 1))
    exact = 1.5 * 2.0**-25
    network: Any = SimpleNamespace(
        form=FORMATS["float16"], readout=readout, logits=np.zeros(1)
    )
    off = Says.off(network, hidden, np.array([[exact]])).most
    assert off >= abs(float(np.float16(exact)) - exact) > 0


def test_many_dense_beliefs_are_not_multiplied_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A small file that would take minutes: a long path of one belief."""
    monkeypatch.setattr(situations, "MOST_STEPS", 2**16)
    for states, few in ((80, True), (90, False)):
        after = np.arange(1, states + 1) % states
        path = Machine(0, np.tile(after, (2, 1)), np.arange(states))
        readings = {(q,): q for q in range(states)}
        source = stated(np.ones((2, 20, 20)), np.ones(20))
        if few:
            assert (beliefs(source, path, readings).belief == 1 / 20).all()
            continue
        with pytest.raises(Refused, match="too many beliefs"):
            beliefs(source, path, readings)


def test_many_beliefs_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse operators are quickly multiplied, and each belief has many entries."""
    monkeypatch.setattr(situations, "MOST_NUMBERS", 200)
    operators, readings = np.eye(20)[None], {(q,): q for q in range(20)}
    for states in (10, 11):
        after = np.arange(1, states + 1) % states
        source = stated(operators, np.eye(20)[0])
        path = Machine(0, after[None], np.arange(states))
        if states == 10:
            assert beliefs(source, path, readings).belief.shape == (10, 20)
            continue
        with pytest.raises(Refused, match="too many beliefs"):
            beliefs(source, path, readings)
    forged = file_of("GoldenMean")
    machine = {"start": 0, "transitions": [[0] * 200] * 2}
    header = {**forged.header, "program": {"machine": machine}}
    proof = prove(replace(forged, header=header), None)
    assert "too many beliefs to be listed" in proof.reason
