"""Model files as bytes, to be taken apart and put together wrongly."""

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import safetensors.numpy

import krohn
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray

Json = Any


@dataclass(frozen=True)
class Parts:
    """The header and the tensors of a model file, with a way back to bytes."""

    file: ModelFile

    @property
    def header(self) -> dict[str, Json]:
        """The header of the file, as a copy."""
        return {
            "format": "krohn-model",
            "version": 1,
            **copy.deepcopy(self.file.header),
        }

    @property
    def tensors(self) -> dict[str, FloatArray]:
        """The tensors, as copies."""
        return {n: t.copy() for n, t in self.file.tensors.items()}

    def pack(
        self,
        header: Json = None,
        tensors: Mapping[str, FloatArray] | None = None,
        key: str = "krohn",
    ) -> bytes:
        """The bytes of a file with some parts exchanged."""
        stated = self.header if header is None else header
        text = json.dumps(stated, sort_keys=True, separators=(",", ":"))
        stored = self.tensors if tensors is None else tensors
        packed = {n: self.file.precision.store(t) for n, t in stored.items()}
        return safetensors.numpy.save(packed, {key: text})


@pytest.fixture(scope="session")
def parts() -> Callable[..., Parts]:
    """A compiled model in parts."""

    def build(
        name: str = "C3", construction: str = "scan", length: int | None = 3, **how: Any
    ) -> Parts:
        if construction == "elman":
            return Parts(krohn.compile(name, arch="rnn", **how).file)
        return Parts(krohn.compile(name, length, construction, **how).file)

    return build


@pytest.fixture
def place(tmp_path: Path) -> Callable[[bytes], Path]:
    """Put bytes where a model file could be."""

    def put(data: bytes) -> Path:
        path = tmp_path / "model.safetensors"
        path.write_bytes(data)
        return path

    return put
