"""Large RNNs: sparse files, the same network as the dense one, proved and damaged."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import compiler.rnn
import krohn
from algebra import zoo
from algebra.automaton import Automaton, Output
from algebra.semiautomaton import Semiautomaton
from compare.models.compiled import compiled
from compare.models.cost import cost
from compare.models.weights import model_file
from krohn import cli
from network.architecture import parameters
from network.model import Model
from network.modelfile import ModelFile, ModelFileError, pack
from network.modelfile import _parse as parse
from network.sparse import Sparse
from verify import sparse_recurrent
from verify.proof import prove

NAMES = ("C3", "S3", "Grid4", "abab", "FlipFlop", "PermReset4")


@pytest.fixture
def sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even small networks are held by sparse matrices."""
    monkeypatch.setattr(compiler.rnn, "WIDEST_DENSE", 0)


def rnn(name: str, dtype: str = "float32", **how: str) -> ModelFile:
    return krohn.compile(name, arch="rnn", dtype=dtype, proved=False, **how).file


def random_machine(states: int, letters: int, seed: int = 0) -> Automaton:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, states, size=(letters, states))
    names = [tuple(map(str, range(n))) for n in (letters, states)]
    shown = Output("states", rng.integers(0, 3, size=states), ("x", "y", "z"))
    return Automaton(Semiautomaton(table, *names), output=shown)


