"""RNNs, dense and sparse: compiled, proved by the small checker, and damaged."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import krohn
from krohn import cli
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.architectures.recurrent import (
    build as constructed,
    check as recurrent,
    find as recurrent_find,
)
from krohn.instruments.compare.models.compiled import wrap_compiled
from krohn.instruments.compare.models.cost import cost
from krohn.instruments.compare.models.files import model_file
from krohn.network import ModelFileError
from krohn.network.architecture import parameters
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile, _parse as parse, pack
from krohn.network.sparse import Sparse
from krohn.program.errors import KrohnError, Refused
from krohn.verify.checker import (
    simulation,
    sparse_matrix,
)
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.model_file import Machine, Model as CheckedModel
from krohn.verify.checker.network import recheck
from krohn.verify.proof import prove
from krohn.verify.search import exact_walk
from krohn.verify.search.find import find

NAMES = ("C3", "S3", "Grid4", "abab", "FlipFlop", "PermReset4")


@pytest.fixture
def sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even small networks are held by sparse matrices."""
    monkeypatch.setattr(constructed, "WIDEST_DENSE", 0)


def rnn(name: str, dtype: str = "float32", **how: str) -> ModelFile:
    return krohn.compile(name, arch="rnn", dtype=dtype, proof=False, **how).file


def random_machine(states: int, letters: int, seed: int = 0) -> Automaton:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, states, size=(letters, states))
    names = [tuple(map(str, range(n))) for n in (letters, states)]
    shown = Output("states", rng.integers(0, 3, size=states), ("x", "y", "z"))
    return Automaton(Semiautomaton(table, *names), output=shown)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", NAMES)
def test_the_product_is_the_dense_network(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dense = rnn(name)
    monkeypatch.setattr(constructed, "WIDEST_DENSE", 0)
    file = rnn(name)
    shape = file.header["architecture"]
    left = Sparse.from_tensors(file.tensors, "hidden.left", shape["rank"]).dense()
    right = Sparse.from_tensors(file.tensors, "hidden.right", shape["hidden"]).dense()
    assert np.array_equal(left @ right, dense.tensors["hidden.weight"])
    machine = zoo.machine(name)
    rng = np.random.default_rng(0)
    words = torch.from_numpy(rng.integers(0, len(machine.letters), size=(5, 40)))
    assert torch.equal(Model(file)(words), Model(dense)(words))


@pytest.mark.sample(3)
@pytest.mark.usefixtures("sparse")
@pytest.mark.parametrize(
    ("name", "dtype"), list(zip(NAMES, 2 * list(FORMATS), strict=False))
)
def test_sparse_networks_are_proved(name: str, dtype: str) -> None:
    file = rnn(name, dtype)
    machine = replace(zoo.machine(name), output=None)
    proof = prove(file, machine)
    assert proof.verdict == "verified"
    assert proof.evidence[-1]["margin"] == 2.0


@pytest.mark.slow
def test_large_machines_are_proved_and_read_back() -> None:
    machine = random_machine(400, 9)
    model = krohn.compile(machine, arch="rnn", observe="outputs")
    shape = model.file.header["architecture"]
    width = shape["hidden"]
    assert model.proof is not None
    assert parameters(shape) < 10 * width
    again = parse(pack(model.file.header, model.file.tensors))
    assert again.header["version"] == 3
    word = [str(a) for a in np.random.default_rng(1).integers(0, 9, size=200)]
    assert Model(again).run(word) == list(machine.run(word))
    assert krohn.verify(model.file, machine, sample=3).verdict == "undecided"


def damaged(
    file: ModelFile, name: str, change: Callable[[np.ndarray], None]
) -> ModelFile:
    tensor = file.tensors[name].copy()
    change(tensor)
    return replace(file, tensors={**file.tensors, name: tensor})


@pytest.mark.sample(1)
@pytest.mark.usefixtures("sparse")
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("Grid4", "float32"),
        ("S3", "bfloat16"),
    ],
)
def test_no_harmful_change_of_one_entry_is_accepted(name: str, dtype: str) -> None:
    file, machine = rnn(name, dtype), replace(zoo.machine(name), output=None)
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
    for i in rng.permutation(len(places))[:20]:
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
        assert shown(mutant, machine) == (proof.verdict == "verified")
        wrong += bool(fails)
    assert wrong > 3


