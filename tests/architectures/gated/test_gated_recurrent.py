"""LSTMs and GRUs of machines: proved for every length, damaged, and run (Theorem 18)."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from many_digits import exactly

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.errors import KrohnError
from krohn.architectures.gated.check import open_network
from krohn.architectures.gated.check_affine_forms import AffineForm
from krohn.network.forward_pass import full_precision
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.network.recurrent import GatedRecurrent
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import GATE, Interval
from krohn.verify.proof import prove
from krohn.verify.search.find import model_of

KINDS = ("lstm", "gru")
NAMES = ("C2", "S3", "FlipFlop", "abab", "Cyclic-DET5,5@3")
FORMATS = tuple(PRECISIONS)

torch.set_num_threads(1)


def file_of(name: str, kind: str, dtype: str = "float32") -> ModelFile:
    return krohn.compile(name, arch=kind, dtype=dtype, proof=False).file  # type: ignore[arg-type]


def machine_of(name: str) -> Automaton:
    return replace(krohn.read(name), output=None)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [*zip(NAMES, (*FORMATS, "float64"), strict=True), ("S3", "float32")],
)
def test_machines_are_proved_and_read_long_words(
    name: str, kind: str, dtype: str
) -> None:
    file, machine = file_of(name, kind, dtype), machine_of(name)
    proof = prove(file, machine)
    assert (proof.verdict, proof.length) == ("verified", None), proof.reason
    shape = (1, 3000) if (name, dtype) == ("S3", "float32") else (4, 100)
    letters = np.random.default_rng(0).integers(len(machine.letters), size=shape)
    said = Model(file)(torch.from_numpy(letters)).argmax(dim=-1).numpy()
    assert np.array_equal(said, machine.semiautomaton.trace(letters, machine.start))


@pytest.mark.parametrize("kind", KINDS)
def test_all_words_of_up_to_six_letters(kind: str) -> None:
    report = krohn.verify(file_of("S3", kind), exhaustive=6, length=6)
    assert (report.verdict, report.words) == ("verified", 19530)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_is_remembered_lies_in_its_box(kind: str, dtype: str) -> None:
    """Of any weights, and of anything in a box before: as torch computes it."""
    rng, form = np.random.default_rng(0), PRECISIONS[dtype]
    for size in (0.1, 1.0, 10.0):
        file = file_of("S3", kind, dtype)
        tensors = {
            n: form.round(rng.normal(size=t.shape) * size)
            for n, t in file.tensors.items()
        }
        model = model_of(replace(file, tensors=tensors))
        cell = open_network(model)
        width, n = cell.first.shape[-1], len(cell.weight)
        centre = form.round(rng.uniform(-1, 1, size=(50, 1, width)))
        radius = 1e-3 * rng.random(centre.shape)
        low, high = form.round(centre - radius), form.round(centre + radius)
        found = cell.after(AffineForm.of(Interval(low, high))).base
        inside = form.round(rng.uniform(low, high)).clip(low, high)[:, 0]
        net = Model(replace(file, tensors=tensors)).network
        assert isinstance(net, GatedRecurrent)
        held = torch.from_numpy(inside).to(getattr(torch, dtype))
        parts = tuple(held[:, at : at + n] for at in range(0, width, n))
        for letter in range(cell.reads):
            _, after = net._read(torch.full((50, 1), letter), parts)
            said = torch.cat(after, dim=1).double().numpy()
            assert (found.low[:, letter] <= said).all()
            assert (said <= found.high[:, letter]).all()


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_class_is_refuted_by_a_word(kind: str) -> None:
    file, machine = file_of("S3", kind), machine_of("S3")
    logits = file.tensors["unembed.weight"]
    swapped = replace(
        file, tensors={**file.tensors, "unembed.weight": logits[:, [0, 2, 1, 3, 4, 5]]}
    )
    proof = prove(swapped, machine)
    assert proof.verdict == "refuted"
    assert proof.word is not None
    said = Model(swapped)(torch.tensor([proof.word]))[0, -1].argmax()
    assert said != machine.semiautomaton.trace(np.array([proof.word]), 0)[0, -1]


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_network_that_forgets_slowly_is_not_proved(kind: str) -> None:
    """Gates that are half open let noise add up, or the boxes never close."""
    file = file_of("S3", kind)
    tensors = {
        n: t / 16 if n.startswith("recurrent") else t for n, t in file.tensors.items()
    }
    proof = prove(replace(file, tensors=tensors), machine_of("S3"))
    assert proof.verdict != "verified"


def test_weights_that_overflow_and_claims_of_a_length_are_refused() -> None:
    file, machine = file_of("S3", "lstm"), machine_of("S3")
    name = "recurrent.weight_hh_l0"
    large = {**file.tensors, name: np.full_like(file.tensors[name], 1e38)}
    assert "can overflow" in prove(replace(file, tensors=large), machine).reason
    header = {**file.header, "claim": {**file.header["claim"], "length": 5}}
    assert "no longest word" in prove(replace(file, header=header), machine).reason


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["sigmoid", "tanh"])
def test_gates_are_as_exact_as_is_assumed(name: str, dtype: str) -> None:
    """A14, of torch's functions; and inside of both modules, by the boxes above."""
    rng, precision = np.random.default_rng(0), PRECISIONS[dtype]
    x = np.concatenate([rng.uniform(-s, s, 300) for s in (0.01, 1, 8, 40, 200)])
    numbers = torch.from_numpy(x).to(getattr(torch, dtype))
    right = exactly(name, numbers.double().numpy())
    said = getattr(torch, name)(numbers).double().numpy()
    assert np.abs(said - right).max() <= GATE * precision.unit


