"""LSTMs with cells that count letters, made by hand: right for ever, or not."""

import base64
import json
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from trained_networks import ONES

from krohn.architectures.gated import find_parallelotopes as parallelotopes
from krohn.architectures.gated.check import open_network
from krohn.architectures.gated.check_affine_forms import AffineForm
from krohn.architectures.gated.commands import model_file
from krohn.architectures.gated.find_dynamics import (
    FLAT,
    Counting,
    Dynamics,
)
from krohn.network import modelfile
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.network import recheck
from krohn.verify.proof import Proof, prove
from krohn.verify.search.find import for_file, model_of

I0, F0, G0, O0 = 0, 2, 4, 6
"""Rows of torch's gates of cell 0; those of cell 1 come after each."""


@cache
def counter(kind: str = "right") -> ModelFile:
    """An LSTM that says of a word whether all its letters are ones.

    Once there was a zero, cell 0 counts: it adds 1 to itself times σ(9), for its
    hidden state keeps both gates open. Cell 1 stays 0, or grows much more slowly then, and

    * "flips": the read-out says "all ones" again when it is large;
    * "counts back": cell 0 shrinks as soon as it is above ¼.
    """
    letters, held, bias = np.zeros((8, 2)), np.zeros((8, 2)), np.zeros(8)
    letters[I0] = 40, 0
    held[I0, 0], bias[I0] = 40, -20
    held[F0, 0], bias[F0] = 18, -9
    bias[G0], bias[O0] = 5, 10
    held[I0 + 1, 0], bias[I0 + 1] = 40, -20
    bias[F0 + 1], bias[O0 + 1] = -9, 10
    readout, logits = np.array([[10.0, 0.0], [0.0, 0.0]]), np.array([-4.0, 0.0])
    if kind != "right":
        bias[F0 + 1], bias[G0 + 1] = 9, 2e-4
    if kind == "flips":
        readout[0, 1] = -20
    elif kind == "counts back":
        held[G0, 1] = -20
    tensors = {
        "layer.weight_ih_l0": letters,
        "layer.weight_hh_l0": held,
        "layer.bias_ih_l0": bias,
        "layer.bias_hh_l0": np.zeros(8),
        "head.weight": readout,
        "head.bias": logits,
    }
    state = {name: torch.from_numpy(x).float() for name, x in tensors.items()}
    file = model_file(state, ONES, "outputs")
    assert file is not None
    return file


@pytest.fixture(autouse=True)
def less_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """One room, and few sets: the right network needs eight."""
    monkeypatch.setattr(parallelotopes, "MOST_WORK", 2**20)
    monkeypatch.setattr(parallelotopes, "ROOMS", (0.03,))


@cache
def proof_of(kind: str) -> Proof:
    return prove(counter(kind), ONES)


def wrong_after(file: ModelFile, length: int) -> int | None:
    """After how many letters of 0111… the network is wrong first."""
    model = model_of(file)
    assert model.machine is not None
    net = Dynamics(open_network(model), model.machine)
    now = net.begin(1)
    for t in range(length):
        now = net.step(*now, np.array([int(t > 0)]))
        if net.ahead(*now) < 0:
            return t + 1
    return None


@pytest.mark.slow
def test_a_network_that_counts_for_ever_is_proved() -> None:
    assert wrong_after(counter(), 3000) is None
    proof = proof_of("right")
    assert proof.verdict == "verified"
    assert proof.evidence[0]["pairs"] < 200


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["flips", "counts back"])
def test_a_count_that_changes_the_answer_in_the_end_is_not(kind: str) -> None:
    found = wrong_after(counter(kind), 3000)
    assert found is not None
    assert found > 1500
    assert proof_of(kind).verdict != "verified"


@pytest.mark.parametrize("kind", ["flips", "counts back"])
def test_evidence_of_the_right_one_does_not_show_them(kind: str) -> None:
    file, told = counter(kind), dict(proof_of("right").told)
    told.pop("margin", None)
    data = modelfile.pack(file.header, file.tensors)
    with pytest.raises(Refused):
        recheck(data, json.dumps(for_file(data, told)).encode())


def _nodes(told: dict[str, Any]) -> Any:
    text = told["simulation"]["nodes"]
    return np.frombuffer(base64.b64decode(text), "<f8").reshape(2, -1, 4).copy()


@pytest.mark.parametrize("end", ["low", "high"])
def test_long_sets_must_hold_what_comes_of_them(end: str) -> None:
    """One that begins where cells come from, or ends before they do, is left."""
    told = json.loads(json.dumps(proof_of("right").told))
    nodes = _nodes(told)
    long = nodes[1] - nodes[0] > 100
    assert long.any()
    if end == "low":
        nodes[0][long] = nodes[1][long] - 1
    else:
        nodes[1][long] = nodes[0][long] + 1
    told["simulation"]["nodes"] = base64.b64encode(nodes.tobytes()).decode()
    data = modelfile.pack(counter().header, counter().tensors)
    with pytest.raises(Refused, match="leads out"):
        recheck(data, json.dumps(for_file(data, told)).encode())


@pytest.mark.parametrize("noisy", [True, False])
def test_what_a_cell_becomes_lies_in_its_bounds_however_long_they_are(
    noisy: bool,
) -> None:
    """As torch computes it, and as tightly as for short ones at both ends (Lemma 18g)."""
    cell, rng = open_network(model_of(counter())), np.random.default_rng(0)
    net: Any = Model(counter()).network
    low = np.array([0.7, -0.1, FLAT, 0.0])
    high = np.array([1.0, 0.1, 2.0**20, 1.0])
    form = AffineForm.of(Interval(low[None, None], high[None, None]))
    found = cell.after(form.with_noises() if noisy else form).bounds
    inside = low + (high - low) * rng.choice([0, 1e-6, 0.5, 1], size=(200, 4))
    held = torch.from_numpy(inside).float()
    parts = held[:, :2], held[:, 2:]
    for letter in range(2):
        after = net.advance(torch.full((200,), letter), parts)[1]
        said = torch.cat(tuple(after), dim=1).double().numpy()
        assert (found.low[0, letter] <= said).all()
        assert (said <= found.high[0, letter]).all()
        assert found.low[0, letter, 2] > FLAT + 0.8


def test_cells_count_where_all_letters_add_to_them() -> None:
    model = model_of(counter())
    cell = open_network(model)
    assert model.machine is not None
    found = Counting.of(Dynamics(cell, model.machine)).ends
    to = 1 / (1 - 1 / (1 + np.exp(-9.0)))
    assert found[0, 1, 2] > to
    assert not found[1].any()
    assert not found[:, 0].any()
    assert not found[:, :, [0, 1, 3]].any()