@pytest.mark.parametrize("name", NAMES)
def test_the_product_is_the_dense_network(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dense = rnn(name)
    monkeypatch.setattr(compiler.rnn, "WIDEST_DENSE", 0)
    file = rnn(name)
    shape = file.header["architecture"]
    left = Sparse.named(file.tensors, "hidden.left", shape["rank"]).dense()
    right = Sparse.named(file.tensors, "hidden.right", shape["hidden"]).dense()
    assert np.array_equal(left @ right, dense.tensors["hidden.weight"])
    machine = zoo.machine(name)
    rng = np.random.default_rng(0)
    words = torch.from_numpy(rng.integers(0, len(machine.letters), size=(5, 40)))
    assert torch.equal(Model(file)(words), Model(dense)(words))


@pytest.mark.usefixtures("sparse")
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", NAMES)
def test_sparse_networks_are_proved(name: str, dtype: str) -> None:
    file = rnn(name, dtype)
    machine = replace(zoo.machine(name), output=None)
    proof = prove(file, machine)
    assert proof.verdict == "verified"
    assert proof.evidence[-1]["margin"] == 2.0


def test_large_machines_are_proved_and_read_back() -> None:
    machine = random_machine(400, 9)
    model = krohn.compile(machine, arch="rnn", observation="outputs")
    shape = model.file.header["architecture"]
    width = shape["hidden"]
    assert model.proof is not None
    assert parameters(shape) < 10 * width
    again = parse(pack(model.file.header, model.file.tensors))
    assert again.header["version"] == 3
    word = [str(a) for a in np.random.default_rng(1).integers(0, 9, size=200)]
    assert Model(again).run(word) == list(machine.run(word))
    assert krohn.verify(model.file, machine, sample=3).verdict == "verified"


def damaged(
    file: ModelFile, name: str, change: Callable[[np.ndarray], None]
) -> ModelFile:
    tensor = file.tensors[name].copy()
    change(tensor)
    return replace(file, tensors={**file.tensors, name: tensor})


@pytest.mark.usefixtures("sparse")
@pytest.mark.parametrize("name", ["Grid4", "S3"])
def test_no_harmful_change_of_one_entry_is_accepted(name: str) -> None:
    file, machine = rnn(name), replace(zoo.machine(name), output=None)
    letters = len(machine.letters)
    rng = np.random.default_rng(0)
    words = torch.from_numpy(rng.integers(0, letters, size=(100, 8)))
    right = machine.semiautomaton.trace(words.numpy(), machine.start)
    places = [
        (name, at, value)
        for name, tensor in file.tensors.items()
        for at in range(tensor.size)
        for value in (0.0, 1.0, -1.0, 2.0, 0.5)
        if not name.endswith(".offsets") and tensor.flat[at] != value
    ]
    wrong = 0
    for i in rng.permutation(len(places))[:250]:
        name, at, value = places[i]
        mutant = damaged(file, name, lambda t, at=at, v=value: t.put(at, v))
        try:
            parse(pack(mutant.header, mutant.tensors))
        except ModelFileError:
            continue
        logits = Model(mutant)(words)
        top = logits.amax(dim=-1, keepdim=True)
        said = logits.argmax(dim=-1).numpy()
        fails = (said != right).any() or ((logits == top).sum(-1) > 1).any()
        proof = prove(mutant, machine)
        assert not (fails and proof.verdict == "verified")
        assert (proof.word is not None) == (proof.verdict == "refuted")
        wrong += bool(fails)
    assert wrong > 50


@pytest.mark.usefixtures("sparse")
@pytest.mark.parametrize(
    ("tensor", "change", "reason"),
    [
        ("hidden.right.values", lambda t: t.fill(1.5), "not whole numbers"),
        ("hidden.bias", lambda t: t.put(0, 1.0), "does not rest"),
        ("input.weight.values", lambda t: t.put(0, 2.0), "does not rest"),
        ("hidden.bias", lambda t: t.put(0, -(2.0**24)), "too large to be exact"),
        ("unembed.bias", lambda t: t.fill(1 - 2.0**24), "too large to be exact"),
    ],
)
def test_what_is_not_exact_is_not_proved(
    tensor: str, change: Callable[[np.ndarray], None], reason: str
) -> None:
    file = damaged(rnn("Grid4"), tensor, change)
    proof = prove(file, replace(zoo.machine("Grid4"), output=None))
    assert (proof.verdict, reason in proof.reason) == ("undecided", True)


@pytest.mark.usefixtures("sparse")
def test_another_machine_is_refuted_by_a_shortest_word() -> None:
    file, machine = rnn("Grid4"), replace(zoo.machine("Grid4"), output=None)
    table = machine.transitions.copy()
    table[1, 2] = 1
    other = replace(
        machine, semiautomaton=Semiautomaton(table, machine.letters, machine.states)
    )
    proof = prove(file, other)
    assert proof.verdict == "refuted"
    assert len(proof.word) == 3


@pytest.mark.usefixtures("sparse")
def test_logits_that_begin_with_more_are_all_looked_at() -> None:
    file, machine = rnn("C3"), replace(zoo.machine("C3"), output=None)
    high = damaged(file, "unembed.bias", lambda t: t.put(0, 0.0))
    assert prove(high, machine).verdict == "verified"
    higher = damaged(file, "unembed.bias", lambda t: t.put(0, 1.0))
    assert prove(higher, machine).verdict == "refuted"


@pytest.mark.usefixtures("sparse")
def test_walks_without_end_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    file, machine = rnn("S3"), replace(zoo.machine("S3"), output=None)
    monkeypatch.setattr(sparse_recurrent, "MOST_PAIRS", 3)
    assert "more than" in prove(file, machine).reason
    for entries, reason in ((9, "under too many letters"), (1, "or too many logits")):
        monkeypatch.setattr(sparse_recurrent, "MOST_ENTRIES", entries)
        assert reason in prove(file, machine).reason


@pytest.mark.usefixtures("sparse")
@pytest.mark.parametrize(
    ("tensor", "change", "message"),
    [
        ("hidden.left.offsets", lambda t: t.put(1, 99.0), "offsets that are not"),
        ("hidden.left.columns", lambda t: t.put(0, 99.0), "a column that it does not"),
        ("input.weight.columns", lambda t: t.put(1, t[0]), "columns do not ascend"),
        ("unembed.weight.values", lambda t: t.put(0, 0.0), "entries that are 0"),
    ],
)
def test_damaged_matrices_are_refused(
    tensor: str, change: Callable[[np.ndarray], None], message: str
) -> None:
    file = damaged(rnn("Grid4"), tensor, change)
    with pytest.raises(ModelFileError, match=message):
        parse(pack(file.header, file.tensors))


@pytest.mark.usefixtures("sparse")
@pytest.mark.parametrize(
    "shape",
    [
        {"entries": 3},
        {"entries": {"hidden.left": 9}},
        {"rank": 2**31},
        {"rank": 0},
        {"hidden": 2**31},
    ],
)
def test_damaged_shapes_are_refused(shape: dict[str, object]) -> None:
    file = rnn("Grid4")
    architecture = {**file.header["architecture"], **shape}
    with pytest.raises(ModelFileError):
        parse(pack({**file.header, "architecture": architecture}, file.tensors))


@pytest.mark.usefixtures("sparse")
def test_sparse_networks_are_drawn_and_attacked(tmp_path: Path) -> None:
    model = krohn.compile("S3", arch="rnn")
    path = tmp_path / "m.safetensors"
    model.save(path)
    assert cli.run(["draw", str(path), "-o", str(tmp_path / "m.svg")]) == 0
    assert cli.run(["verify", str(path), "--attack", "0.1"]) == 0
    network = compiled(model.file)
    again = model_file(network)
    assert again.tensors.keys() == model.file.tensors.keys()
    assert all(
        np.array_equal(again.tensors[n], t) for n, t in model.file.tensors.items()
    )
    entries = model.file.header["architecture"]["entries"]
    assert cost(network, 10).flops == 20 * (
        sum(entries.values()) - entries["input.weight"]
    )


def test_units_of_sparse_matrices_can_change_places() -> None:
    rng = np.random.default_rng(0)
    whole = (rng.random((5, 7)) < 0.4) * 1.0
    held = Sparse.of((5, 7), *np.nonzero(whole), 1.0)
    rows, columns = rng.permutation(5), rng.permutation(7)
    assert held.problem() is None
    moved = held.moved(rows, columns)
    assert moved.problem() is None
    assert np.array_equal(moved.dense(), whole[np.ix_(rows, columns)])
