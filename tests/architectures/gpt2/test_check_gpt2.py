"""What the checker says of networks that were written as GPT-2s."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

import krohn
from krohn.architectures.gpt2.check import (
    Files,
    read,
)
from krohn.architectures.gpt2.export import write
from krohn.network.modelfile import ModelFile
from krohn.program.errors import Refused
from krohn.verify.checker.established import Established
from krohn.verify.search.find import search

Tensors = dict[str, np.ndarray]


def files(directory: Path) -> Files:
    names = ("config.json", "model.safetensors")
    return Files(*((directory / name).read_bytes() for name in names))


def shown(found: Files) -> Established:
    with np.errstate(all="ignore"):
        return search(read(found), None)[1]


def tensors(found: Files, change: Callable[[Tensors], None]) -> Files:
    """With other tensors."""
    given = {name: tensor.copy() for name, tensor in load(found.weights).items()}
    change(given)
    return found._replace(weights=save(given, {"format": "pt"}))


def config(found: Files, **changes: Any) -> Files:
    told = json.loads(found.config) | changes
    return found._replace(config=json.dumps(told).encode())


@pytest.fixture(scope="module")
def file() -> ModelFile:
    return krohn.compile("C3", length=32, strict=True).file


@pytest.fixture(scope="module")
def good(file: ModelFile, tmp_path_factory: pytest.TempPathFactory) -> Files:
    directory = tmp_path_factory.mktemp("good")
    write(file, directory)
    return files(directory)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "activation"),
    [
        ("FlipFlop", "relu"),
        ("FlipFlop", "gelu"),
        ("C2", "gelu"),
        ("D6", "gelu_new"),
        ("A5", "relu"),
        ("Adder", "gelu_new"),
        ("Grid4", "gelu_new"),
    ],
)
def test_networks_are_proved(name: str, activation: Any, tmp_path: Path) -> None:
    write(
        krohn.compile(name, length=32, strict=True).file,
        tmp_path,
        activation=activation,
    )
    found = shown(files(tmp_path))
    assert found.margin > 0.5
    assert found.program.length == 32


def test_the_tensors_of_the_file_are_there(file: ModelFile, good: Files) -> None:
    """Powers of two divided out, bit by bit."""
    model, gain = read(good), 16.0
    for name, tensor in file.tensors.items():
        found = model.tensors[name]
        if ".mlp." in name and name != "blocks.0.mlp.1.bias":
            found = found * gain if ".mlp.1." in name else found / gain
        elif name.startswith("unembed"):
            found = found[..., : tensor.shape[-1]]
        assert np.array_equal(found, tensor)


def scaled(factor: float) -> Callable[[Tensors], None]:
    """K another one, and the LayerNorms with it."""

    def change(given: Tensors) -> None:
        rows = given["transformer.wpe.weight"]
        rows[:, -4:] *= factor
        for name, tensor in given.items():
            if ".ln_" in name and name.endswith("weight"):
                tensor *= factor

    return change


@pytest.mark.parametrize("factor", [2.0**-14, 2.0**14])
def test_pairs_must_be_neither_small_nor_large(good: Files, factor: float) -> None:
    with pytest.raises(Refused):
        shown(tensors(good, scaled(factor)))


def less_gain(given: Tensors) -> None:
    given["transformer.h.0.mlp.c_fc.weight"] /= 16
    given["transformer.h.0.mlp.c_fc.bias"] /= 16
    given["transformer.h.0.mlp.c_proj.weight"] *= 16


def no_ground(given: Tensors) -> None:
    for name in ("attn.c_attn", "mlp.c_fc"):
        given[f"transformer.h.0.{name}.weight"][10] = 0
    given["lm_head.weight"][:, 10] = 0


def no_mirror(given: Tensors) -> None:
    for name in ("wte", "wpe", "h.0.attn.c_proj", "h.0.mlp.c_proj"):
        given[f"transformer.{name}.weight"][:, 5:10] = 0
    given["transformer.h.0.mlp.c_proj.bias"][5:10] = 0


@pytest.mark.sample(1)
@pytest.mark.parametrize("change", [less_gain, no_ground, no_mirror])
def test_parts_of_the_construction_are_needed(
    good: Files, change: Callable[[Tensors], None]
) -> None:
    with pytest.raises(Refused):
        shown(tensors(good, change))


@pytest.mark.parametrize(
    "changes",
    [
        {"activation_function": "silu"},
        {"scale_attn_weights": False},
        {"scale_attn_by_inverse_layer_idx": True},
        {"layer_norm_epsilon": 1e3},
        {"n_head": 2},
        {"tie_word_embeddings": True},
        {"quantization_config": {}},
        {"dtype": "float64"},
        {"add_cross_attention": 0},
        {"attn_pdrop": 5.0},
        {"embd_pdrop": -1},
        {"resid_pdrop": "0.1"},
        {"resid_pdrop": True},
        {"initializer_range": None},
        {"use_cache": 0},
        {"summary_type": 3},
    ],
)
def test_configurations_that_no_rule_is_about(
    good: Files, changes: dict[str, Any]
) -> None:
    with pytest.raises(Refused):
        shown(config(good, **changes))


def test_every_state_needs_a_token_of_its_own(good: Files) -> None:
    """Behind the states come letters: the last state would be said by the first one."""

    def moved(given: Tensors) -> None:
        head = given["lm_head.weight"]
        given["lm_head.weight"] = np.concatenate([head[-1:], head[1:-1]])
        given["transformer.wte.weight"] = given["transformer.wte.weight"][:-1]

    told = json.loads(good.config)
    size, said = told["vocab_size"] - 1, told["krohn"]
    said["model"]["architecture"]["outputs"] -= 1
    with pytest.raises(Refused, match="other names than tokens"):
        shown(config(tensors(good, moved), vocab_size=size, krohn=said))


def test_a_file_that_is_too_deep_is_damaged(good: Files) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    with pytest.raises(Refused, match="damaged"):
        read(good._replace(config=deep))


def uneven_ground(given: Tensors) -> None:
    """Units that cancel on a step read different amounts of ground."""
    below = given["transformer.h.0.mlp.c_fc.weight"]
    below[10, ::2] += 32 * below[:5, ::2].any(axis=0)
    below[10, 1::2] -= 32 * below[:5, 1::2].any(axis=0)


def test_units_do_not_have_their_sums_in_common(good: Files) -> None:
    """What each reads of ground by itself does not cancel with another one's (L3)."""
    with pytest.raises(Refused, match="half a step"):
        shown(tensors(good, uneven_ground))
