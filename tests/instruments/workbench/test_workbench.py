"""The workbench: its sets are right, damage is found, circuits are the edges that act."""

import json
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import torch
from delete_slices import used
from numpy.typing import NDArray
from schemas import problem

import krohn
from krohn.algebra.errors import KrohnError
from krohn.architectures.exports import circuit as circuits
from krohn.instruments.workbench import making
from krohn.instruments.workbench.answers import (
    interchanges,
    lines,
    right,
    right_changed,
    sample_inputs,
)
from krohn.instruments.workbench.checking import differences
from krohn.instruments.workbench.edge_patching import Components
from krohn.instruments.workbench.models import MODELS
from krohn.instruments.workbench.training import train_network
from krohn.instruments.workbench.workbench import (
    edge_attributions,
    edge_effects,
    score_directions,
    score_edges,
    score_features,
    score_interchange,
    subspaces,
)
from krohn.intervention import read_program
from krohn.open_model import Model
from krohn.program.intervention import predict
from krohn.program.slices import slices
from krohn.source_kinds import with_kind

Call = Callable[..., tuple[int, Any]]
SMALL = (
    "parity",
    "flip-flop",
    "lcs",
    "two-noisy-states",
    "flip-flop-disguised",
    "flip-flop-trained",
)


FEW = ("parity", "flip-flop-trained")
"""What quick tests look at."""


def each(*names: str) -> pytest.MarkDecorator:
    """A network of few, and some of all."""
    all_of_them = (pytest.param("made", n, marks=pytest.mark.slow) for n in names)
    copies = [("few", "parity"), *all_of_them]
    return pytest.mark.parametrize(("several", "name"), copies, indirect=["several"])


def make(tmp_path_factory: pytest.TempPathFactory, names: tuple[str, ...]) -> Path:
    home: Path = tmp_path_factory.mktemp("workbench") / "set"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "train_network", partial(train_network, steps=2))
        krohn.workbench.make(home, names, words=12)
    return home


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory, SMALL)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory, FEW)


@pytest.fixture
def several(request: pytest.FixtureRequest) -> Path:
    """One of the two sets."""
    home: Path = request.getfixturevalue(request.param)
    return home


def told_of(home: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home / name / "circuit.json").read_text())
    return found


@pytest.mark.parametrize(
    ("several", "names"),
    [("few", FEW), pytest.param("made", SMALL, marks=pytest.mark.slow)],
    indirect=["several"],
)
def test_a_set_has_proofs_circuits_words_and_forms(
    several: Path, names: tuple[str, ...]
) -> None:
    told = json.loads((several / "workbench.json").read_text())
    assert [each["name"] for each in told["models"]] == list(names)
    assert problem("workbench-index", told) == ""
    assert problem("workbench-index", {**told, "version": 2})
    for each in told["models"]:
        home = several / each["name"]
        found = krohn.load(home / "model.safetensors")
        report = krohn.verify(home / "model.safetensors")
        assert report.digest == each["digest"]
        assert (report.verdict == "verified") is each["proved"]
        assert each["proved"] is (each["level"] != "trained")
        assert (home / "evidence.json").is_file() is each["proved"]
        for name in ("circuit", "evidence")[: 1 + each["proved"]]:
            assert problem(name, json.loads((home / f"{name}.json").read_text())) == ""
        assert each["digest"] in (home / "README.md").read_text()
        for line in (home / "words.jsonl").read_text().splitlines():
            assert problem("workbench-word", json.loads(line)) == ""
        for line in (home / "pairs.jsonl").read_text().splitlines():
            pair = json.loads(line)
            assert problem("interchange", pair) == ""
            assert problem("interchange", {**pair, "value": "1"})
            if each["family"] == "beliefs":
                assert right_changed(found, pair) == 1
                continue
            changed = found.patch(
                pair["base"], pair["variable"], pair["position"], pair["value"]
            )
            assert list(changed.predicted) == pair["answers"]
            assert list(changed.answers) == pair["answers"] or not each["proved"]
        assert (home / "transformer-lens" / "README.md").is_file() is each["proved"]
        assert (home / "transformer-lens" / "model.safetensors").is_file()
    assert (several / "parity" / "gpt2" / "config.json").is_file()
    if "lcs" in names:
        other = told["models"][names.index("lcs")]
        assert other["forms"]["gpt2"].startswith("none: ")