def shown(file: ModelFile, machine: Automaton) -> bool:
    """Whether the small checker sees from the bytes of a file that it is right."""
    data = pack(file.header, file.tensors)
    told = Machine(machine.start, machine.transitions, np.arange(len(machine.states)))
    try:
        found = recheck(data, json.dumps(find(data, told)).encode(), told)
    except Refused:
        return False
    assert found.facts()["length"] is None
    return found.margin > 0


@pytest.mark.sample(3)
@pytest.mark.parametrize("wide", [0, 1024])
@pytest.mark.parametrize(
    ("tensor", "change"),
    [
        ("hidden.bias", lambda t: t.put(0, -(2.0**24))),
        ("hidden.bias", lambda t: t.put(0, -1 - 2.0**-23)),
        ("unembed.bias", lambda t: t.fill(1 - 2.0**24)),
    ],
)
def test_what_is_not_exact_is_not_proved(
    tensor: str,
    change: Callable[[np.ndarray], None],
    wide: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(constructed, "WIDEST_DENSE", wide)
    file = damaged(rnn("Grid4"), tensor, change)
    proof = prove(file, replace(zoo.machine("Grid4"), output=None))
    assert (proof.verdict, proof.reason) == ("undecided", "a sum is not exact")


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_sums_are_exact_up_to_the_digits_of_the_format(dtype: str) -> None:
    # Nothing leads to the start state, so its unit is the last one, and off ever after.
    machine = Automaton(
        Semiautomaton([[1, 2, 1], [2, 1, 2]], ("a", "b"), ("0", "1", "2"))
    )
    file = krohn.compile(machine, arch="rnn", dtype=dtype).file
    most = 2.0**file.precision.digits
    for size, verdict in ((most / 2, "verified"), (most, "undecided")):
        far = damaged(file, "hidden.bias", lambda t, s=size: t.put(-1, 2 - s))
        assert prove(far, machine).verdict == verdict


@pytest.mark.parametrize("wide", [0, 1024])
def test_fractions_are_exact_too(wide: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Half of everything: h is 0 or 1/2, and hands on as much as before.
    monkeypatch.setattr(constructed, "WIDEST_DENSE", wide)
    file, machine = rnn("S3"), replace(zoo.machine("S3"), output=None)
    tensors = {
        n: t / 2 if n.startswith(("hidden.start", "hidden.bias", "input.")) else t
        for n, t in file.tensors.items()
        if not n.endswith(("offsets", "columns"))
    }
    half = replace(file, tensors={**file.tensors, **tensors})
    proof = prove(half, machine)
    assert (proof.verdict, proof.evidence[-1]["margin"]) == ("verified", 1.0)


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(8))
def test_hidden_states_are_those_of_the_network(seed: int) -> None:
    """Units that rest and units that do not, of matrices whole and by their entries."""
    rng = np.random.default_rng(seed)
    hidden, letters, rank = 6, 3, 4 if seed % 2 else 6

    def matrix(rows: int, columns: int) -> np.ndarray:
        kept = rng.random((rows, columns)) < 0.5
        return rng.integers(-2, 3, size=(rows, columns)) * kept / 2

    left, right = matrix(hidden, rank), matrix(rank, hidden)
    read, given = matrix(hidden, 2), matrix(letters, hidden)
    start, bias = matrix(1, hidden)[0], matrix(1, hidden)[0]
    tensors = {"hidden.start": start, "hidden.bias": bias, "unembed.bias": read[0]}
    shape: dict[str, Any] = {"kind": "rnn", "hidden": hidden, "vocabulary": letters}
    shape |= {"outputs": 2, "dtype": "float64"}
    if seed % 2:
        shape |= {"rank": rank, "entries": {}}
        held = {"hidden.left": left, "hidden.right": right, "input.weight": given}
        for name, whole in {**held, "unembed.weight": read}.items():
            (rows, columns), size = whole.nonzero(), whole.shape
            shape["entries"][name] = len(rows)
            found = Sparse.of(size, rows, columns, 1.0).tensors(name)
            tensors |= found | {f"{name}.values": whole[rows, columns]}
        weight = left @ right
    else:
        weight = left
        tensors |= {
            "hidden.weight": left,
            "input.weight": given,
            "unembed.weight": read,
        }
    claim = {**rnn("C2").header["claim"], "dtype": "float64"}
    header = {**rnn("C2").header, "architecture": shape, "claim": claim}
    network = recurrent.open_network(CheckedModel(FORMATS["float64"], tensors, header))
    now, state = network.first, start[None]
    for _ in range(3):
        after = network.after(network.hand_on(now))
        drive = state @ weight + bias
        state = np.maximum(drive[:, None] + given, 0).reshape(-1, hidden)
        assert np.array_equal(dense(after), state)
        logits = state @ read + read[0]
        for right_one in (0, 1):
            ahead = network.ahead(after, np.full(len(state), right_one))
            true = logits[:, right_one] - logits[:, 1 - right_one]
            assert np.array_equal(ahead > 0, true > 0)
            assert (ahead <= true).all()
        now = after


def dense(matrix: sparse_matrix.Sparse) -> np.ndarray:
    whole = np.zeros(matrix.shape)
    whole[matrix.rows, matrix.columns] = matrix.values
    return whole


def test_a_unit_that_nothing_drives_may_be_on() -> None:
    file, machine = rnn("C3"), replace(zoo.machine("C3"), output=None)
    parts = [file.tensors[n] for n in ("hidden.weight", "unembed.weight")]
    idle = [np.append(part, np.zeros((1, part.shape[1])), axis=0) for part in parts]
    tensors = {
        **file.tensors,
        "hidden.start": np.append(file.tensors["hidden.start"], 0.0),
        "hidden.bias": np.append(file.tensors["hidden.bias"], 1.0),
        "hidden.weight": np.append(idle[0], np.zeros((len(idle[0]), 1)), axis=1),
        "input.weight": np.pad(file.tensors["input.weight"], ((0, 0), (0, 1))),
        "unembed.weight": idle[1],
    }
    shape = file.header["architecture"]
    wider = {**shape, "hidden": shape["hidden"] + 1}
    awake = replace(
        file, tensors=tensors, header={**file.header, "architecture": wider}
    )
    assert prove(awake, machine).verdict == "verified"
    assert shown(awake, machine)
    awake.tensors["unembed.weight"][-1, 0] = 3.0
    proof = prove(awake, machine)
    assert proof.verdict == "refuted"
    said = Model(awake)(torch.tensor([proof.word]))[0, -1].argmax()
    assert said != machine.semiautomaton.trace(np.array([proof.word]), 0)[0, -1]


@pytest.mark.sample(2)
@pytest.mark.usefixtures("sparse")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda h, t: h["claim"].update(length=5), "no longest word"),
        (lambda h, t: h["architecture"].update(outputs=9), "tensors are not as stated"),
        (lambda h, t: h["architecture"].update(hidden=9), "tensors are not as stated"),
        (lambda h, t: t["hidden.left.columns"].put(0, 99), "entries beside it"),
        (lambda h, t: t["hidden.left.columns"].put(0, -1), "entries beside it"),
        (lambda h, t: t["input.weight.columns"].put(1, 0), "do not ascend"),
        (lambda h, t: t["hidden.left.offsets"].put(1, 99), "has no rows"),
        (lambda h, t: t["hidden.left.offsets"].put(0, 1), "entries beside it"),
    ],
)
def test_the_small_checker_refuses_damaged_files(
    change: Callable[[dict[str, Any], dict[str, Any]], object], reason: str
) -> None:
    file = rnn("Grid4")
    machine = replace(zoo.machine("Grid4"), output=None)
    assert shown(file, machine)
    header = json.loads(json.dumps(file.header))
    tensors = {n: t.copy() for n, t in file.tensors.items()}
    change(header, tensors)
    data = pack(header, tensors)
    evidence = find(pack(file.header, file.tensors))
    evidence["model"] = hashlib.sha256(data).hexdigest()
    with pytest.raises(Refused, match=reason):
        recheck(data, json.dumps(evidence).encode())