PRESSED: dict[type[torch.nn.RNNBase], tuple[list[float], list[float]]] = {
    torch.nn.RNN: ([1], [0]),
    torch.nn.GRU: ([0, 0, 1], [0, -60, 0]),
    torch.nn.LSTM: ([0, 0, 1, 0], [60, -60, 0, 60]),
}
"""Weights of one number and biases with which a module says its hyperbolic tangent: gates
of σ(±60) are 1 and 0. An LSTM has it in its cell."""


@pytest.mark.parametrize(
    "device", ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
)
@pytest.mark.parametrize("module", PRESSED)
def test_gates_of_modules_are_as_exact(
    module: type[torch.nn.RNNBase], device: str
) -> None:
    """A14 of what is run: cuDNN, which makes a tangent of its own, is turned off."""
    x = torch.linspace(-9, 9, 2**16)
    weights, biases = (torch.tensor(part).float() for part in PRESSED[module])
    net = module(1, 1, batch_first=True).requires_grad_(False)
    for parameter in net.parameters():
        parameter.zero_()
    net.weight_ih_l0.copy_(weights[:, None])
    net.bias_ih_l0.copy_(biases)
    with full_precision():
        assert not torch.backends.cudnn.enabled
        said = net.to(device)(x.to(device)[:, None, None])[1]
    said = (said[1] if isinstance(said, tuple) else said).flatten().double().cpu()
    assert (said - x.double().tanh()).abs().max() <= GATE * 2.0**-24


def test_machines_with_too_many_units_are_refused() -> None:
    rng = np.random.default_rng(0)
    table = np.array([rng.permutation(300) for _ in range(8)])
    letters, states = (tuple(map(str, range(n))) for n in table.shape)
    with pytest.raises(KrohnError, match="at most 2,048"):
        krohn.compile(Automaton(Semiautomaton(table, letters, states)), arch="gru")


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", KINDS)
def test_outputs_are_said_too(kind: str) -> None:
    built = krohn.compile("S3", arch=kind, observe="first-chair")  # type: ignore[arg-type]
    assert built.proof is not None
    assert built.proof.verdict == "verified"
    assert zoo.machine("S3").letters == Model(built.file).letters


@pytest.mark.parametrize("kind", KINDS)
def test_the_documented_reader_says_the_same(kind: str) -> None:
    text = (Path(__file__).parents[3] / "docs/model-format.md").read_text()
    code = next(b for b in text.split("```python\n") if b.startswith("def recurrent"))
    space: dict[str, Any] = {"np": np}
    exec(code.split("```")[0], space)
    file, word = file_of("S3", kind, "float64"), [0, 3, 1, 1, 4, 2]
    said = space["recurrent"](file.header, file.tensors, word)
    assert np.allclose(said, Model(file)(torch.tensor([word]))[0].numpy(), atol=1e-12)


@pytest.mark.parametrize("dtype", FORMATS)
def test_what_may_leave_the_format_is_refused(dtype: str) -> None:
    cell = open_network(model_of(file_of("C2", "lstm", dtype)))
    large = Interval.of(np.full((1, 1, 1), cell.form.largest))
    with pytest.raises(Refused, match="overflow"):
        cell.store_memory(large, large)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", [*KINDS, "rnn", "transformer"])
def test_no_other_claim_about_a_machine_is_verified(kind: str) -> None:
    """What is shown of a machine says nothing about an error, or about a text."""
    length = 4 if kind == "transformer" else None
    file = krohn.compile("abab", length, arch=kind).file  # type: ignore[arg-type]
    assert prove(file, machine_of("abab")).verdict == "verified"
    for claim in ({"kind": "within", "error": 1e-12}, {"kind": "generates"}):
        said = {**file.header, "claim": {**file.header["claim"], **claim}}
        forged = prove(replace(file, header=said), machine_of("abab"))
        assert forged.verdict == "undecided"
        assert "a claim of a wrong kind" in forged.reason
