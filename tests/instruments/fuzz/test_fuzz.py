"""Networks in many ways: proved ones answer alike, and differences of others are real."""

import json
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
import schemas
import torch
from optional_packages import skip_without
from slices_here import needs

import krohn
from krohn import cli
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.instruments.fuzz.campaign import choose, fuzz
from krohn.instruments.fuzz.ways import ORDERS, TORCH, WHOLE, engines, open_ways
from krohn.machines import read
from krohn.network.modelfile import ModelFile, pack
from krohn.network.precision import PRECISIONS
from krohn.program.architectures.transformer import Transformer

skip_without("onnxruntime", "transformer_lens", "transformers")


def near_ties() -> ModelFile:
    """A random network in bfloat16, whose classes are often as likely as each other."""
    machine, rng = read("Grid4"), np.random.default_rng(0)
    shape = {
        "kind": "transformer",
        "dtype": "bfloat16",
        "strict": True,
        "d_model": 16,
        "vocabulary": len(machine.letters) + 1,
        "positions": 17,
        "outputs": len(machine.states),
        "blocks": [{"heads": 2, "d_qk": 8, "d_v": 8, "mlp": [32]}],
    }
    tensors = {
        name: torch.from_numpy(rng.normal(size=size)).bfloat16().double().numpy()
        for name, size in Transformer.of(shape).shapes.items()
    }
    # Two classes are told apart by the last bits of their weights.
    weight = tensors["unembed.weight"]
    weight[:, 1] = weight[:, 0] * (1 + rng.choice([-1, 1], size=len(weight)) / 128)
    weight[:, 1] = torch.from_numpy(weight[:, 1]).bfloat16().double().numpy()
    claim = {"start": machine.states[machine.start], "dtype": "bfloat16", "length": 16}
    header = {
        "architecture": shape,
        "machine": json_format.to_object(machine),
        "claim": claim,
    }
    return ModelFile(header, tensors, PRECISIONS["bfloat16"])


def test_answers_of_a_proved_network_are_those_of_every_engine() -> None:
    found = fuzz(krohn.compile("C3", 12, strict=True), 20_000)
    assert found.has_passed
    assert found.wrong == 0
    assert {engine for engine, _ in found.answers} == set(engines())
    assert 20_000 <= sum(found.answers.values()) < 21_000
    assert found.orders > 0
    # Each way that was not left out gave answers.
    assert all(found.answers.values())
    assert all("attention" in name for name in found.left_out)


@pytest.mark.slow
def test_what_cannot_hold_a_network_is_named() -> None:
    found = fuzz(krohn.compile("C2", 8, dtype="bfloat16"), 500)
    assert found.has_passed
    assert {"numpy", "onnx", "transformer-lens"} <= found.left_out.keys()
    assert "strict=True" in found.left_out["transformer-lens"]


@needs("architectures.recurrent")
def test_recurrent_networks_are_run_without_orders_of_a_stream() -> None:
    found = fuzz(krohn.compile("S3", arch="rnn"), 2_000, engine=["torch", "onnx"])
    assert found.has_passed
    assert found.length == 64
    assert found.orders == 0
    assert {engine for engine, _ in found.answers} == {"torch", "onnx"}


@pytest.mark.slow
def test_the_same_seed_gives_the_same_differences() -> None:
    file = near_ties()
    one, again, other = (
        fuzz(file, 20_000, engine=[TORCH], seed=seed) for seed in (1, 1, 2)
    )
    assert one == again
    assert one.differences != other.differences
    assert not one.has_passed
    assert sum(one.different.values()) >= len(one.differences) > 0


