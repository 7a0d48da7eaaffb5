"""The kernel on state space models: what it proves, reads and refuses."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_files import data_of, evidence_of, kernel, status, with_kernel

import krohn
from krohn.network.modelfile import ModelFile, pack, read
from krohn.program.errors import Refused
from krohn.verify.checker.network import open_model
from krohn.verify.kernel.evidence import find_kernel_evidence

ROUNDING, SELECTIVE = "rounding", "selective"
FORMATS = ("float64", "float32", "bfloat16", "float16")
EVERY_LENGTH = [
    (ROUNDING, ("FlipFlop", "Memory5", "Dyck4,2", "Grid9", "Adder", "FFL2")),
    (SELECTIVE, ("FlipFlop", "Memory5", "C2", "C4", "D8", "Q8", "abab")),
]
BOUNDED = ("C2", "C5", "C2xC2", "S4", "D6", "abab")


def data_in(form: str, name: str, length: int | None = None, **options: Any) -> bytes:
    return data_of(name, length, construction=form, arch="ssm", **options)


def file_in(path: Path, data: bytes) -> ModelFile:
    path.write_bytes(data)
    return read(path)


@with_kernel
@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize(
    ("form", "name", "length"),
    [
        *((form, name, None) for form, names in EVERY_LENGTH for name in names),
        *((ROUNDING, name, 40) for name in BOUNDED),
    ],
)
def test_it_proves_compiled_networks(
    form: str, name: str, length: int | None, dtype: str
) -> None:
    data = data_in(form, name, length, dtype=dtype)
    assert status(data, evidence_of(data)) == 0


@pytest.mark.sample(1)
@with_kernel
@pytest.mark.parametrize(
    ("form", "name", "length"),
    [(ROUNDING, "abab", 9), (SELECTIVE, "D8", None), (ROUNDING, "FFL2", None)],
)
def test_it_reads_what_another_reader_reads(
    form: str, name: str, length: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "m.safetensors"
    file = file_in(path, data_in(form, name, length))
    ran = subprocess.run([kernel(), "--show", path], capture_output=True, check=True)
    shown = json.loads(ran.stdout)
    assert shown["length"] == length
    assert len(shown["layers"]) == len(file.header["architecture"]["layers"])
    for i, layer in enumerate(shown["layers"]):
        named = {name: layer[name] for name in ("start", "decay", "input")}
        for part in ("decode", "table"):
            for j, (weight, bias) in enumerate(layer[part]):
                named |= {f"{part}.{j}.weight": weight, f"{part}.{j}.bias": bias}
        own = {x.removeprefix(f"layers.{i}."): x for x in file.tensors}
        assert {x for x in own if own[x] != x} == set(named)
        for name, (unit, rows) in named.items():
            numbers = [x * 2.0**unit for row in rows for x in row]
            assert numbers == np.ravel(file.tensors[own[name]]).tolist()


@pytest.mark.sample(1)
@with_kernel
@pytest.mark.parametrize(
    ("form", "name", "length"), [(ROUNDING, "C2", 9), (SELECTIVE, "C3", 9)]
)
def test_a_longer_claim_needs_other_evidence(
    form: str, name: str, length: int, tmp_path: Path
) -> None:
    data = data_in(form, name, length)
    file = file_in(tmp_path / "m.safetensors", data)
    for longest, code in ((length - 1, 0), (length + 1, 1), (None, 1)):
        claim = {k: v for k, v in file.header["claim"].items() if k != "length"}
        if longest is not None:
            claim["length"] = longest
        assert (
            status(
                pack({**file.header, "claim": claim}, file.tensors), evidence_of(data)
            )
            == code
        )


@pytest.mark.sample(1)
@with_kernel
@pytest.mark.parametrize("dtype", FORMATS)
def test_a_latch_is_held_by_every_rounding_or_not_proved(
    dtype: str, tmp_path: Path
) -> None:
    """Theorem D2: what is added moves by ⅛ of a gap before a number is rounded away."""
    data = data_in(ROUNDING, "FlipFlop", dtype=dtype)
    file, evidence = file_in(tmp_path / "m.safetensors", data), evidence_of(data)
    least = 2.0 ** -(1 if dtype == "bfloat16" else 2)
    for moved, code in ((0, 0), (least, 1), (-least, 1)):
        added = file.tensors["layers.0.input"] + moved
        tensors = {**file.tensors, "layers.0.input": added}
        assert status(pack(file.header, tensors), evidence) == code


@pytest.mark.slow
@with_kernel
def test_evidence_that_is_wrong_shows_nothing() -> None:
    data = data_in(ROUNDING, "FFL2")
    evidence = evidence_of(data)
    levels, joints = evidence["levels"], evidence["joints"]
    assert status(data, evidence) == 0
    for changed in (
        [],
        joints[:1],
        joints[1:],
        [[c, (q + 1) % 2, t, to] for c, q, t, to in joints],
        [[c, q, t, to[:-1]] for c, q, t, to in joints],
        [[c[:-1], q, t, to] for c, q, t, to in joints],
        [[c, q, t, [at] * len(to)] for at, (c, q, t, to) in enumerate(joints)],
    ):
        assert status(data, {**evidence, "joints": changed}) == 1
    first = levels[0]
    parts: list[dict[str, Any]] = [
        {"points": []},
        {"points": first["points"][:1]},
        {"points": [[v, 0, t, to] for v, _, t, to in first["points"]]},
        {"points": [[v, c, t, []] for v, c, t, _ in first["points"]]},
        {"points": [[[x + 1 for x in v], *rest] for v, *rest in first["points"]]},
        {"modes": [[says, says] for says, _ in first["modes"]]},
        {"modes": [[[None] * len(says), to] for says, to in first["modes"]]},
        {"unit": first["unit"] - 1},
    ]
    for part in parts:
        changed = [{**first, **part}, *levels[1:]]
        assert status(data, {**evidence, "levels": changed}) == 1
    assert status(data, {**evidence, "levels": levels[:-1]}) == 1
    assert status(data, {**evidence, "levels": [{**first, "unit": 10**6}]}) == 2
    assert status(data, {"levels": levels}) == 2


def test_a_network_that_is_wrong_has_no_evidence() -> None:
    file = krohn.compile("C2", 9, arch="ssm").file
    name = "layers.0.table.1.weight"
    swapped = {**file.tensors, name: file.tensors[name][:, ::-1]}
    with pytest.raises(Refused, match="wrong on a word"):
        find_kernel_evidence(open_model(pack(file.header, swapped)))


@with_kernel
def test_it_is_asked() -> None:
    machine = replace(krohn.read("Dyck3,1"), output=None)
    found = krohn.verify(krohn.compile(machine, arch="ssm").file)
    assert found.verdict == "verified"
    assert "kernel (Coq)" in str(found.checked_by)
