"""The kernel on Elman networks, LSTMs and GRUs: what it proves, reads and refuses."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from kernel_files import data_of, evidence_of, kernel, status, with_kernel
from trained_networks import NETWORKS, file_of, path

import krohn
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile, pack, read
from krohn.program.errors import Refused
from krohn.verify.checker.network import open_model
from krohn.verify.kernel.evidence import find_kernel_evidence

NAMES = ("C2", "S3", "FlipFlop", "abab", "Cyclic-DET5,5@3")
FORMATS = ("float64", "float32", "bfloat16", "float16")
KINDS = ("lstm", "gru")
QUICK = ("Tomita1-rnn8", "latch-gru8")


def trained(name: str) -> bytes:
    file = file_of(name)
    return pack(file.header, file.tensors)


@with_kernel
@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_it_proves_compiled_networks(name: str, dtype: str, kind: str) -> None:
    data = data_of(name, arch=kind, dtype=dtype)
    assert status(data, evidence_of(data)) == 0


@with_kernel
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in NETWORKS],
)
def test_it_proves_trained_networks(name: str) -> None:
    data = trained(name)
    assert status(data, evidence_of(data)) == 0


@cache
def embedded() -> bytes:
    """The Elman network of `Tomita1-rnn8` with its letters as rows of a matrix."""
    file = file_of("Tomita1-rnn8")
    shape = {**file.header["architecture"], "embedding": 2}
    tensors = {**file.tensors, "embed.token": np.eye(2)}
    return pack({**file.header, "architecture": shape}, tensors)


@pytest.mark.slow
@with_kernel
def test_letters_may_be_embedded() -> None:
    assert status(embedded(), evidence_of(embedded())) == 0


@pytest.mark.sample(1)
@with_kernel
@pytest.mark.parametrize(
    "make",
    [
        *(lambda k=k: data_of("S3", arch=k) for k in KINDS),
        *(lambda n=n: trained(n) for n in QUICK),
        embedded,
    ],
)
def test_it_reads_what_another_reader_reads(
    make: Callable[[], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(make())
    ran = subprocess.run([kernel(), "--show", path], capture_output=True, check=True)
    shown, file = json.loads(ran.stdout), read(path)
    assert shown["kind"] == file.header["architecture"]["kind"]
    assert shown.get("embedding") == file.header["architecture"].get("embedding")
    for name, tensor in file.tensors.items():
        unit, rows = shown[name]
        assert [x * 2.0**unit for row in rows for x in row] == np.ravel(tensor).tolist()


def wrong(file: ModelFile, machine: Any) -> bool:
    """Whether some words of up to 12 letters are read wrongly."""
    rng = np.random.default_rng(0)
    words = rng.integers(len(machine.letters), size=(200, 12))
    said = Model(file)(torch.from_numpy(words)).argmax(dim=-1).numpy()
    states = machine.semiautomaton.trace(words, machine.start)
    table = machine.output.table if machine.output else np.arange(len(machine.states))
    return bool((said != table[states]).any())


@with_kernel
@pytest.mark.sample(1)
@pytest.mark.parametrize("name", [*((n, k) for n in NAMES[:4] for k in KINDS), *QUICK])
def test_old_evidence_shows_no_wrong_network(name: Any) -> None:
    if isinstance(name, str):
        file, machine = file_of(name), NETWORKS[name][0]
    else:
        file = krohn.compile(name[0], arch=name[1], proof=False).file
        machine = replace(krohn.read(name[0]), output=None)
    evidence = evidence_of(pack(file.header, file.tensors))
    rng, refused = np.random.default_rng(1), 0
    for _ in range(8):
        tensor = str(rng.choice(sorted(file.tensors)))
        values = file.tensors[tensor].copy()
        place = tuple(rng.integers(size) for size in values.shape)
        values[place] += rng.normal() * 10.0 ** rng.uniform(-3, 2.5)
        values = file.precision.round(values)
        mutant = replace(file, tensors={**file.tensors, tensor: values})
        code = status(pack(mutant.header, mutant.tensors), evidence)
        assert code == 1 or not wrong(mutant, machine)
        refused += code
    swapped = {
        **file.tensors,
        "unembed.weight": file.tensors["unembed.weight"][:, ::-1],
    }
    assert status(pack(file.header, swapped), evidence) == 1


@pytest.mark.slow
@with_kernel
def test_evidence_that_is_wrong_shows_nothing() -> None:
    data = data_of("FlipFlop", arch="gru")
    evidence = evidence_of(data)
    nodes = evidence["nodes"]
    for changed in (
        [],
        nodes[:1],
        nodes[1:],
        [[s, (q + 1) % 2, to] for s, q, to in nodes],
        [[{"box": []}, q, to] for s, q, to in nodes],
        [[s, q, to[:-1]] for s, q, to in nodes],
        [[s, q, [at] * len(to)] for at, (s, q, to) in enumerate(nodes)],
    ):
        assert status(data, {"nodes": changed}) == 1
    assert status(data, {"nodes": [[{"ball": []}, 0, [0]]]}) == 2


def test_a_network_that_is_wrong_has_no_evidence() -> None:
    file = krohn.compile("C2", arch="lstm").file
    swapped = {
        **file.tensors,
        "unembed.weight": file.tensors["unembed.weight"][:, ::-1],
    }
    with pytest.raises(Refused, match="wrong on a word"):
        find_kernel_evidence(open_model(pack(file.header, swapped)))


@pytest.mark.slow
@with_kernel
def test_it_is_asked_about_networks_of_others() -> None:
    machine, observe = NETWORKS["Tomita1-rnn8"]
    found = krohn.verify(path("Tomita1-rnn8"), machine, observe=observe)
    assert found.verdict == "verified"
    assert "kernel (Coq)" in str(found.checked_by)