def test_a_difference_is_there_when_its_word_is_run_again() -> None:
    file, machine = near_ties(), read("Grid4")
    found = fuzz(file, 20_000, engine=[TORCH])
    names = (*machine.states, "(tied)", "(not finite)")
    by_chance = (ORDERS, "the worst arithmetic")
    others = [each for each in found.differences if each.way not in by_chance]
    assert others
    with ExitStack() as until, torch.inference_mode():
        ways = {way.name: way for way in open_ways(file, TORCH, 16, until)}
        for each in others:
            word = torch.tensor([machine.encode(each.word).tolist()])
            for name, answer in ((WHOLE, each.reference), (each.way, each.answer)):
                logits = ways[name].run(word, np.random.default_rng(0))
                assert names[choose(logits)[0, -1]] == answer


def test_permuted_networks_compute_the_same_in_another_order() -> None:
    model = krohn.compile("S3", 8, strict=True, dtype="float64")
    words = torch.from_numpy(np.random.default_rng(0).integers(2, size=(50, 8)))
    for engine in ("torch", "numpy"):
        with ExitStack() as until, torch.inference_mode():
            ways = {w.name: w for w in open_ways(model.file, engine, 8, until)}
            both = [
                ways[n].run(words, np.random.default_rng(3)) for n in (WHOLE, ORDERS)
            ]
        assert not torch.equal(*both)
        assert torch.allclose(*both, rtol=1e-9, atol=1e-9)


def test_ties_and_numbers_that_are_not_finite_are_no_classes() -> None:
    logits = torch.tensor(
        [[0.0, 1, 0], [1, 1, 0], [0, torch.nan, 0], [torch.inf, 0, 0]]
    )
    assert choose(logits[None])[0].tolist() == [1, 3, 4, 4]
    assert choose(logits[None, :2])[0].tolist() == [1, 3]


@pytest.mark.sample(1)
@pytest.mark.parametrize("as_json", [True, False])
def test_the_command_says_which_answers_differ(
    as_json: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proved, random = str(tmp_path / "a.safetensors"), str(tmp_path / "b.safetensors")
    krohn.compile("C2", 8).save(proved)
    file = near_ties()
    Path(random).write_bytes(pack(file.header, file.tensors))
    flags = ["--engine", "torch", "--answers", "20000", *["--json"] * as_json]
    assert cli.run(["fuzz", proved, *flags]) == 0
    same = capsys.readouterr().out
    assert cli.run(["fuzz", random, *flags]) == 1
    other = capsys.readouterr().out
    if as_json:
        assert json.loads(schemas.hold(same))["different"] == 0
        assert json.loads(schemas.hold(other))["different"] > 0
    else:
        assert same.endswith("No answer differs.\n")
        assert "torch, attention: math: " in other
        assert "are not the machine's" in other


def test_wrong_answers_that_do_not_differ_are_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = krohn.compile("C2", 8).file
    file.tensors["unembed.weight"][...] = file.tensors["unembed.weight"][:, ::-1]
    path = tmp_path / "wrong.safetensors"
    path.write_bytes(pack(file.header, file.tensors))
    flags = ["--engine", "torch", "--answers", "1000"]
    assert cli.run(["fuzz", str(path), *flags]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("No answer differs from way to way, but ")
    assert "answers of torch are not the machine's" in last


@needs("kinds.linear_systems")
def test_networks_of_numbers_are_refused() -> None:
    with pytest.raises(KrohnError, match="networks that say states or outputs"):
        fuzz(krohn.compile("RanLDS2@1", arch="rnn"))


@pytest.mark.slow
def test_an_engine_that_is_asked_for_is_not_left_out_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    model = krohn.compile("C2", 8)
    with pytest.raises(KrohnError, match=r"needs onnxruntime: pip install"):
        fuzz(model, 100, engine=["onnx"])
    assert "onnxruntime" in fuzz(model, 100).left_out["onnx"]


def test_engines_and_files_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(KrohnError, match="engine= takes torch, numpy"):
        fuzz(tmp_path / "none.safetensors", engine=["jax"])
    with pytest.raises(KrohnError, match="takes a model file, not 3"):
        fuzz(3)
