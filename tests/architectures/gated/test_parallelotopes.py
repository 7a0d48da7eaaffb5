"""Trained recurrent networks: their sets hold, and evidence says nothing that is wrong."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from trained_networks import NETWORKS, file_of, path

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.architectures.gated.check import (
    Images,
    open_network,
)
from krohn.architectures.gated.commands import model_file
from krohn.instruments.compare.models.files import load
from krohn.network import modelfile
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program.errors import Refused
from krohn.program.inputs import Words
from krohn.verify.checker.network import recheck
from krohn.verify.proof import Proof, prove
from krohn.verify.search.find import for_file, model_of

QUICK = ("Tomita1-rnn8", "latch-gru8")


@cache
def proof_of(name: str) -> Proof:
    return prove(file_of(name), NETWORKS[name][0])


def checked(file: ModelFile, told: dict[str, Any]) -> Any:
    data = modelfile.pack(file.header, file.tensors)
    return recheck(data, json.dumps(for_file(data, told)).encode())


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_trained_networks_are_proved_for_words_of_every_length(name: str) -> None:
    machine, observe = NETWORKS[name]
    found = krohn.verify(path(name), machine, observe=observe)
    assert found.verdict == "verified"
    assert "every length" in found.covers
    assert checked(file_of(name), proof_of(name).told).inputs == Words(
        len(machine.letters), None
    )
    answers = load(path(name))(torch.randint(2, (64, 300))).argmax(-1)
    net = Model(file_of(name))
    words = torch.randint(len(machine.letters), (64, 300))
    said = net(words).argmax(-1).numpy()
    states = machine.semiautomaton.trace(words.numpy(), machine.start)
    table = machine.output.table if machine.output else np.arange(len(machine.states))
    assert (said == table[states]).all()
    assert answers.shape == (64, 300)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in NETWORKS],
)
def test_a_point_of_a_node_goes_to_the_node_of_its_edge(name: str) -> None:
    """As torch computes it, in float32."""
    file, told = file_of(name), proof_of(name).told["simulation"]
    cell = open_network(model_of(file), told)
    nodes, own = cell.nodes, np.flatnonzero(cell.nodes.made < 0)
    edges = np.frombuffer(base64.b64decode(told["edges"]), "<i4").reshape(
        -1, cell.reads
    )
    rng, n = np.random.default_rng(0), len(cell.weight)
    net: Any = Model(file).network
    for node in rng.choice(own, 4):
        place = nodes.parallelotope_index[node]
        low, high = nodes.bounds.low[place], nodes.bounds.high[place]
        assert nodes.directions is not None
        turned = nodes.directions[place]
        y = low + (high - low) * rng.choice([0.001, 0.5, 0.999], size=(40, len(low)))
        x = torch.from_numpy(np.linalg.solve(turned, y.T).T).float()
        at = np.full(40, node)
        for _ in range(6):
            letter = rng.integers(cell.reads, size=40)
            parts = tuple(x[:, k : k + n] for k in range(0, x.shape[1], n))
            x = torch.cat(net.advance(torch.from_numpy(letter), parts)[1], dim=1)
            at = edges[at, letter]
            held = cell.enclose_nodes(at)
            inside = x.double().numpy()
            assert (held.bounds.low[:, 0] <= inside).all()
            assert (inside <= held.bounds.high[:, 0]).all()
            for row in np.flatnonzero(nodes.made[at] < 0):
                place = nodes.parallelotope_index[at[row]]
                seen = nodes.directions[place] @ inside[row]
                assert (nodes.bounds.low[place] <= seen).all()
                assert (seen <= nodes.bounds.high[place]).all()


@pytest.mark.slow
def test_letters_that_lead_into_no_parallelotope_are_compared_as_well() -> None:
    """A part of the edges may lead only into sets that letters make."""
    cell = open_network(
        model_of(file_of("latch-gru8")), proof_of("latch-gru8").told["simulation"]
    )
    made = np.flatnonzero(cell.nodes.made >= 0)[:1]
    none = np.full(1, cell.nodes.made[made[0]])
    images = Images(cell.enclose_nodes(made).reshape(1), none)
    assert cell.inside(images, np.zeros(1, np.int64), made).all()


def wrong(file: ModelFile, machine: Automaton, count: int = 400) -> bool:
    """Whether words are found on which a network is wrong."""
    rng, letters = np.random.default_rng(1), len(machine.letters)
    words = rng.integers(letters, size=(count, 60))
    runs = rng.integers(letters, size=(count, 12)).repeat(5, axis=1)
    words = np.vstack([words, runs])
    said = Model(file)(torch.from_numpy(words)).argmax(-1).numpy()
    states = machine.semiautomaton.trace(words, machine.start)
    table = machine.output.table if machine.output else np.arange(len(machine.states))
    return bool((said != table[states]).any())


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_old_evidence_shows_no_wrong_network(name: str) -> None:
    """Weights are changed, by little or much; the evidence says it is about the mutant."""
    file, told, machine = file_of(name), proof_of(name).told, NETWORKS[name][0]
    told = {key: value for key, value in told.items() if key != "margin"}
    rng, verified, broken = np.random.default_rng(0), 0, 0
    for _ in range(10):
        tensor = str(rng.choice([n for n in file.tensors if not n.startswith("start")]))
        values = file.tensors[tensor].copy()
        place = tuple(rng.integers(size) for size in values.shape)
        values[place] += rng.normal() * 10.0 ** rng.uniform(-6, 1.5)
        values = file.precision.round(values)
        mutant = replace(file, tensors={**file.tensors, tensor: values})
        try:
            checked(mutant, told)
            verified += 1
            assert not wrong(mutant, machine)
        except Refused:
            broken += 1
    assert verified
    assert broken


def _bytes(text: str, code: str) -> Any:
    return np.frombuffer(base64.b64decode(text), code).copy()


def _packed(numbers: Any) -> str:
    return base64.b64encode(numbers.tobytes()).decode()


def _narrow(told: dict[str, Any]) -> None:
    bounds = _bytes(told["nodes"], "<f8").reshape(2, -1)
    middle, off = (bounds[0] + bounds[1]) / 2, (bounds[1] - bounds[0]) / 4
    told["nodes"] = _packed(np.stack([middle - off, middle + off]))


def _flat(told: dict[str, Any]) -> None:
    told["directions"] = _packed(np.zeros_like(_bytes(told["directions"], "<f4")))


def _turned(told: dict[str, Any]) -> None:
    told["directions"] = _packed(-_bytes(told["directions"], "<f4"))


def _no_number(told: dict[str, Any]) -> None:
    told["directions"] = _packed(_bytes(told["directions"], "<f4") * np.float32("nan"))


def _elsewhere(told: dict[str, Any]) -> None:
    edges = _bytes(told["edges"], "<i4")
    told["edges"] = _packed(np.roll(edges, 1))


def _own_parent(told: dict[str, Any]) -> None:
    made = _bytes(told["made"], "<i4")
    made[made >= 0] = 2 * np.flatnonzero(made >= 0)
    told["made"] = _packed(made.astype("<i4"))


def _all_made(told: dict[str, Any]) -> None:
    """Every node is what a letter makes of the one before: a chain without end."""
    made = _bytes(told["made"], "<i4")
    told["made"] = _packed((2 * np.arange(-1, len(made) - 1)).astype("<i4"))


def _other_states(told: dict[str, Any]) -> None:
    told["states"] = _packed(1 - _bytes(told["states"], "<i4"))


def _fewer(told: dict[str, Any]) -> None:
    told["nodes"] = _packed(_bytes(told["nodes"], "<f8").reshape(2, -1)[:, :-8])


DAMAGE: list[Callable[[dict[str, Any]], None]] = [
    _narrow,
    _flat,
    _turned,
    _no_number,
    _elsewhere,
    _own_parent,
    _all_made,
    _other_states,
    _fewer,
]


@pytest.mark.sample(1)
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_evidence_is_refused(damage: Callable[[dict[str, Any]], None]) -> None:
    told = json.loads(json.dumps(proof_of("Tomita1-rnn8").told))
    assert checked(file_of("Tomita1-rnn8"), told)
    damage(told["simulation"])
    with pytest.raises(Refused):
        checked(file_of("Tomita1-rnn8"), told)


def test_modules_and_state_dicts_are_taken_as_they_are() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Embedding(2, 5)
            self.layer = torch.nn.GRU(5, 6, batch_first=True)
            self.head = torch.nn.Linear(6, 2)

        def forward(self, letters: torch.Tensor) -> torch.Tensor:
            said: torch.Tensor = self.head(self.layer(self.table(letters))[0])
            return said

    net = Net()
    file = model_file(net, "C2")
    assert file is not None
    assert file.header["architecture"]["embedding"] == 5
    words = torch.randint(2, (8, 20))
    assert torch.allclose(Model(file)(words), net(words), atol=1e-5)
    found = krohn.verify(net, "C2")
    assert found.verdict == "refuted"
    assert krohn.verify(net.state_dict(), "C2").counterexample == found.counterexample


class Squared(torch.nn.Module):
    """A network that does more with its tensors than one would think."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.LSTM(2, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 2)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.one_hot(letters, 2).float()
        said: torch.Tensor = self.head(self.layer(x)[0] ** 2)
        return said