@pytest.mark.slow
def test_all_are_checked_again(made: Path, call: Call) -> None:
    code, said = call("workbench", str(made), "--check", "--words", "20")
    assert (code, said["wrong"]) == (0, 0)
    assert [m["gpt2"] for m in said["models"]] == [*["verified"] * 2, *[None] * 4]
    verdicts = [m["verdict"] for m in said["models"]]
    assert verdicts == [*["verified"] * 5, "not proved"]


Damage = Callable[[Path], object]


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def shorter(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def turned(path: Path) -> None:
    path.write_bytes(
        b"".join(path.read_bytes().splitlines(keepends=True)[::-1]) + b"\n"
    )


def longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b" ")


def a_bit_off(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def a_link(path: Path) -> None:
    path.unlink()
    path.symlink_to(__file__)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES = (Path.unlink, emptied, shorter, turned, longer, a_bit_off, a_link, a_folder)


@pytest.mark.sample(1)
@each(*SMALL)
@pytest.mark.parametrize("damage", DAMAGES)
def test_no_file_may_be_another_one(
    several: Path, tmp_path: Path, damage: Damage, name: str
) -> None:
    """Each file of each network, in each way of damage."""
    copied = shutil.copytree(several / name, tmp_path / "set" / name)
    for path in sorted(p for p in (several / name).rglob("*") if p.is_file()):
        own = path.relative_to(several / name)
        damage(copied / own)
        assert list(differences(copied, several / name)) == [own.as_posix()]
        if (copied / own).is_dir():
            (copied / own).rmdir()
        (copied / own).unlink(missing_ok=True)
        shutil.copyfile(path, copied / own)
    assert differences(copied, several / name) == {}


def test_nothing_may_be_there_beside(few: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(few / "parity", tmp_path / "parity")
    folders = [p for p in sorted(copied.rglob("*")) if p.is_dir()]
    for i, folder in enumerate([copied, *folders]):
        (folder / f"more{i}.txt").write_text("")
    (copied / "onnx").mkdir()
    found = differences(copied, few / "parity")
    assert len(found) == len(folders) + 2
    assert set(found.values()) == {"it is not of the set"}
    shutil.rmtree(copied / "huggingface")
    assert differences(copied, few / "parity")["huggingface"] == "it is missing"


def written_anew(path: Path, change: Callable[[Any], object]) -> None:
    """With JSON that is changed, and written as the workbench writes it."""
    told = json.loads(path.read_text())
    change(told)
    indent = 1 if path.name == "workbench.json" else 2
    text = json.dumps(told, ensure_ascii=False, indent=indent)
    path.write_text(text + "\n", encoding="utf-8")


@each(*SMALL)
def test_a_damaged_network_is_refused_by_the_names_of_its_files(
    several: Path, tmp_path: Path, name: str, call: Call
) -> None:
    """By the command: edges, dimensions, lines, and what the list tells."""
    copied = shutil.copytree(several, tmp_path / "set")
    home, index = copied / name, copied / "workbench.json"
    written_anew(home / "circuit.json", lambda x: x["edges"][0].update(to="read-out"))
    written_anew(home / "circuit.json", lambda x: x["variables"][0].update(dims=[0, 1]))
    emptied(home / "words.jsonl")
    shorter(home / "pairs.jsonl")
    longer(home / "README.md")
    row = SMALL.index(name)
    numbers = ("layers", "heads", "parameters", "variables", "words", "pairs")
    written_anew(
        index, lambda x: x["models"][row].update(dict.fromkeys(numbers, 99), more=1)
    )
    again = ("--check", "--words", "5", "--only", name)
    code, said = call("workbench", str(copied), *again)
    assert (code, said["wrong"]) == (1, 4 + len(numbers) + 1)
    for file in ("circuit.json", "words.jsonl", "pairs.jsonl", "README.md"):
        assert sum(w.startswith(f"{file}: ") for w in said["models"][0]["wrong"]) == 1
    told = " ".join(said["models"][0]["wrong"])
    assert all(f"workbench.json: {n} is 99, and should be " in told for n in numbers)
    assert "workbench.json: it says 'more'" in told
    assert said["models"][0]["verdict"] == (
        "not proved" if name.endswith("trained") else "verified"
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("key", ["seed", "words"])
def test_another_seed_gives_other_words(few: Path, tmp_path: Path, key: str) -> None:
    copied = shutil.copytree(few, tmp_path / "set")
    written_anew(copied / "workbench.json", lambda x: x.update({key: x[key] + 1}))
    (found,) = krohn.workbench.check(copied, ["parity"], words=5)
    assert any(w.startswith("words.jsonl: line ") for w in found.wrong)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            lambda x: shutil.rmtree(x / "flip-flop-trained"),
            "flip-flop-trained: it is missing",
        ),
        (lambda x: (x / "d6").mkdir(), "d6: it is not of the set"),
        (lambda x: (x / "notes.txt").write_text(""), "notes.txt: it is not of the set"),
        (lambda x: emptied(x / "README.md"), "README.md: line 1 is not"),
        (lambda x: longer(x / "workbench.json"), "workbench.json is no list"),
        (lambda x: emptied(x / "workbench.json"), "workbench.json is no list"),
        (
            lambda x: written_anew(x / "workbench.json", lambda y: y["models"].pop()),
            "flip-flop-trained: it is not of the set",
        ),
        (
            lambda x: written_anew(
                x / "workbench.json", lambda y: y["models"].append(y["models"][0])
            ),
            "workbench.json is no list",
        ),
        (
            lambda x: written_anew(x / "workbench.json", lambda y: y.update(more=1)),
            "workbench.json is no list",
        ),
    ],
)
def test_a_set_is_what_its_list_says(
    few: Path, tmp_path: Path, damage: Damage, said: str, call: Call
) -> None:
    copied = shutil.copytree(few, tmp_path / "set")
    damage(copied)
    code, told = call("workbench", str(copied), "--check", "--only", "parity")
    assert code == 2
    assert said in told["error"]


