"""The workbench: its sets are right, damage is found, circuits are the edges that act."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from numpy.typing import NDArray
from schemas import problem

import krohn
from krohn.algebra.errors import KrohnError
from krohn.network.exports import circuit as circuits
from krohn.open_model import Model
from krohn.workbench import edge_attributions, edge_effects, score_edges
from krohn.workbench.edge_patching import Components
from krohn.workbench.making import drawn
from krohn.workbench.models import MODELS

Call = Callable[..., tuple[int, Any]]
SMALL = ("parity", "flip-flop", "lcs")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("workbench") / "set"
    krohn.workbench.make(home, SMALL, words=12)
    return home


def test_a_set_has_proofs_circuits_words_and_forms(made: Path) -> None:
    told = json.loads((made / "workbench.json").read_text())
    assert [each["name"] for each in told["models"]] == list(SMALL)
    assert problem("workbench-index", told) == ""
    assert problem("workbench-index", {**told, "version": 2})
    for each in told["models"]:
        home = made / each["name"]
        found = krohn.load(home / "model.safetensors")
        assert krohn.verify(home / "model.safetensors").digest == each["digest"]
        for name in ("circuit", "evidence"):
            assert problem(name, json.loads((home / f"{name}.json").read_text())) == ""
        for line in (home / "words.jsonl").read_text().splitlines():
            assert problem("workbench-word", json.loads(line)) == ""
        for line in (home / "pairs.jsonl").read_text().splitlines():
            pair = json.loads(line)
            assert problem("interchange", pair) == ""
            assert problem("interchange", {**pair, "value": "1"})
            changed = found.patch(
                pair["base"], pair["variable"], pair["position"], pair["value"]
            )
            assert list(changed.answers) == list(changed.predicted) == pair["answers"]
        assert (home / "transformer-lens" / "README.md").is_file()
    assert (made / "parity" / "gpt2" / "config.json").is_file()
    assert told["models"][2]["forms"]["gpt2"].startswith("none: ")


def test_it_is_checked_again_and_damage_is_found(made: Path, call: Call) -> None:
    code, said = call("workbench", str(made), "--check", "--words", "20")
    assert (code, said["wrong"]) == (0, 0)
    assert [m["gpt2"] for m in said["models"]] == ["verified", "verified", None]
    words = made / "parity" / "words.jsonl"
    before = words.read_text()
    first, *rest = before.splitlines()
    row = json.loads(first)
    row["answers"][-1] = "1" if row["answers"][-1] == "0" else "0"
    words.write_text("\n".join([json.dumps(row), '{"word": 3}', *rest, ""]))
    code, said = call("workbench", str(made), "--check", "--words", "20")
    words.write_text(before)
    assert (code, said["wrong"]) == (1, 2)
    wrong = ["words.jsonl: line 1", "words.jsonl: line 2"]
    assert said["models"][0]["wrong"] == wrong


def test_a_form_with_another_tensor_is_found(made: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(made, tmp_path / "set")
    stored = copied / "flip-flop" / "huggingface" / "model.safetensors"
    tensors = safetensors.numpy.load_file(stored)
    name = next(iter(tensors))
    tensors[name] = tensors[name] + np.float32(2**-20)
    safetensors.numpy.save_file(tensors, stored, {"format": "pt"})
    shutil.rmtree(copied / "parity" / "transformer-lens")
    (copied / "parity" / "transformer-lens").mkdir()
    found = krohn.workbench.check(copied, words=5)
    assert "was not written as it is" in found[1].wrong[0]
    assert found[0].wrong[0].startswith("transformer-lens: ")


@pytest.mark.parametrize(
    ("form", "name", "changed"),
    [
        ("huggingface", "config.json", lambda said: said["letters"].reverse()),
        (
            "huggingface",
            "config.json",
            lambda said: said["id2label"].update({"0": "1"}),
        ),
        (
            "huggingface",
            "config.json",
            lambda said: said["architecture"]["blocks"][0].update(causal=[True]),
        ),
        ("transformer-lens", "config.json", lambda said: said.update(act_fn="gelu")),
        ("transformer-lens", "names.json", lambda said: said["classes"].reverse()),
    ],
)
def test_a_form_that_is_said_to_be_another_network_is_found(
    made: Path, tmp_path: Path, form: str, name: str, changed: Any
) -> None:
    copied = shutil.copytree(made, tmp_path / "set")
    place = copied / "parity" / form / name
    said = json.loads(place.read_text())
    changed(said)
    place.write_text(json.dumps(said))
    found = krohn.workbench.check(copied, words=5)
    assert any(wrong.startswith(f"{form}: ") for wrong in found[0].wrong)


def patched(name: str) -> tuple[krohn.CompiledModel, NDArray[np.int64]]:
    entry = next(entry for entry in MODELS if entry.name == name)
    model = krohn.compile(entry.source, entry.length, strict=True, keep=True)
    words, start = drawn(Model(model.file), 200, np.random.default_rng(1))
    return model, words if start is None else words[:, :-1]


@pytest.mark.parametrize(
    "name",
    [
        "parity",
        "d6",
        "q8",
        "flip-flop-language",
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


def test_components_compute_what_the_network_computes() -> None:
    model, words = patched("d6")
    network = Components(model.file)
    logits = network.run(words)["read-out"][:, 1:]
    said = Model(model.file).run([[model.machine.letters[a] for a in w] for w in words])
    shown = [
        [model.machine.states[q] for q in row] for row in logits.argmax(-1).tolist()
    ]
    assert shown == said


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


@pytest.mark.parametrize("page", ["README.md", "docs/commands.md"])
def test_documents_count_the_networks(page: str) -> None:
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    assert f"{len(MODELS)} networks" in text
    assert len({entry.name for entry in MODELS}) == len(MODELS)


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
