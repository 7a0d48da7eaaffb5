"""A model file says everything, the same way every time, to every reader."""

import errno
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
import torch
from hypothesis import given, strategies as st

import krohn
from krohn.network import ModelFileError, modelfile
from krohn.network.architecture import parameters
from krohn.network.precision import PRECISIONS
from krohn.program import strict_json
from krohn.program.architectures.transformer import Block
from krohn.program.errors import KrohnError

Build = Callable[..., Any]
FORMATS = pytest.mark.parametrize("dtype", list(PRECISIONS))
BITS = {"float64": 64, "float32": 32, "float16": 16, "bfloat16": 16}


@pytest.mark.sample(1)
@FORMATS
@pytest.mark.parametrize(
    ("name", "construction", "length"),
    [("S3", "scan", 5), ("FlipFlop", "memory", 9), ("Grid4", "elman", None)],
)
def test_round_trips_are_exact(
    parts: Build,
    tmp_path: Path,
    name: str,
    construction: str,
    length: int | None,
    dtype: str,
) -> None:
    file = parts(name, construction, length, dtype=dtype).file
    path = tmp_path / "model.safetensors"
    modelfile.write(path, file.header, file.tensors)
    again = modelfile.read(path)
    assert again.precision is PRECISIONS[dtype]
    assert again.tensors.keys() == file.tensors.keys()
    for tensor, array in file.tensors.items():
        assert again.tensors[tensor].dtype == np.float64
        assert again.tensors[tensor].tobytes() == array.tobytes()
    stated = {k: v for k, v in again.header.items() if k not in ("format", "version")}
    digest = file.claim.digest
    assert stated == json.loads(json.dumps({**file.header, "digest": digest}))


@pytest.mark.sample(1)
@FORMATS
@given(st.data())
def test_every_finite_number_of_a_format_survives(
    dtype: str, data: st.DataObject
) -> None:
    precision = PRECISIONS[dtype]
    bits = BITS[dtype]
    patterns = data.draw(st.lists(st.integers(0, 2**bits - 1), min_size=1))
    stored = np.array(patterns, dtype=f"uint{bits}").tobytes()
    with np.errstate(invalid="ignore"):
        numbers = precision.decode(stored)
    finite = np.isfinite(numbers)
    back = precision.store(numbers[finite]).tobytes()
    kept = np.array(patterns, dtype=f"uint{bits}")[finite].tobytes()
    assert back == kept


@pytest.mark.sample(1)
@FORMATS
def test_equal_content_gives_equal_bytes(tmp_path: Path, dtype: str) -> None:
    paths = [tmp_path / "one.safetensors", tmp_path / "two.safetensors"]
    for path in paths:
        model = krohn.compile("Grid4", 5, dtype=dtype)
        backwards = dict(reversed(list(model.file.header.items())))
        tensors = dict(reversed(list(model.file.tensors.items())))
        if path == paths[0]:
            model.save(path)
        else:
            modelfile.write(path, backwards, tensors)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.slow
@FORMATS
def test_the_safetensors_library_is_enough(tmp_path: Path, dtype: str) -> None:
    model = krohn.compile("Grid4", 5, dtype=dtype)
    path = tmp_path / "model.safetensors"
    model.save(path)
    with safetensors.safe_open(path, framework="pt") as file:
        metadata = file.metadata()
        assert list(metadata) == ["krohn"]
        text = metadata["krohn"]
        found = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    header = json.loads(text)
    canonical = json.dumps(header, sort_keys=True, separators=(",", ":"))
    assert text == canonical
    for key in ("format", "version", "architecture", "machine", "claim", "program"):
        assert key in header
    for name, tensor in found.items():
        assert str(tensor.dtype) == f"torch.{dtype}"
        assert np.array_equal(tensor.double().numpy(), model.file.tensors[name])


def test_sizes_are_stated_without_reading_the_tensors(parts: Build) -> None:
    file = parts("S3", "scan", 5).file
    total = sum(t.size for t in file.tensors.values())
    assert parameters(file.header["architecture"]) == total


def test_permissions_follow_the_mask(parts: Build, tmp_path: Path) -> None:
    file = parts().file
    path = tmp_path / "model.safetensors"
    mask = os.umask(0o027)
    try:
        modelfile.write(path, file.header, file.tensors)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.sample(1)
@pytest.mark.parametrize("fault", ["os.replace", "os.fsync", "os.chmod"])
@pytest.mark.parametrize("existed", [False, True])
def test_a_full_disk_leaves_the_old_file(
    parts: Build,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    existed: bool,
) -> None:
    file = parts().file
    path = tmp_path / "model.safetensors"
    if existed:
        path.write_bytes(b"what was there before")

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(fault, full)
        with pytest.raises(KrohnError, match=r"cannot be written: No space left"):
            modelfile.write(path, file.header, file.tensors)
    assert [p.name for p in tmp_path.iterdir()] == [path.name] * existed
    if existed:
        assert path.read_bytes() == b"what was there before"