class Other(torch.nn.Module):
    """An LSTM that remembers calls, or has two formats."""

    def __init__(self, what: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = torch.nn.LSTM(2, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 2)
        self.what = what
        self.memory: tuple[torch.Tensor, torch.Tensor] | None = None
        if what == "two formats":
            self.head.double()

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.one_hot(letters, 2).float()
        h, memory = self.layer(x, self.memory)
        if self.what == "remembers":
            self.memory = memory
        said: torch.Tensor = self.head(h.to(self.head.weight))
        return said.double() if self.what == "says" else said


class Forgetful(torch.nn.Module):
    """A network that is proved, but for what it is given: it begins anew now and then."""

    def __init__(self, every: int) -> None:
        super().__init__()
        self.inside, self.every = load(path("Tomita1-rnn8")), every

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        parts = letters.split(self.every, dim=1)
        return torch.cat([self.inside(part) for part in parts], dim=1)


@pytest.mark.slow
def test_a_module_that_is_proved_is_run_on_long_words() -> None:
    machine, observe = NETWORKS["Tomita1-rnn8"]
    assert krohn.verify(Forgetful(2000), machine, observe=observe).verdict == (
        "verified"
    )
    with pytest.raises(KrohnError, match="something else with its tensors"):
        krohn.verify(Forgetful(100), machine, observe=observe)


class Shifted(torch.nn.Module):
    """The last letter, by a small margin, and something more for the first class."""

    def __init__(self, more: float) -> None:
        super().__init__()
        self.layer, self.head = (
            torch.nn.RNN(2, 1, batch_first=True),
            torch.nn.Linear(1, 2),
        )
        for parameter in self.parameters():
            parameter.data.zero_()
        self.layer.weight_ih_l0.data[:] = torch.tensor([[-1.0, 1.0]])
        self.head.weight.data[1], self.more = 5e-4, (more, 0)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.one_hot(letters, 2).float()
        said: torch.Tensor = self.head(self.layer(x)[0]) + torch.tensor(self.more)
        return said


@pytest.mark.slow
@pytest.mark.parametrize("more", [8e-4, 3.9e-4])
def test_a_module_that_is_proved_gives_the_same_answers(more: float) -> None:
    """What it adds is less than rounding may be in others, and more than the margin."""
    last = {"letters": ["a", "b"], "states": ["A", "B"], "start": "A"}
    last |= {"format": "krohn-machine", "version": 1, "transitions": [[0, 0], [1, 1]]}
    machine = json_format.from_object(last)
    assert krohn.verify(Shifted(0.0), machine).verdict == "verified"
    with pytest.raises(KrohnError, match="something else with its tensors"):
        krohn.verify(Shifted(more), machine)


def _without_bias() -> dict[str, torch.Tensor]:
    """A read-out that comes before an embedding of the same shape."""
    tables = {f"{name}.weight": torch.zeros(2, 4) for name in ("head", "embed")}
    return {**tables, **torch.nn.GRU(4, 4).state_dict()}


def _with(layer: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {**layer.state_dict(), "head.weight": torch.zeros(2, 4)}


@pytest.mark.parametrize(
    ("model", "machine", "why"),
    [
        (Squared(), "C2", "something else with its tensors"),
        (Other("remembers"), "C2", "something else with its tensors"),
        (Other("says"), "C2", "one format"),
        (Other("two formats"), "C2", "have one format"),
        (_without_bias(), "C2", "which of two matrices"),
        (_with(torch.nn.GRU(2, 4, num_layers=2)), "C2", "none above it"),
        (_with(torch.nn.GRU(2, 4, bidirectional=True)), "C2", "one way"),
        (_with(torch.nn.LSTM(2, 4, proj_size=3)), "C2", "projected"),
        (_with(torch.nn.RNN(3, 4)), "C2", "3 letters"),
        (_with(torch.nn.RNN(2, 4)), "C3", "2 letters"),
        (_with(torch.nn.RNN(2, 4)), None, "states no machine"),
        (torch.nn.RNN(2, 4, nonlinearity="relu"), "C2", "with tanh"),
        ({"a": 1}, "C2", "tensors by their names"),
        (3, "C2", "cannot be verified"),
    ],
)
def test_others_are_refused_in_a_sentence(
    model: object, machine: object, why: str
) -> None:
    with pytest.raises(KrohnError, match=why):
        krohn.verify(model, machine)
