"""ONNX Runtime computes from the written graph what the network computes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from foreign import flip_flop, trained

import krohn
from krohn.network import ExportError
from krohn.network.architecture import expected_shapes
from krohn.network.exports import destination
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
PLACE = destination("onnx")
D, LENGTH = 6, 9


def both(file: ModelFile, at: Path, length: int = LENGTH) -> tuple[torch.Tensor, ...]:
    """Logits of the network and of its export, on random words."""
    PLACE.write(file, at)
    model, rng = Model(file), np.random.default_rng(0)
    words = torch.from_numpy(rng.integers(len(model.letters), size=(20, length)))
    with torch.inference_mode():
        return model(words), PLACE.open(at)(words)


def network(dtype: str, recurrent: str | None = None, **block: Any) -> ModelFile:
    """Random weights: nothing is saturated, so that every operation can be seen."""
    shape: dict[str, Any] = {"dtype": dtype, "outputs": 4}
    if recurrent is not None:
        shape |= {"kind": recurrent, "hidden": D, "vocabulary": 3}
    else:
        block = {"heads": 2, "d_qk": 3, "d_v": 2, "mlp": [5, 4], **block}
        empty = {"heads": 0, "d_qk": 0, "d_v": 0, "mlp": []}
        shape |= {"kind": "transformer", "strict": False, "d_model": D}
        shape |= {"vocabulary": 4, "positions": LENGTH + 1}
        shape["blocks"] = [block, empty, block]
    rng = np.random.default_rng(1)
    precision = PRECISIONS[dtype]
    tensors = {
        name: precision.round(
            rng.integers(2, size=size)
            if name.endswith("residual")
            else rng.normal(size=size) / 2
        )
        for name, size in expected_shapes(shape).items()
    }
    names = {"letters": list("abc"), "states": list("wxyz")}
    return ModelFile(
        {"architecture": shape, "machine": names, "claim": {}}, tensors, precision
    )


SPARSE = {"kind": "sparse", "block": 3, "windows": 1, "last": 1}


@pytest.mark.sample(5)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "block",
    [
        {},
        {"activation": [[["relu", 2], ["sine", 3]], [["sine", 1], ["relu", 3]]]},
        {"causal": [True, False]},
        {"attention": {"kind": "relu"}, "causal": [False, True]},
        {"attention": {"kind": "linear"}, "causal": [True, True]},
        {"attention": SPARSE, "causal": [True, True]},
    ],
    ids=str,
)
def test_every_operation_is_the_same(
    block: dict[str, Any], dtype: str, tmp_path: Path
) -> None:
    file = network(dtype, **block)
    ours, theirs = both(file, tmp_path)
    assert ours.std() > 0.1
    near = 1e-12 if dtype == "float64" else 1e-4
    torch.testing.assert_close(theirs, ours, rtol=near, atol=near)
    assert PLACE.read(file, tmp_path).file == file


def test_gelus_are_those_of_the_error_function(tmp_path: Path) -> None:
    units = [[["gelu", 5]], [["relu", 1], ["gelu", 3]]]
    ours, theirs = both(network("float32", activation=units), tmp_path)
    torch.testing.assert_close(theirs, ours, rtol=1e-4, atol=1e-4)
    with pytest.raises(ExportError, match="no GeLU in float64"):
        PLACE.write(network("float64", activation=units), tmp_path)


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_is_remembered_goes_from_letter_to_letter(
    kind: str, dtype: str, tmp_path: Path
) -> None:
    ours, theirs = both(network(dtype, kind), tmp_path, 30 if kind != "rnn" else 5)
    near = 1e-12 if dtype == "float64" else 1e-3
    torch.testing.assert_close(theirs, ours, rtol=near, atol=near)


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (1, 9)])
def test_batch_and_time_are_free(shape: tuple[int, int], tmp_path: Path) -> None:
    PLACE.write(network("float64"), tmp_path)
    words = torch.zeros(shape, dtype=torch.int64)
    assert PLACE.open(tmp_path)(words).shape == (*shape, 4)


@pytest.mark.parametrize("file", [flip_flop(10, 1.5), trained(10, 1)], ids=["a", "b"])
def test_networks_that_krohn_did_not_compile_go_there(
    file: ModelFile, tmp_path: Path
) -> None:
    ours, theirs = both(file, tmp_path)
    torch.testing.assert_close(theirs, ours, rtol=1e-6, atol=1e-6)


def test_the_graph_names_what_it_holds(tmp_path: Path) -> None:
    file = krohn.compile("S3", length=12).file
    PLACE.write(file, tmp_path)
    model = onnx.load(tmp_path / "model.onnx")
    assert {t.name for t in model.graph.initializer} >= set(file.tensors)
    assert [(o.domain, o.version) for o in model.opset_import] == [("", 20)]
    written = {name for node in model.graph.node for name in node.output}
    table = (tmp_path / "circuit.json").read_text()
    assert "blocks.1.hook_resid_mid" in written
    assert "blocks.1.hook_resid_mid" in table


def test_the_same_network_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        PLACE.write(network("float32"), tmp_path / name)
    first, second = ((tmp_path / n / "model.onnx").read_bytes() for n in "ab")
    assert first == second


def test_one_number_that_is_not_as_in_the_file_is_seen(tmp_path: Path) -> None:
    file = network("float64")
    damaged = {n: t.copy() for n, t in file.tensors.items()}
    damaged["blocks.2.mlp.1.bias"][3] += 2.0**-40
    PLACE.write(replace(file, tensors=damaged), tmp_path)
    with pytest.raises(ExportError, match=r"'blocks\.2\.mlp\.1\.bias'"):
        PLACE.read(file, tmp_path)


def test_what_it_lacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="no kernels for bfloat16"):
        PLACE.write(network("bfloat16"), tmp_path)