@pytest.mark.sample(1)
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interruption_leaves_nothing(
    parts: Build,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException],
) -> None:
    file = parts().file

    def stop(*arguments: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", stop)
        with pytest.raises(error):
            modelfile.write(tmp_path / "model", file.header, file.tensors)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sample(1)
@pytest.mark.parametrize("where", ["missing/model", "file/model", "folder"])
def test_impossible_places_are_one_line(
    parts: Build, tmp_path: Path, where: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    file = parts().file
    with pytest.raises(KrohnError, match=r"cannot be written: .+$") as caught:
        modelfile.write(tmp_path / where, file.header, file.tensors)
    assert "\n" not in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_numbers_that_are_not_finite_are_not_written(tmp_path: Path) -> None:
    file = krohn.compile("C2", 3).file
    header = {**file.header, "claim": {"x": float("nan")}}
    with pytest.raises(ValueError, match="not JSON compliant"):
        modelfile.write(tmp_path / "model", header, file.tensors)
    assert list(tmp_path.iterdir()) == []


def test_models_are_modules_without_gradients(parts: Build, place: Build) -> None:
    model = krohn.load(place(parts().pack()))
    assert not model.training
    assert not any(p.requires_grad for p in model.parameters())
    assert model(torch.tensor([[0, 1, 2]])).shape == (1, 3, 3)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("activation", "version"), [("relu", 1), ("sine", 4)])
def test_the_version_is_the_first_that_knows_all_units(
    tmp_path: Path, activation: str, version: int
) -> None:
    path = tmp_path / "model.safetensors"
    krohn.compile("C3", 20, activation=activation).save(path)
    file = modelfile.read(path)
    assert file.header["version"] == version
    blocks = file.header["architecture"]["blocks"]
    assert any("activation" in block for block in blocks) == (version == 4)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "wrong", [[], [0], [3, 0, 0], [0, 0, 0, 0], [-1, 0, 0], [0.5, 0, 0], "2", None, 2]
)
def test_a_wrong_number_of_sines_is_damage(
    parts: Build, place: Build, wrong: Any
) -> None:
    built = parts("C3", "counter", 20, activation="sine")
    header = of_version_2(built.header)
    header["architecture"]["blocks"][0]["sine"] = wrong
    with pytest.raises(ModelFileError, match="damaged"):
        modelfile.read(place(built.pack(header)))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "wrong",
    [
        [],
        "relu",
        None,
        {"relu": 2},
        [[["relu", 2]]],
        [[["relu", 3]], [["relu", 2]], [["relu", 2]]],
        [[["sine", 3], ["relu", -1]], [["relu", 2]], [["relu", 2]]],
        [[["sine", 2.0]], [["relu", 2]], [["relu", 2]]],
        [[["sine", 2, 0]], [["relu", 2]], [["relu", 2]]],
        [[["gelu", 2]], [["relu", 2]], [["relu", 2]]],
        [["sine"], ["relu"], ["relu"]],
    ],
)
def test_wrong_activations_are_damage(parts: Build, place: Build, wrong: Any) -> None:
    built = parts("C3", "counter", 20, activation="sine")
    header = json.loads(json.dumps({**built.header, "version": 4}))
    assert header["architecture"]["blocks"][0]["mlp"] == [2, 2, 2]
    modelfile.read(place(built.pack(header)))
    header["architecture"]["blocks"][0]["activation"] = wrong
    with pytest.raises(ModelFileError, match="damaged"):
        modelfile.read(place(built.pack(header)))


def of_version_2(header: Any) -> Any:
    """The header of a network as version 2 says which units are sines."""
    old = json.loads(json.dumps({**header, "version": 2}))
    for block in old["architecture"]["blocks"]:
        runs = block.pop("activation", None)
        if runs:
            block["sine"] = [dict(layer).get("sine", 0) for layer in runs]
    return old


def test_files_of_version_2_are_read_as_before(parts: Build, place: Build) -> None:
    built = parts("C3", "counter", 20, activation="sine")
    old = modelfile.read(place(built.pack(of_version_2(built.header))))
    (block,) = old.header["architecture"]["blocks"]
    (new,) = built.header["architecture"]["blocks"]
    assert block["sine"] == [2, 0, 0]
    for mine, yours in zip(
        *(Block.of(x).activations for x in (block, new)), strict=True
    ):
        assert mine.tolist() == yours.tolist()


def test_a_file_of_version_1_has_no_sines(parts: Build, place: Build) -> None:
    built = parts("C3", "counter", 20, activation="sine")
    for header in (built.header, of_version_2(built.header)):
        with pytest.raises(
            ModelFileError, match="a file of this version has no such network"
        ):
            modelfile.read(place(built.pack({**header, "version": 1})))


@pytest.mark.sample(1)
@FORMATS
def test_how_an_array_lies_in_memory_does_not_matter(parts: Build, dtype: str) -> None:
    """A transposed array was once written in the order of its memory."""
    file = parts("S3", "scan", 5, dtype=dtype).file
    turned = {name: np.asfortranarray(tensor) for name, tensor in file.tensors.items()}
    assert any(not tensor.flags.c_contiguous for tensor in turned.values())
    packed = modelfile.pack(file.header, turned)
    assert packed == modelfile.pack(file.header, file.tensors)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "a": 1}', "the key 'a' is there twice"),
        ('[{"b": {"a": 1, "c": 2, "a": 3}}]', "the key 'a' is there twice"),
        ('{"a": NaN}', "NaN is not a number"),
        ("-Infinity", "-Infinity is not a number"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("1" * 5000, "digits"),
        ("{", "Expecting"),
        (b"\xff\xfe\x00", "codec|Expecting"),
    ],
    ids=lambda x: str(x)[:12],
)
def test_texts_that_are_refused(text: str | bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        strict_json.read(text)


@given(VALUES)
def test_everything_else_is_read_as_it_is(value: object) -> None:
    try:
        text = strict_json.canonical(value)
    except ValueError:  # an infinity
        return
    assert strict_json.read(text) == value == json.loads(text)
    assert strict_json.canonical(strict_json.read(text)) == text
