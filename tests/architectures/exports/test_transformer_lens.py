"""TransformerLens reads a network that was written for it, and names its variables."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from foreign import flip_flop
from random_networks import named
from safetensors.numpy import load_file, save_file

import krohn
from krohn.architectures.exports.export_transformer_lens import (
    bridge,
    open_logits,
    read,
    write,
)
from krohn.network import ExportError
from krohn.network.meaning.net import Net
from krohn.network.meaning.rewrites import widen
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program.interpreter import interpret
from krohn.program.statement import parse

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def turnstile() -> ModelFile:
    """Four layers, of which two have no heads; the others have 5 and 1."""
    return krohn.compile(ROOT / "examples/turnstile.dot", length=12, strict=True).file


@pytest.fixture(scope="module")
def exported(turnstile: ModelFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("bridge")
    write(turnstile, directory, states=True)
    return directory


def words(file: ModelFile, count: int = 50) -> torch.Tensor:
    shape, rng = file.header["architecture"], np.random.default_rng(0)
    size = count, shape["positions"] - 1
    return torch.from_numpy(rng.integers(shape["vocabulary"] - 1, size=size))


def both(file: ModelFile, at: Path) -> tuple[torch.Tensor, torch.Tensor]:
    tokens = words(file)
    with torch.inference_mode():
        return Model(file)(tokens), open_logits(at)(tokens)


def test_logits_are_the_same(turnstile: ModelFile, exported: Path) -> None:
    ours, theirs = both(turnstile, exported)
    assert torch.equal(ours, theirs)


def check_read(file: ModelFile, directory: Path, *sizes: int) -> None:
    """What is read back is the network of a file, widened."""
    found = read(file, directory)
    wide = widen(Net.of(file.architecture, file.tensors), *sizes)
    meant = named(wide, found.file.architecture)
    assert found.file.tensors.keys() == meant.keys()
    for name, tensor in meant.items():
        np.testing.assert_array_equal(found.file.tensors[name], tensor)
    assert found.gain**2 == sizes[1]
    assert found.file.claim.digest == file.claim.digest


def test_what_is_read_back_is_the_wide_network(
    turnstile: ModelFile, exported: Path
) -> None:
    units = max(block.mlp[0] for block in turnstile.architecture.blocks)
    check_read(turnstile, exported, 5, 16, units)


@pytest.mark.slow
def test_units_may_all_be_gelus(tmp_path: Path) -> None:
    file = krohn.compile("S3", length=12, strict=True, activation="gelu").file
    write(file, tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["act_fn"] == "gelu"
    ours, theirs = both(file, tmp_path)
    assert torch.equal(ours, theirs)


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "float16"])
def test_they_are_so_in_every_format(dtype: str, tmp_path: Path) -> None:
    file = krohn.compile("FlipFlop", length=12, strict=True, dtype=dtype).file
    write(file, tmp_path)
    ours, theirs = both(file, tmp_path)
    assert ours.dtype == theirs.dtype
    assert torch.equal(ours, theirs)
    check_read(file, tmp_path, 1, 1, 1)


def test_a_head_of_two_widths_and_a_bias_of_the_read_out(tmp_path: Path) -> None:
    """d_qk = 3 and d_v = 1 of the hand-made head; its logits are a weight beside ±1/2."""
    file = flip_flop(10, 1.5)
    assert file.tensors["unembed.bias"].any()
    write(file, tmp_path)
    ours, theirs = both(file, tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["d_head"] == 4
    assert torch.allclose(ours, theirs, rtol=0, atol=1e-14)
    assert not (tmp_path / "circuit.json").exists()  # it has no Program


def test_variables_are_where_the_table_says(
    turnstile: ModelFile, exported: Path
) -> None:
    """Each is read from the cache, first and last where it can be, at each position."""
    table = json.loads((exported / "circuit.json").read_text())
    shape = turnstile.header["architecture"]
    tokens = words(turnstile)
    bos = tokens.new_full((len(tokens), 1), shape["vocabulary"] - 1)
    _, cache = bridge(exported).run_with_cache(torch.cat([bos, tokens], dim=1))
    program = parse(turnstile.header["program"], 3, shape["positions"] - 1)
    meant = interpret(program, tokens.numpy())
    assert len(table["variables"]) == 15
    for variable in table["variables"]:
        for hook in (variable["hook"], variable["until"]):
            seen = cache[hook][:, :, slice(*variable["dims"])]
            one_hot = variable["code"] == "one-hot"
            value = seen.argmax(dim=-1) if one_hot else seen[..., 0].round().long()
            np.testing.assert_array_equal(value, meant[variable["variable"]])


def test_a_variable_is_lost_without_its_component(exported: Path) -> None:
    """Ablation: what a head or a unit of the table is for needs it."""
    table = json.loads((exported / "circuit.json").read_text())
    made = bridge(exported)
    tokens = torch.tensor([[3, 0, 2, 1, 0, 2, 1, 1, 2, 0, 0]])
    _, cache = made.run_with_cache(tokens)
    written = [v for v in table["variables"] if v["component"] != "embedding"]
    assert {v["component"] for v in written} == {"attention", "mlp"}
    for variable in written:

        def ablated(x: torch.Tensor, hook: object, v: dict = variable) -> torch.Tensor:
            x[:, :, v["index"]] = 0.0
            return x

        with made.hooks([(variable["node"], ablated)]):
            _, without = made.run_with_cache(tokens)
        dims = slice(*variable["dims"])
        at = variable["hook"]
        assert not torch.allclose(cache[at][..., dims], without[at][..., dims])


def test_the_circuit_leads_from_the_letters_to_the_read_out(exported: Path) -> None:
    table = json.loads((exported / "circuit.json").read_text())
    reached = {"embedding"}
    for _ in table["edges"]:
        reached |= {e["to"] for e in table["edges"] if e["from"] in reached}
    assert "read-out" in reached
    assert {e["from"] for e in table["edges"]} <= reached
    heads = {n for n in reached if ".attn." in n}
    assert heads == {f"blocks.0.attn.{h}" for h in range(5)} | {"blocks.2.attn.0"}
    with open(exported / "circuit.csv", encoding="utf-8") as rows:
        named = [row["variable"] for row in csv.DictReader(rows)]
    assert named == [v["variable"] for v in table["variables"]]


Damage = Callable[[dict[str, Any], dict[str, np.ndarray]], None]


def key_that_nobody_knows(
    config: dict[str, Any], tensors: dict[str, np.ndarray]
) -> None:
    config["attn_scores_soft_cap"] = 50.0


def key_that_is_not_there(
    config: dict[str, Any], tensors: dict[str, np.ndarray]
) -> None:
    del config["normalization_type"]


def other_direction(config: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    config["attention_dir"] = "bidirectional"


def head_of_another_width(
    config: dict[str, Any], tensors: dict[str, np.ndarray]
) -> None:
    config["d_head"] = 9


def size_that_is_no_number(
    config: dict[str, Any], tensors: dict[str, np.ndarray]
) -> None:
    config["n_layers"] = 4.0


def size_that_no_number_holds(
    config: dict[str, Any], tensors: dict[str, np.ndarray]
) -> None:
    config["d_head"] = 4**600


def other_format(config: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    config["dtype"] = "bfloat16"


def bias_of_a_head(config: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    tensors["blocks.2.attn.v.bias"][-1] = 2.0**-40


def tensor_that_nobody_knows(
    config: dict[str, Any], tensors: dict[str, np.ndarray]
) -> None:
    tensors["blocks.2.attn.q_norm.weight"] = np.ones(16, np.float32)


def tensor_that_is_not_there(
    config: dict[str, Any], tensors: dict[str, np.ndarray]
) -> None:
    del tensors["pos_embed.weight"]


def number_that_is_none(config: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    tensors["embed.weight"][0, 0] = np.nan


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (key_that_nobody_knows, "no or another attn_scores_soft_cap"),
        (key_that_is_not_there, "no or another normalization_type"),
        (other_direction, "of another model"),
        (head_of_another_width, "no power of 2"),
        (size_that_is_no_number, "no whole number"),
        (size_that_no_number_holds, "too large"),
        (other_format, "stored as F32"),
        (bias_of_a_head, r"'blocks\.2\.attn\.v\.bias' is of no such network"),
        (tensor_that_nobody_knows, "no or another tensor .*q_norm"),
        (tensor_that_is_not_there, "no or another tensor pos_embed"),
        (number_that_is_none, "not finite"),
    ],
)
def test_what_is_in_no_network_of_krohn_is_refused(
    damage: Damage, reason: str, turnstile: ModelFile, exported: Path, tmp_path: Path
) -> None:
    shutil.copytree(exported, tmp_path, dirs_exist_ok=True)
    config = json.loads((tmp_path / "config.json").read_text())
    tensors = load_file(tmp_path / "model.safetensors")
    damage(config, tensors)
    (tmp_path / "config.json").write_text(json.dumps(config))
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(ExportError, match=f"cannot be read back: .*{reason}"):
        read(turnstile, tmp_path)


def test_a_query_that_is_lost_where_it_is_divided_is_refused(tmp_path: Path) -> None:
    options = {"length": 12, "strict": True, "dtype": "float64", "proof": False}
    file = krohn.compile(ROOT / "examples/turnstile.dot", **options).file
    write(file, tmp_path, states=True)
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["blocks.0.attn.q.weight"][-1, -1] = 2.0**-1074
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(ExportError, match="too small to be divided"):
        read(file, tmp_path)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "options", "reason"),
    [
        ("S4", {}, "compile it again with strict=True"),
        ("C2", {"activation": "sine"}, "compile it again with strict=True"),
        (
            "LCS2,2",
            {"attention": "sparse", "strict": True},
            "not about 'sparse'; export to",
        ),
        ("C2", {"arch": "rnn"}, "this is RNN"),
    ],
)
def test_what_it_lacks_is_refused(
    source: str, options: dict, reason: str, tmp_path: Path
) -> None:
    length = None if source.startswith("LCS") or "arch" in options else 12
    file = krohn.compile(source, length=length, **options).file
    with pytest.raises(ExportError, match=reason):
        write(file, tmp_path)


@pytest.mark.parametrize("text", ["[]", "null", '"x"', "3", "{"])
def test_a_configuration_that_is_no_object_is_refused(
    text: str, turnstile: ModelFile, exported: Path, tmp_path: Path
) -> None:
    shutil.copytree(exported, tmp_path, dirs_exist_ok=True)
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ExportError, match="cannot be read back"):
        read(turnstile, tmp_path)


def test_another_claim_beside_the_tensors_is_seen(
    turnstile: ModelFile, exported: Path, tmp_path: Path
) -> None:
    shutil.copytree(exported, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "names.json"
    said = json.loads(path.read_text())
    said["claim"]["length"] += 1
    path.write_text(json.dumps(said))
    with pytest.raises(ExportError, match="beside the tensors is not what the file"):
        read(turnstile, tmp_path)


@pytest.mark.parametrize("name", ["letters", "classes", "states", "digest", "another"])
def test_names_that_are_not_those_of_the_file_are_seen(
    name: str, turnstile: ModelFile, exported: Path, tmp_path: Path
) -> None:
    shutil.copytree(exported, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "names.json"
    said = json.loads(path.read_text())
    path.write_text(json.dumps({**said, name: said.get(name, ["x"])[::-1]}))
    with pytest.raises(ExportError, match="beside the tensors is not what the file"):
        read(turnstile, tmp_path)
