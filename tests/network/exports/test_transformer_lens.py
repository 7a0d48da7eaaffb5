"""TransformerLens reads a network that was written for it, and names its variables."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from foreign import flip_flop

import krohn
from krohn.network import ExportError
from krohn.network.exports import StoredNetwork
from krohn.network.exports.transformer_lens import bridge, open_logits, read, write
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program.interpreter import interpret
from krohn.program.statement import parse

pytest.importorskip("transformer_lens")
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
    assert read(turnstile, exported) == StoredNetwork(turnstile, 4.0)


def test_units_may_all_be_gelus(tmp_path: Path) -> None:
    file = krohn.compile("S3", length=12, strict=True, activation="gelu").file
    write(file, tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["act_fn"] == "gelu"
    ours, theirs = both(file, tmp_path)
    assert torch.equal(ours, theirs)


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "float16"])
def test_they_are_so_in_every_format(dtype: str, tmp_path: Path) -> None:
    file = krohn.compile("FlipFlop", length=12, strict=True, dtype=dtype).file
    write(file, tmp_path)
    ours, theirs = both(file, tmp_path)
    assert ours.dtype == theirs.dtype
    assert torch.equal(ours, theirs)
    assert read(file, tmp_path).file == file


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


def test_one_number_that_is_not_as_in_the_file_is_seen(
    turnstile: ModelFile, tmp_path: Path
) -> None:
    damaged = {n: t.copy() for n, t in turnstile.tensors.items()}
    damaged["blocks.2.attention.out"].flat[-1] += 2.0**-12
    write(replace(turnstile, tensors=damaged), tmp_path, states=True)
    with pytest.raises(ExportError, match=r"blocks\.2\.attn\.o\.weight"):
        read(turnstile, tmp_path)


@pytest.mark.sample(2)
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


def test_names_that_are_not_those_of_the_file_are_seen(
    turnstile: ModelFile, tmp_path: Path
) -> None:
    write(turnstile, tmp_path, states=True)
    path = tmp_path / "names.json"
    said = json.loads(path.read_text())
    path.write_text(json.dumps({**said, "letters": said["letters"][::-1]}))
    with pytest.raises(ExportError, match="beside the tensors is not what the file"):
        read(turnstile, tmp_path)
