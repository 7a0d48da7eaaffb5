"""Files for tests of the kernel, and what it says of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import krohn
from krohn.network.modelfile import pack
from krohn.verify.checker.network import open_model
from krohn.verify.kernel.asking import find_kernel, run
from krohn.verify.kernel.evidence import find_kernel_evidence

with_kernel = pytest.mark.skipif(find_kernel() is None, reason="there is no kernel")


def kernel() -> Path:
    """The program."""
    path = find_kernel()
    assert path is not None
    return path


def data_of(name: str, length: int | None = None, **options: Any) -> bytes:
    """A model file of a machine."""
    asked = options if length is None else {"length": length, **options}
    file = krohn.compile(name, **asked).file
    return pack(file.header, file.tensors)


def evidence_of(data: bytes) -> dict[str, Any]:
    """Evidence for a model file, which tests may change."""
    evidence: dict[str, Any] = json.loads(
        json.dumps(find_kernel_evidence(open_model(data)))
    )
    return evidence


def status(data: bytes, evidence: Mapping[str, Any], *options: str) -> int:
    """The exit status of the kernel; it says one line whatever it is given."""
    code, text = run(kernel(), data, dict(evidence), *options)
    assert len(text.splitlines()) == 1
    return code