@pytest.mark.slow
def test_a_network_of_another_source_is_refused(made: Path, tmp_path: Path) -> None:
    """A folder that is right in itself, but for what it is called."""
    copied = shutil.copytree(made, tmp_path / "set")
    shutil.rmtree(copied / "parity")
    shutil.copytree(copied / "flip-flop", copied / "parity")
    (found,) = krohn.workbench.check(copied, ["parity"], words=5)
    assert found.verdict == "undecided"
    assert found.wrong[0].startswith("model.safetensors: ")
    assert found.wrong[0].endswith("no other file was looked at")


def test_there_may_be_fewer_words_than_variables(few: Path) -> None:
    model = krohn.load(few / "parity" / "model.safetensors")
    rng = np.random.default_rng(0)
    words, _ = sample_inputs(model, 8, rng)
    pairs = list(interchanges(model, words[:2], rng))
    assert len({pair["variable"] for pair in pairs}) < len(model.places())
    assert all(right_changed(model, pair) == 1 for pair in pairs)


@each("two-noisy-states")
def test_some_networks_are_checked(several: Path, name: str) -> None:
    found = krohn.workbench.check(several, [name], words=5)
    assert [(each.name, each.wrong) for each in found] == [(name, ())]
    with pytest.raises(KrohnError, match=r"no network 'pariti'.*parity"):
        krohn.workbench.check(several, ["pariti"])


