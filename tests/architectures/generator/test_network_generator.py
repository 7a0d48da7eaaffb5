"""The runtime of generators: it is what docs/model-format.md says, and refuses the rest."""

from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from many_digits import DIGITS, ManyDigits, exact, near

from krohn.algebra import zoo
from krohn.algebra.errors import KrohnError
from krohn.architectures.generator import meaning as declared
from krohn.architectures.generator.build import Freedom
from krohn.architectures.generator.commands import compile_generator
from krohn.architectures.generator.engine import (
    Generator,
    load,
)
from krohn.network import ModelFileError, modelfile
from krohn.network.architecture import expected_shapes
from krohn.network.meaning.arrays import Arrays, points
from krohn.network.meaning.engine import Engine
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.verify.proof import prove


def built(depth: str = "given", dtype: str = "float64") -> ModelFile:
    free = Freedom("symmetric", depth, seed=2)
    return compile_generator("Dyck3,2", 12, free, dtype=dtype, proof=False).file


def by_hand(file: ModelFile, word: list[int]) -> FloatArray:
    """The forward pass with numpy, in float64."""
    t, shape = file.tensors, file.header["architecture"]
    depths = np.cumsum([shape["moves"][a] for a in word])
    rows = depths if shape["depths"] > 1 else 0 * depths
    x = np.concatenate([t["embed.start"][None], t["embed.letter"][word, rows]])
    for i, layer in enumerate(shape["layers"]):
        at = f"layers.{i}"
        q, k, v = (x @ t[f"{at}.attention.{n}"] for n in ("query", "key", "value"))
        weights = np.exp(np.where(np.tri(len(x)) > 0, q @ k.T, -np.inf))
        a = weights / weights.sum(axis=1, keepdims=True) @ v
        if layer.get("norm", "layer") == "layer":
            a = a - a.mean(axis=1, keepdims=True)
            norm = np.linalg.norm(a, axis=1, keepdims=True)
            a = a / np.maximum(norm, t[f"{at}.constant"])
        x = a + x
        for j in range(len(layer["mlp"]) + 1):
            x = np.maximum(x, 0) if j else x
            x = x @ t[f"{at}.mlp.{j}.weight"] + t[f"{at}.mlp.{j}.bias"]
    return x