@pytest.mark.usefixtures("sparse")
def test_evidence_for_an_rnn_is_short_and_claims_its_margin() -> None:
    file = rnn("Grid4")
    data = pack(file.header, file.tensors)
    evidence = find(data)
    assert len(json.dumps(evidence)) < 600
    found = recheck(data, json.dumps(evidence).encode())
    assert found.facts()["pairs"] == 4
    for wrong in ({"margin": 2.1}, {"margin": float("nan")}, {"model": "0"}):
        with pytest.raises(Refused):
            recheck(data, json.dumps({**evidence, **wrong}).encode())
    del evidence["simulation"]
    with pytest.raises(Refused, match=r"no 'simulation'.*make it anew"):
        recheck(data, json.dumps(evidence).encode())


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
    monkeypatch.setattr(recurrent_find, "MOST_NODES", 3)
    assert "too many hidden states" in prove(file, machine).reason
    monkeypatch.setattr(recurrent_find, "MOST_NODES", 99)
    monkeypatch.setattr(sparse_matrix, "MOST", 9)
    assert "too many units" in prove(file, machine).reason


def test_one_batch_or_many_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    file, machine = rnn("Rubik"), replace(zoo.machine("Rubik"), output=None)
    whole = prove(file, machine)
    for module in (simulation, exact_walk):
        monkeypatch.setattr(module, "CELLS", 1)
    parts = prove(file, machine)
    assert whole.verdict == parts.verdict == "verified"
    assert whole.evidence == parts.evidence
    table = machine.transitions.copy()
    table[3, 50:60] = 0
    other = replace(
        machine, semiautomaton=Semiautomaton(table, machine.letters, machine.states)
    )
    parts, whole = prove(file, other), (monkeypatch.undo(), prove(file, other))[1]
    assert whole.word == parts.word


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