@pytest.mark.slow
def test_a_trained_network_is_as_good_as_its_list_says(
    made: Path, tmp_path: Path
) -> None:
    copied = shutil.copytree(made, tmp_path / "set")
    told = json.loads((copied / "workbench.json").read_text())["models"][-1]
    for off, near in ((0.009, True), (0.02, False)):
        accuracy = told["accuracy"] - off
        written_anew(
            copied / "workbench.json",
            lambda x, a=accuracy: x["models"][-1].update(accuracy=a),
        )
        (found,) = krohn.workbench.check(copied, [SMALL[-1]], words=5)
        assert found.verdict == "not proved"
        # The card told of the number that was measured before.
        assert found.wrong[0].startswith("README.md: ") is near
        assert any("accuracy is" in w for w in found.wrong) is not near


def patched(name: str) -> tuple[krohn.CompiledModel, NDArray[np.int64]]:
    entry = next(entry for entry in MODELS if entry.name == name)
    model = making.of_entry(entry, np.random.default_rng(0))
    words, start = sample_inputs(Model(model.file), 200, np.random.default_rng(1))
    return model, words if start is None else words[:, :-1]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "name",
    [
        "parity",
        "d6",
        "q8",
        "flip-flop-language",
        "two-noisy-states",
        "flip-flop-disguised",
        pytest.param("s3-disguised", marks=pytest.mark.slow),
        pytest.param("three-noisy-states", marks=pytest.mark.slow),
        pytest.param("corridor4", marks=pytest.mark.slow),
        pytest.param("dyck2-2", marks=pytest.mark.slow),
        pytest.param("adder", marks=pytest.mark.slow),
        pytest.param("permutations-resets", marks=pytest.mark.slow),
        pytest.param("contains-abb", marks=pytest.mark.slow),
        pytest.param("a-then-b", marks=pytest.mark.slow),
    ],
)
def test_the_edges_of_a_circuit_are_those_that_act(name: str) -> None:
    """Those that it lacks change no answer, and each that it has changes some."""
    model, words = patched(name)
    told = circuits.circuit(model.file)
    effects = edge_effects(model.file, words, words[::-1])
    acting = {edge for edge, share in effects.items() if share > 0}
    assert acting == {(each["from"], each["to"]) for each in told["edges"]}


@each("lcs")
def test_a_circuit_is_a_graph(several: Path, name: str) -> None:
    told = told_of(several, name)
    found = krohn.workbench.graph(told)
    assert list(found.nodes) == circuits.nodes(told)
    edges = [(u, v, x) for u, v, d in found.edges(data=True) for x in d["variables"]]
    true = [(e["from"], e["to"], e["variable"]) for e in told["edges"]]
    assert {(u, v) for u, v, _ in true} <= set(circuits.possible(told))
    assert sorted(edges) == sorted(true)
    written = [x for _, names in found.nodes(data="writes") for x in names]
    assert sorted(written) == sorted(v["variable"] for v in told["variables"])


@pytest.mark.slow
def test_edges_lead_to_later_components_and_tell_of_words() -> None:
    """Not from an MLP to itself, nor along what only the position decides."""
    told = circuits.circuit(patched("sorting")[0].file)
    edges = {(e["from"], e["to"]) for e in told["edges"]}
    assert edges <= set(circuits.possible(told))
    told = circuits.circuit(patched("abab")[0].file)
    names = {v["variable"] for v in told["variables"]}
    silent = {"any-letter.one-hot", "state0.one-hot", "state=4.one-hot"}
    assert silent <= names
    assert not silent & {e["variable"] for e in told["edges"]}


@pytest.mark.slow
def test_listed_beliefs_are_those_of_the_filter(made: Path) -> None:
    home = made / "two-noisy-states"
    model = krohn.load(home / "model.safetensors")
    source = krohn.hidden_markov("RanHMM2,2@1")
    for line in (home / "words.jsonl").read_text().splitlines():
        row = json.loads(line)
        word = [model.letters.index(a) for a in row["word"]]
        assert np.allclose(row["answers"], source.filter([word])[0][0], atol=1e-12)
        assert right(model, row) == 1
        wrong = np.array(row["answers"])
        wrong[-1] += 2.5 * model.header["claim"]["error"]
        assert right(model, {**row, "answers": wrong.tolist()}) < 1


