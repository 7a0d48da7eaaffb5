"""The RNN of Theorem 5.1: exact for maps, in every format, at every length."""

import numpy as np
import pytest
import torch
from linear_networks import changed, rounding, system, words_of

from krohn.algebra.formats import json_format
from krohn.kinds.linear_systems.build_gated import gated_network
from krohn.kinds.linear_systems.source import LinearSystem
from krohn.machines import automaton
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.network.recurrent import Rnn
from krohn.program.errors import Refused
from krohn.verify.proof import Proof, prove
from krohn.verify.search.find import model_of, search

NAME = "Cyclic-DET5,5@3"


def merging() -> LinearSystem:
    matrices = np.zeros((2, 4, 4))
    matrices[0, [0, 0, 1, 2], range(4)] = matrices[1, [3, 2, 2, 2], range(4)] = 1
    return LinearSystem("merging", ("a", "b"), matrices, np.eye(4)[3])


def file_of(source: LinearSystem, dtype: str, scale: float = 2.0) -> ModelFile:
    precision = PRECISIONS[dtype]
    network = gated_network(source, precision, scale)
    machine = automaton(source)
    claim = {"start": machine.states[machine.start], "dtype": dtype}
    header = {
        "architecture": network.architecture,
        "machine": json_format.claimed_machine(machine),
        "construction": "gated",
        "claim": claim,
    }
    tensors = {name: precision.round(t) for name, t in network.tensors.items()}
    return ModelFile(header, tensors, precision)


def proof_of(file: ModelFile, source: LinearSystem) -> Proof:
    return prove(file, automaton(source))


@pytest.mark.sample(4)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("scale", [2.0, 4.0])
def test_maps_are_proved_exactly_for_words_of_every_length(
    dtype: str, scale: float
) -> None:
    for source in (system(NAME), merging()):
        proof = proof_of(file_of(source, dtype, scale), source)
        assert proof.verdict == "verified", proof.reason
        assert proof.length is None


@pytest.mark.parametrize("scale", [1.9, 1.875, 1.5])
def test_a_gate_that_is_too_small_is_refused(scale: float) -> None:
    source = system(NAME)
    assert proof_of(file_of(source, "float64", scale), source).verdict != "verified"


def test_the_printed_start_is_refused() -> None:
    source = system(NAME)
    file = file_of(source, "float64")
    start = file.tensors["hidden.start"].copy()
    start[:5] -= 2.0
    printed = ModelFile(
        file.header, {**file.tensors, "hidden.start": start}, file.precision
    )
    assert proof_of(printed, source).verdict == "refuted"


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("source", [system(NAME), merging()], ids=["cycles", "merging"])
def test_outputs_are_the_states_themselves(source: LinearSystem, dtype: str) -> None:
    file, form = file_of(source, dtype), getattr(torch, dtype)
    tensors = {n: torch.tensor(t, dtype=form) for n, t in file.tensors.items()}
    letters = len(source.letters)
    words = np.random.default_rng(0).integers(letters, size=(8, 2000))
    said = Rnn(file.header["architecture"], tensors)(torch.tensor(words))
    assert np.array_equal(said.numpy(), source.run(words))


def test_real_letters_drift_by_rounding_only() -> None:
    source, length = system("MatMul5,5@3"), 500
    network = gated_network(source, PRECISIONS["float64"], 2.5)
    tensors = {name: torch.tensor(t) for name, t in network.tensors.items()}
    words = np.random.default_rng(0).integers(5, size=(8, length))
    said = Rnn(network.architecture, tensors)(torch.tensor(words)).numpy()
    assert np.abs(said - source.run(words)).max() < 1e-11


def within(source: LinearSystem, length: int, dtype: str, scale: float) -> ModelFile:
    precision = PRECISIONS[dtype]
    network = gated_network(source, precision, scale)
    claim = {"kind": "within", "error": 1e9, "length": length, "dtype": dtype}
    header = {
        "architecture": network.architecture,
        "source": source.to_wire(),
        "claim": claim,
    }
    tensors = {name: precision.round(t) for name, t in network.tensors.items()}
    return ModelFile(header, tensors, precision)


def error_of(file: ModelFile) -> float:
    model = model_of(file)
    with np.errstate(all="ignore"):
        found = search(model, None)[1]
    return found.error


@pytest.mark.sample(3)
@pytest.mark.parametrize("length", [1, 7, 500])
@pytest.mark.parametrize(
    ("name", "dtype"), [("MatMul5,5@3", "float64"), (NAME, "float32")]
)
def test_real_states_are_right_within_what_is_shown(
    name: str, dtype: str, length: int
) -> None:
    """Theorem W7: errors grow by a rounding in each step."""
    source = system(name)
    file = within(source, length, dtype, 2.5)
    form = {"float64": torch.float64, "float32": torch.float32}[dtype]
    tensors = {n: torch.tensor(t).to(form) for n, t in file.tensors.items()}
    words = words_of(source, length, 10)
    said = Rnn(file.header["architecture"], tensors)(torch.tensor(words)).double()
    off = np.abs(said.numpy() - source.run(words)).max()
    assert off <= error_of(file) + rounding(source, length)
    assert error_of(file) < length * 200 * PRECISIONS[dtype].unit


@pytest.mark.parametrize(
    ("name", "scale"), [("MatMul5,5@3", 2.0), (NAME, 1.9), (NAME, -2.0)]
)
def test_gates_without_room_are_refused(name: str, scale: float) -> None:
    with pytest.raises(Refused, match="gate"):
        error_of(within(system(name), 20, "float64", scale))


@pytest.mark.parametrize("tensor", ["hidden.weight", "input.weight", "unembed.weight"])
def test_other_tensors_of_a_gated_rnn_are_refused(tensor: str) -> None:
    file = within(system("MatMul5,5@3"), 20, "float64", 2.5)
    damaged = file.tensors[tensor].copy()
    damaged[3, 2] += 1e-9
    with pytest.raises(Refused, match="is another one"):
        error_of(changed(file, **{tensor: damaged}))


def test_a_bias_that_is_off_is_an_error_in_each_step() -> None:
    file = within(system("MatMul5,5@3"), 20, "float64", 2.5)
    bias = file.tensors["hidden.bias"].copy()
    bias[3] += 1e-6
    assert error_of(changed(file, hidden__bias=bias)) > 2e-5