def test_columns_that_are_the_same_number_do_not_ascend() -> None:
    """A compact file holds places as numbers of its format, whole or not."""
    parts = {"offsets": [0, 2], "columns": [0.25, 0.5], "values": [1, 1]}
    tensors = {f"m.{name}": np.array(part, float) for name, part in parts.items()}
    with pytest.raises(Refused, match="do not ascend"):
        sparse_matrix.by_rows(tensors, "m", (1, 2))
    assert Sparse.from_tensors(tensors, "m", 2).problem() is not None


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
    with pytest.raises(KrohnError):
        parse(pack({**file.header, "architecture": architecture}, file.tensors))


@pytest.mark.slow
@pytest.mark.usefixtures("sparse")
def test_sparse_networks_are_drawn_and_attacked(tmp_path: Path) -> None:
    model = krohn.compile("S3", arch="rnn")
    path = tmp_path / "m.safetensors"
    model.save(path)
    assert cli.run(["draw", str(path), "-o", str(tmp_path / "m.svg")]) == 0
    assert cli.run(["verify", str(path), "--attack", "0.1"]) == 0
    network = wrap_compiled(model.file)
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
    moved = held.permute(rows, columns)
    assert moved.problem() is None
    assert np.array_equal(moved.dense(), whole[np.ix_(rows, columns)])