@pytest.mark.slow
def test_training_mends_what_noise_has_spoiled() -> None:
    """After some steps more answers are right than after one."""
    model = krohn.compile("C2", 8, strict=True, keep=True, disguise="rotate,dense")
    program = read_program(Model(model.file))
    words = np.random.default_rng(0).integers(2, size=(200, 8))
    wanted = predict(program, words, {}).answers
    accuracy = []
    for steps in (1, 100):
        file = train_network(
            model.file, program, words, np.random.default_rng(0), steps
        )
        with torch.inference_mode():
            logits = Model(file)(torch.from_numpy(words))
        accuracy.append((logits.argmax(-1).numpy() == wanted).mean())
    assert accuracy[0] < 0.9
    assert accuracy[1] > accuracy[0] + 0.05


# Directions, features and exchanges.


@each("two-noisy-states", "flip-flop-disguised")
def test_the_directions_of_a_circuit_can_be_exchanged(several: Path, name: str) -> None:
    """Its own subspaces overlap with themselves whole, in any basis, and act as told."""
    home, told = several / name, told_of(several, name)
    model, rng = krohn.load(home / "model.safetensors"), np.random.default_rng(0)
    width = model.header["architecture"]["d_model"]
    true = subspaces(told, width)
    turned = {n: rng.normal(size=(len(b), len(b))) @ b for n, b in true.items()}
    assert score_directions(told, turned).overlap == pytest.approx(1)
    pairs = list(lines(home / "pairs.jsonl"))
    told_right = score_interchange(told, model, pairs, turned)
    assert (told_right.exchanges > 0, told_right.accuracy) == (True, 1)
    nothing = score_interchange(told, model, pairs, {})
    assert (nothing.exchanges, nothing.accuracy) == (told_right.exchanges, 0)


VARIABLES = {
    "format": "krohn-circuit",
    "features": {"place": [4, 5]},
    "variables": [
        {"variable": "x", "code": "one-hot", "dims": [0, 3], "domain": [0, 1, 2]},
        {"variable": "n", "code": "integer", "dims": [3, 4], "domain": [0, 1, 7]},
    ],
}


def test_overlaps_of_subspaces() -> None:
    """One-hot values vary in a plane, numbers on a line."""
    axes = np.eye(5)
    plane = np.array([[1.0, -1, 0, 0, 0], [0, 1, -1, 0, 0]])
    assert {n: len(b) for n, b in subspaces(VARIABLES).items()} == {"x": 2, "n": 1}
    found = score_directions(VARIABLES, {"x": plane, "n": 3 * axes[3]})
    assert (found.found, found.overlap) == (2, pytest.approx(1))
    # A line of the plane, and one at 60 degrees to the line.
    tilted = 0.5 * axes[3] + np.sqrt(0.75) * axes[4]
    found = score_directions(VARIABLES, {"x": plane[:1], "n": tilted})
    assert found.each == {"x": pytest.approx(0.5), "n": pytest.approx(0.25)}
    # The plane and a line more; and one that is at right angles to all.
    found = score_directions(VARIABLES, {"x": axes[:3], "n": axes[4]})
    assert found.each == {"x": pytest.approx(2 / 3), "n": pytest.approx(0)}
    assert score_directions(VARIABLES, {"n": axes[3]}).overlap == pytest.approx(0.5)


def test_features_are_found_up_to_sign_and_size() -> None:
    axes = np.eye(5)
    perfect = score_features(VARIABLES, np.array([-2, 1, 5, 0.1])[:, None] * axes[:4])
    assert (perfect.features, perfect.true) == (4, 4)
    assert (perfect.nearest, perfect.recovered, perfect.matching) == (1, 1, 1)
    mixed = score_features(VARIABLES, np.array([axes[0] + axes[1], axes[4]]))
    assert mixed.nearest == pytest.approx(np.sqrt(0.5) / 2)
    assert (mixed.recovered, mixed.matching) == (0, 0)


