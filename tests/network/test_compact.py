"""Compact files: they hold the same tensors, bit by bit, for all who read them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import krohn
from krohn.network import ModelFileError, modelfile
from krohn.program.errors import Refused
from krohn.program.stored_tensors import POSITION, REST, circle, expand_tensors
from krohn.verify.checker.model_file import DAMAGE, read as trusted
from krohn.verify.checker.network import digest, recheck
from krohn.verify.search.find import find

CASES = (
    *(("C2", 600, {"construction": "scan"}), ("Grid9", 70, {}), ("FlipFlop", 30, {})),
    *(("D8", 20, {}), ("S3", 9, {"dtype": "float64"}), ("S3", 9, {"dtype": "float16"})),
    *(("S3", 9, {"disguise": "rotate"}), ("S3", None, {"arch": "rnn"})),
)
Case = tuple[str, int | None, dict[str, Any]]


def made(case: Case) -> krohn.CompiledModel:
    name, length, how = case
    told = () if length is None else (length,)
    return krohn.compile(name, *told, proof=False, **how)


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_readers_find_the_same_tensors(case: Case, tmp_path: Path) -> None:
    model, path = made(case), tmp_path / "m.safetensors"
    model.save(path, compact=True)
    data, found = path.read_bytes(), modelfile.read(path)
    plain = trusted(modelfile.pack(model.file.header, model.file.tensors))
    for tensors, right in (
        (found.tensors, model.file.tensors),
        (trusted(data).tensors, plain.tensors),
    ):
        assert tensors.keys() == right.keys()
        assert all((tensors[n] == right[n]).all() for n in right)
    assert modelfile.pack(found.header, found.tensors) == data


@pytest.mark.slow
def test_a_compact_file_is_small_and_proved(tmp_path: Path) -> None:
    model = krohn.compile("C2", 600, "scan")
    path, whole = tmp_path / "m.safetensors", tmp_path / "whole.safetensors"
    model.save(path, compact=True)
    model.save(whole)
    assert 3 * path.stat().st_size < whole.stat().st_size
    assert krohn.verify(path).verdict == "verified"
    assert krohn.load(path).run("1" * 5) == krohn.load(whole).run("1" * 5)


def test_cosines_are_exact_at_quarters_and_near_elsewhere() -> None:
    for bits in (2, 3, 10, 18):
        cosine, sine = circle(bits)
        angle = 2 * np.pi * np.arange(2**bits) / 2**bits
        assert cosine[:: 2**bits // 4].tolist() == [1, 0, -1, 0]
        assert sine[:: 2**bits // 4].tolist() == [0, 1, 0, -1]
        assert np.abs(cosine - np.cos(angle)).max() < 2.0**-49
        assert np.abs(sine - np.sin(angle)).max() < 2.0**-49


GOOD = {
    "entries": {"x": [2, 2]},
    "positions": {"rows": 3, "columns": [[1, "bit", 0, 2, 3]]},
}


def tensors(places: list[float], values: list[float]) -> dict[str, Any]:
    return {"x.places": np.array(places), "x.values": np.array(values)}


def test_what_is_stated_is_expanded() -> None:
    found = expand_tensors(GOOD, tensors([1, 2], [5, 6]), "float32")
    assert found["x"].tolist() == [[0, 5], [6, 0]]
    assert found["embed.position"].tolist() == [[1], [3], [2]]


def test_formulas_are_computed_in_float64_whatever_their_numbers_are() -> None:
    told = {"rows": 9, "columns": [[0, "affine", 0, 2**61], [0, "affine", 1, 2**54]]}
    found = expand_tensors(
        GOOD | {"positions": told}, tensors([1, 2], [5, 6]), "float64"
    )
    right = [[2.0**61 * t, 1.0 + 2.0**54 * t] for t in range(1, 9)]
    assert found["embed.position"][1:].tolist() == right


@pytest.mark.parametrize(
    ("places", "values"),
    [
        ([2, 1], [5, 6]),
        ([1, 1], [5, 6]),
        ([3, 4], [5, 6]),
        ([-1, 1], [5, 6]),
        ([1], [5, 6]),
    ],
)
def test_wrong_places_are_refused(places: list[float], values: list[float]) -> None:
    with pytest.raises(Refused, match="wrong places"):
        expand_tensors(GOOD, tensors(places, values), "float32")


@pytest.mark.parametrize(
    "change",
    [
        {"entries": {"x": [2, -2]}},
        {"entries": {"x": [2**40]}},
        {"entries": {"x": [2**28]}},
        {"positions": {"rows": 2**26, "columns": [[1, "affine", 0, 1]] * 3}},
        {"entries": {"x": [2, 2]}, "more": 1},
        {"positions": {"rows": 0, "columns": [[1, "affine", 0, 1]]}},
        {"positions": {"rows": 3, "columns": [[1, "tangent", 4]]}},
        {"positions": {"rows": 3, "columns": [[1, "cosine", 1]]}},
        {"positions": {"rows": 3, "columns": [[1, "cosine", 99]]}},
        {"positions": {"rows": 3, "columns": [[1, "sine", 24]]}},
        {"positions": {"rows": 3, "columns": [None]}},
        {"positions": {"rows": 2**40, "columns": [[1, "affine", 0, 1]]}},
        {"positions": {"rows": 3, "columns": []}},
        {"positions": {"rows": 3, "columns": [[1, "affine", 2**70, 1]]}},
        {"positions": {"rows": 3, "columns": [[1, "affine", "0", 1]]}},
        {"positions": None},
        {"entries": {"y": [1]}},
    ],
)
def test_damage_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises((Refused, *DAMAGE)):
        expand_tensors(GOOD | change, tensors([1, 2], [5, 6]), "float32")


def test_the_rest_of_positions_has_all_rows() -> None:
    told = {"entries": {}, "positions": {"rows": 3, "columns": [None]}}
    assert len(expand_tensors(told, {REST: np.ones((3, 1))}, "float32")[POSITION]) == 3
    with pytest.raises(Refused, match="no place"):
        expand_tensors(told, {REST: np.ones((2, 1))}, "float32")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "stored", [{}, 3, {"entries": {}, "positions": {"rows": 9, "columns": [None]}}]
)
def test_damaged_files_end_in_one_sentence(stored: Any, tmp_path: Path) -> None:
    model, path = made(("S3", 8, {})), tmp_path / "m.safetensors"
    model.save(path, compact=True)
    data = whole = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    outer = json.loads(data[8 : 8 + size])
    header = json.loads(outer["__metadata__"]["krohn"]) | {"stored": stored}
    text = json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    outer["__metadata__"]["krohn"] = text
    changed = json.dumps(outer).encode()
    path.write_bytes(len(changed).to_bytes(8, "little") + changed + data[8 + size :])
    with pytest.raises(ModelFileError, match="damaged"):
        modelfile.read(path)
    evidence = find(whole) | {"model": digest(path.read_bytes())}
    with pytest.raises(Refused):
        recheck(path.read_bytes(), json.dumps(evidence).encode())


def test_older_versions_are_not_compact(tmp_path: Path) -> None:
    model, path = made(("S3", 8, {})), tmp_path / "m.safetensors"
    model.save(path, compact=True)
    old = path.read_bytes().replace(b'\\"version\\":7', b'\\"version\\":5')
    assert old != path.read_bytes()
    with pytest.raises(Refused, match="no such network"):
        _ = trusted(old).claim
    path.write_bytes(old)
    with pytest.raises(ModelFileError):
        modelfile.read(path)
