"""State space models: one program, run by torch, numpy, ONNX and in fractions."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import krohn
from krohn.architectures.exports.destinations import destination
from krohn.architectures.state_space.engine import StateSpace
from krohn.network.architecture import expected_shapes, kind_of
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.network.reading import plain_reader
from krohn.network.recurrent import Stepped
from krohn.network.running_file import plain_network, torch_tensors

LAYERS = [
    {"coordinates": 3, "decode": [4, 2], "hidden": 5, "symbols": 4},
    {"coordinates": 2, "decode": [3], "hidden": 6, "symbols": 3},
]


def made(selective: bool, dtype: str = "float64") -> ModelFile:
    """A random network."""
    shape: dict[str, Any] = {"kind": "ssm", "vocabulary": 3, "outputs": 3}
    shape |= {"dtype": dtype, "selective": selective, "layers": LAYERS}
    rng, precision = np.random.default_rng(int(selective)), PRECISIONS[dtype]
    tensors = {
        name: precision.round(rng.uniform(-1, 1, size))
        for name, size in expected_shapes(shape).items()
    }
    machine = {"letters": list("abc"), "states": list("xyz")}
    header = {"architecture": shape, "machine": machine, "claim": {}}
    return ModelFile(header, tensors, precision)


def by_hand(file: ModelFile, word: list[int]) -> list[list[Fraction]]:
    """Logits after each letter, in fractions, from what docs/model-format.md says."""
    t = {name: np.vectorize(Fraction)(x) for name, x in file.tensors.items()}
    shape = file.header["architecture"]

    def affine(name: str, x: list[Fraction]) -> list[Fraction]:
        weight, bias = t[f"{name}.weight"], t[f"{name}.bias"]
        columns = zip(weight.T, bias, strict=True)
        return [sum(map(Fraction.__mul__, x, w), b) for w, b in columns]

    held = [list(t[f"layers.{i}.start"]) for i in range(len(shape["layers"]))]
    said = []
    for letter in word:
        x = [Fraction(i == letter) for i in range(shape["vocabulary"])]
        for i, layer in enumerate(shape["layers"]):
            at, s = f"layers.{i}", held[i]
            for j in range(len(layer["decode"])):
                s = [max(y, Fraction(0)) for y in affine(f"{at}.decode.{j}", s)]
            a, b = t[f"{at}.decay"], x @ t[f"{at}.input"]
            a = x @ a if shape["selective"] else a
            held[i] = [p * h + q for p, h, q in zip(a, held[i], b, strict=True)]
            hidden = [max(y, Fraction(0)) for y in affine(f"{at}.table.0", x + s)]
            x = affine(f"{at}.table.1", hidden)
        said.append(x)
    return said


@pytest.mark.parametrize("selective", [False, True])
def test_all_engines_compute_the_formula(selective: bool) -> None:
    file, rng = made(selective), np.random.default_rng(0)
    words = rng.integers(3, size=(3, 9))
    right = np.array([by_hand(file, word) for word in words.tolist()], dtype=float)
    network = plain_network(file)
    assert isinstance(network, StateSpace)
    declared = Stepped(file.header["architecture"], torch_tensors(file))
    given, cache, steps = torch.from_numpy(words), network.start(3), []
    for letters in given.T:
        logits, cache = network.step(letters, cache)
        steps.append(logits)
    begin = plain_reader(file)
    assert begin is not None
    with torch.no_grad():
        found = {
            "whole": network(given),
            "scan": network.parallel(given),
            "steps": torch.stack(steps, dim=1),
            "step as declared": declared(given),
            "numpy": begin(3).read_on(words),
        }
    for name, logits in found.items():
        off = np.abs(np.asarray(logits) - right).max()
        assert off < 1e-14 * np.abs(right).max(), name


def test_a_tensor_more_or_less_is_an_error() -> None:
    file = made(False)
    step = kind_of(file.architecture).step(file.architecture)
    assert step is not None
    few = {n: t for n, t in file.tensors.items() if n != "layers.1.decay"}
    with pytest.raises(krohn.KrohnError, match=r"no tensor 'layers\.1\.decay'"):
        step.net(few)
    with pytest.raises(krohn.KrohnError, match=r"has tensors layers\.2\.start"):
        step.net({**file.tensors, "layers.2.start": few["layers.0.start"]})


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("machine", "how"),
    [
        ("Dyck4,2", {}),
        ("C2", {"length": 20, "dtype": "float64"}),
        ("Q8", {"construction": "selective"}),
    ],
)
def test_onnx_runs_it(machine: str, how: dict[str, Any], tmp_path: Path) -> None:
    file = krohn.compile(machine, arch="ssm", proof=False, **how).file
    place = destination("onnx")
    place.write(file, tmp_path)
    words = np.random.default_rng(0).integers(
        len(file.claim.letters), size=(4, how.get("length", 30))
    )
    with torch.no_grad():
        right = plain_network(file)(torch.from_numpy(words))
    said = place.open(tmp_path)(torch.from_numpy(words))
    torch.testing.assert_close(said, right, rtol=0, atol=2**14 * file.precision.unit)
    assert (said.argmax(-1) == right.argmax(-1)).all()
    place.read(file, tmp_path)