@each("flip-flop-disguised")
@pytest.mark.parametrize("kind", ["directions", "interchange", "features"])
def test_the_command_scores_directions(
    several: Path, tmp_path: Path, call: Call, kind: str, name: str
) -> None:
    home = several / name
    width = krohn.load(home / "model.safetensors").header["architecture"]["d_model"]
    true = subspaces(told_of(several, name), width)
    if kind == "features":
        true = {"decoder": np.concatenate(list(true.values()))}
    path = tmp_path / "found.safetensors"
    safetensors.numpy.save_file({n: b.copy() for n, b in true.items()}, path)
    code, said = call("score", str(home / "circuit.json"), str(path), "--of", kind)
    assert code == 0
    key = {"directions": "overlap", "interchange": "accuracy", "features": "nearest"}
    assert said[key[kind]] == pytest.approx(1)


@pytest.mark.parametrize(
    ("kind", "tensors", "said"),
    [
        ("directions", {"y": np.eye(5)}, "no variable 'y'"),
        ("directions", {"n": np.ones((1, 3))}, "have 3 numbers"),
        ("directions", {"n": np.array([np.nan] * 5)}, "needs rows of numbers"),
        ("features", {"a": np.eye(5), "b": np.eye(5)}, "needs one tensor"),
        ("direction", {"n": np.eye(5)}, "no kind 'direction' .did you mean directions"),
    ],
)
def test_bad_directions_get_one_line(
    kind: Any, tensors: dict[str, NDArray[np.float64]], said: str, tmp_path: Path
) -> None:
    circuit, found = tmp_path / "circuit.json", tmp_path / "found.safetensors"
    circuit.write_text(json.dumps(VARIABLES))
    safetensors.numpy.save_file(tensors, found)
    with pytest.raises(KrohnError, match=said):
        krohn.workbench.score(circuit, found, kind)
    found.write_text("no tensors")
    with pytest.raises(KrohnError, match=r"no safetensors file|no kind"):
        krohn.workbench.score(circuit, found, kind)


def test_components_compute_what_the_network_computes() -> None:
    model, words = patched("d6")
    network = Components(model.file)
    logits = network.run(words)["read-out"][:, 1:]
    said = Model(model.file).run([[model.machine.letters[a] for a in w] for w in words])
    shown = [
        [model.machine.states[q] for q in row] for row in logits.argmax(-1).tolist()
    ]
    assert shown == said


@pytest.mark.slow
def test_attributions_are_gradients_of_the_loss() -> None:
    """Held against a difference quotient along each edge."""
    model, words = patched("flip-flop-language")
    words, others = words[:8, :6], words[8:16, :6]
    network = Components(model.file)
    clean, other = network.run(words), network.run(others)
    wanted = clean["read-out"][:, 1:].argmax(dim=-1)

    def loss(edge: tuple[str, str], share: float) -> float:
        change = {edge: share * (other[edge[0]] - clean[edge[0]])}
        logits = network.run(words, change)["read-out"][:, 1:]
        chosen = logits.log_softmax(-1).gather(-1, wanted[..., None])
        return -chosen.mean().item()

    for edge, slope in edge_attributions(model.file, words, others).items():
        quotient = (loss(edge, 1e-6) - loss(edge, -1e-6)) / 2e-6
        assert abs(quotient) == pytest.approx(slope, rel=1e-3, abs=1e-7)


def test_the_readme_counts_the_networks() -> None:
    text = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    assert f"{len(MODELS)} networks" in text
    assert len({entry.name for entry in MODELS}) == len(MODELS)


@pytest.mark.slow
def test_the_slices_of_all_sources_are_used() -> None:
    """Else they could be deleted, and the set could no longer be made."""
    found = set[str]()
    for entry in MODELS:
        each = (type(part).__module__.split(".") for part in with_kind(entry.source))
        found |= {".".join(module[1:3]) for module in each if module[1] == "kinds"}
    for package, one in slices().items():
        begins = [each.begins for each in one.families.values()]
        if any(re.match(text, x.source) for text in begins for x in MODELS):
            found.add(package.removeprefix("krohn."))
    assert {"kinds.counting", "kinds.grammars"} <= found
    assert found <= used("instruments.workbench")


