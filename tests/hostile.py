"""Files that mean harm: how they are made, and what the command says of them."""

import copy
import json
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import torch

import krohn
from krohn.algebra.errors import KrohnError
from krohn.network import ModelFileError
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray

torch.set_num_threads(1)

Json = Any
Edit = Callable[[Json], object]
Tensors = dict[str, FloatArray]
SECONDS = 10.0  # of computing; the slowest takes about two
MEMORY = 2**30
LENGTH = 40  # too long for all words to be run
FORMATS = ("float64", "float32", "float16", "bfloat16")
KINDS = ("transformer", "rnn", "generator")
EACH = pytest.mark.parametrize("kind", KINDS)
ANY = "."


@cache
def good(kind: str, dtype: str = "float32") -> ModelFile:
    """A small model that is as it should be."""
    if kind == "rnn":
        return krohn.compile("Grid4", arch="rnn", dtype=dtype).file
    if kind == "generator":
        return krohn.compile_generator("Dyck1,2", 4).file
    name = {"memory": "FlipFlop", "scan": "C2"}.get(kind, "C3")
    construction = {"transformer": "counter"}.get(kind, kind)
    return krohn.compile(name, LENGTH, construction, dtype=dtype).file


def pack(file: ModelFile, edit: Edit, tensors: Tensors | None = None) -> bytes:
    """The bytes of a file with its header edited and other tensors in it."""
    header = {"format": "krohn-model", "version": 1, **copy.deepcopy(file.header)}
    edit(header)
    with np.errstate(over="ignore"):
        stored = tensors if tensors is not None else file.tensors
        packed = {n: file.precision.store(t) for n, t in stored.items()}
    text = json.dumps(header, sort_keys=True, separators=(",", ":"))
    return safetensors.numpy.save(packed, {"krohn": text})


def nothing(_: Json) -> None:
    """Leave a header as it is."""


def put(*path: str | int, value: Json) -> Edit:
    """Set a field of a header; ``...`` removes it."""

    def edit(header: Json) -> None:
        for step in path[:-1]:
            header = header[step]
        if value is ...:
            header.pop(path[-1], None)
        else:
            header[path[-1]] = value

    return edit


@dataclass(frozen=True)
class Said:
    """What the command said of a file."""

    code: int
    out: str
    err: str

    @property
    def verdict(self) -> str:
        """The verdict; ``refused`` if the file is none to be judged."""
        if not self.out:
            return "refused"
        return self.out.splitlines()[0].split(": ")[1].split()[0]

    @property
    def reason(self) -> str:
        """The one line with the reason."""
        if self.out:
            about = ("about ", "answers are ")
            told = [line.strip() for line in self.out.splitlines()[1:]]
            return next(line for line in told if not line.startswith(about))
        (line,) = self.err.splitlines()
        return line.removeprefix("krohn: ")


@contextmanager
def bounded() -> Iterator[None]:
    """Little memory, and not for long."""
    before, began = resource.getrlimit(resource.RLIMIT_AS), process_time()
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert process_time() - began < SECONDS


def face(path: Path) -> str:
    """The verdict of the Python face."""
    try:
        with bounded():
            return krohn.verify(path).verdict
    except (KrohnError, ModelFileError):
        return "refused"


def filled(file: ModelFile, value: float, *names: str) -> Tensors:
    """The tensors with every entry of some set to a number; of all if none is named."""
    chosen = names or tuple(file.tensors)
    return {
        n: np.full_like(t, value) if n in chosen else t for n, t in file.tensors.items()
    }


def first(file: ModelFile, value: float, name: str) -> Tensors:
    """The tensors with the first entry of one set to a number."""
    spoilt = file.tensors[name].copy()
    spoilt.flat[0] = value
    return {**file.tensors, name: spoilt}


Judge = Callable[..., Said]