@pytest.mark.parametrize("depth", ["given", "attended"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_runtime_is_the_documented_forward_pass(depth: str, dtype: str) -> None:
    file = built(depth, dtype)
    word = [0, 2, 3, 0, 0, 1, 1, 1, 2]
    said = Generator(file)(torch.tensor([word]))[0].double().numpy()
    assert np.allclose(said, by_hand(file, word), rtol=0, atol=1e-6)
    assert np.allclose(said.sum(axis=1), 1, rtol=0, atol=1e-6)


@pytest.mark.sample(1)
@pytest.mark.parametrize("norm", ["layer", "none"])
@pytest.mark.parametrize("depth", ["given", "attended"])
def test_all_engines_compute_it(depth: str, norm: str) -> None:
    file, word = built(depth), [0, 2, 3, 0, 0, 1, 1, 1, 2]
    if norm == "none":
        tensors = {n: t for n, t in file.tensors.items() if "constant" not in n}
        file = ModelFile(normalised(file, norm), tensors, file.precision)
    right, generator = by_hand(file, word), Generator(file)
    tokens = torch.tensor([word])
    x = generator.embed_letters(tokens).numpy()
    laws, patterns = by_engine(Arrays(), file.tensors, file, x)
    with mpmath.workdps(DIGITS):
        tensors = {name: exact(tensor) for name, tensor in file.tensors.items()}
        true = near(by_engine(ManyDigits(), tensors, file, exact(x))[0])
    for found in (generator(tokens).numpy(), laws, true):
        assert np.abs(found[0] - right).max() < 1e-13
    for own, other in zip(patterns, generator.attention(tokens), strict=True):
        assert np.abs(own - other.numpy()).max() < 1e-14


def by_engine(o: Engine, tensors: Any, file: ModelFile, x: Any) -> Any:
    """Laws and patterns, of the start and the letters, embedded."""
    net = declared.Generator.of(file.architecture, tensors)
    return declared.through(o, net, x, points(x))


def test_what_comes_later_has_no_part_in_a_law() -> None:
    """Be it infinite: a hidden letter has not the weight 0, it is absent."""
    file, word = built(), torch.tensor([[0, 2, 1, 3]])
    wanted = Generator(file)(word)[:, :4]
    file.tensors["embed.letter"][3] = np.inf
    generator = Generator(file)
    x = generator.embed_letters(word).numpy()
    with np.errstate(invalid="ignore"):
        laws, _ = by_engine(Arrays(), file.tensors, file, x)
    for found in (generator(word).numpy(), laws):
        assert np.abs(found[:, :4] - wanted.numpy()).max() < 1e-13
        assert not np.isfinite(found[:, 4]).any()


def without(file: ModelFile, *names: str) -> dict[str, FloatArray]:
    return {n: t for n, t in file.tensors.items() if n not in names}


def normalised(file: ModelFile, name: str | None) -> dict[str, Any]:
    """The header with another normalisation in every layer, or none stated."""
    shape = file.header["architecture"]
    layers = [{k: v for k, v in x.items() if k != "norm"} for x in shape["layers"]]
    stated = layers if name is None else [{**x, "norm": name} for x in layers]
    return {**file.header, "architecture": {**shape, "layers": stated}}


@pytest.mark.slow
def test_layers_of_the_first_releases_are_normalised_without_saying_so() -> None:
    file, word = built(), torch.tensor([[0, 2, 3, 1]])
    old = ModelFile(normalised(file, None), file.tensors, file.precision)
    assert expected_shapes(old.header["architecture"]).keys() == file.tensors.keys()
    assert torch.equal(Generator(old)(word), Generator(file)(word))
    machine = zoo.machine("Dyck3,2")
    assert prove(old, machine).verdict == prove(file, machine).verdict == "verified"


def test_a_layer_without_normalisation_runs_and_is_not_proved() -> None:
    file, word = built(), [0, *[2, 3] * 5]
    tensors = without(file, "layers.0.constant")
    bare = ModelFile(normalised(file, "none"), tensors, file.precision)
    said = Generator(bare)(torch.tensor([word]))[0].numpy()
    assert np.allclose(said, by_hand(bare, word), rtol=0, atol=1e-12)
    assert not np.allclose(said, by_hand(file, word), rtol=0, atol=0.01)
    found = prove(bare, zoo.machine("Dyck3,2"))
    assert (found.verdict, found.reason) == ("undecided", "a layer without LayerNorm")


def test_a_generator_survives_its_file(tmp_path: Path) -> None:
    file, path = built("attended"), tmp_path / "g.safetensors"
    modelfile.write(path, file.header, file.tensors)
    word = torch.tensor([[0, 2, 3, 1]])
    assert torch.equal(load(path)(word), Generator(file)(word))
    assert load(path).letters == zoo.machine("Dyck3,2").letters


def test_words_that_it_cannot_embed_are_refused() -> None:
    generator = Generator(built())
    with pytest.raises(ModelFileError, match="depth is out of range"):
        generator(torch.tensor([[1]]))
    with pytest.raises(KrohnError, match="up to 12 letters"):
        generator(torch.zeros((1, 13), dtype=torch.int64))


@pytest.mark.parametrize(
    ("key", "value", "trouble"),
    [
        ("layers", [], "no layers"),
        ("layers", [3], "no object"),
        ("layers", [{"d": 3, "d_qk": 1}], "a layer does not say its 'mlp'"),
        ("layers", [{"d": 3, "d_qk": 0, "mlp": []}], "not a sensible size"),
        (
            "layers",
            [{"d": 3, "d_qk": 1, "mlp": [], "norm": "batch"}],
            "'norm' is 'batch'",
        ),
        ("layers", [{"d": 3, "d_qk": 1, "mlp": [], "norm": ["layer"]}], "'norm' is"),
        ("moves", [1, -1], "opens or closes"),
        ("moves", [1, -1, 2, -1], "'moves' is 2"),
        ("depths", 0, "not a sensible size"),
    ],
)
def test_a_damaged_architecture_is_refused(key: str, value: Any, trouble: str) -> None:
    shape = {**built().header["architecture"], key: value}
    with pytest.raises(ModelFileError, match=trouble):
        expected_shapes(shape)


def test_parameters_are_called_as_on_file() -> None:
    file = built()
    names = [name for name, _ in Generator(file).named_parameters()]
    assert names == [f"held.{name.replace('.', '/')}" for name in sorted(file.tensors)]


def test_shapes_are_known_without_numbers() -> None:
    """On the device of torch that has none: no pass asks what is not surely there."""
    generator = Generator(built("attended")).to("meta")
    word = torch.zeros((2, 5), dtype=torch.int64, device="meta")
    assert generator(word).shape == (2, 6, 4)