def test_variables_are_kept(call: Call, tmp_path: Path) -> None:
    """Each can be read in the last snapshot, and none shares dimensions with another."""
    path = tmp_path / "d6.safetensors"
    code, _ = call("compile", "D6", "-T", "20", "--strict", "--keep", "-o", str(path))
    assert code == 0
    model = krohn.load(path)
    places = model.places().values()
    last = max(place.snapshots[1] for place in places)
    assert {place.snapshots[1] for place in places} == {last}
    taken = [d for place in places for d in range(*place.dims)]
    assert len(taken) == len(set(taken))
    assert krohn.verify(path).verdict == "verified"
    usual = krohn.compile("D6", 20, strict=True).file.header["architecture"]["d_model"]
    assert usual < model.header["architecture"]["d_model"]


CIRCUIT = {
    "format": "krohn-circuit",
    "blocks": [{"layer": 0, "heads": 2, "mlp": [3]}],
    "edges": [
        {"from": "embedding", "to": "blocks.0.attn.1", "variable": "x"},
        {"from": "blocks.0.attn.1", "to": "read-out", "variable": "y"},
    ],
}


def test_scores_of_edges() -> None:
    """All edges of two heads, an MLP and the ends: 9 are possible."""
    true = [("embedding", "blocks.0.attn.1"), ("blocks.0.attn.1", "read-out")]
    perfect = score_edges(CIRCUIT, true)
    assert (perfect.precision, perfect.recall, perfect.f1, perfect.auc) == (
        1,
        1,
        1,
        None,
    )
    assert (perfect.found, perfect.true, perfect.possible) == (2, 2, 9)
    half = score_edges(CIRCUIT, {true[0]: 2.0, ("embedding", "read-out"): 1.0})
    assert (half.precision, half.recall) == (0.5, 0.5)
    # Above the 7 others once, and once below one of them, level with 6.
    assert half.auc == pytest.approx((7 + 6 / 2) / 14)
    none = score_edges(CIRCUIT, [])
    assert (none.precision, none.recall, none.f1) == (1, 0, 0)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("a,b\n1,2\n", "needs columns from and to"),
        ("from,to,score\nembedding,read-out,much\n", "a score that is no number"),
        ("from,to\nblocks.0.attn.0,blocks.0.attn.1\n", "is no possible edge"),
        ("", "needs columns from and to"),
    ],
)
def test_bad_tables_get_one_line(table: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "found.csv"
    path.write_text(table)
    with pytest.raises(KrohnError, match=said):
        score_edges(CIRCUIT, path)


def test_the_command_scores(tmp_path: Path, call: Call) -> None:
    circuit, found = tmp_path / "circuit.json", tmp_path / "found.csv"
    circuit.write_text(json.dumps(CIRCUIT))
    found.write_text("from,to\nembedding,blocks.0.attn.1\n")
    code, told = call("score", str(circuit), str(found))
    assert (code, told["precision"], told["recall"]) == (0, 1.0, 0.5)
    circuit.write_text("{}")
    code, told = call("score", str(circuit), str(found))
    assert code == 2


def test_bad_sets_get_one_line(tmp_path: Path) -> None:
    with pytest.raises(KrohnError, match=r"no network 'parityy'.*parity"):
        krohn.workbench.make(tmp_path / "x", ["parityy"])
    assert not (tmp_path / "x").exists()
    (tmp_path / "workbench.json").write_text("{}")
    with pytest.raises(KrohnError, match="no list of a workbench"):
        krohn.workbench.check(tmp_path)
    file = krohn.compile("C2", 4).file
    words = np.zeros((1, 4), np.int64)
    with pytest.raises(KrohnError, match="plain blocks"):
        edge_effects(file, words, words)
