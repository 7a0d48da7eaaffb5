"""Model files for tests: of Programs, and with something changed that must be noticed."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.formats import json_format
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.transformer import describe, lower
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.program import Program
from krohn.program.attention import Sparse


def lowered(
    source: Program,
    said: Automaton,
    dtype: str = "float32",
    strict: bool = False,
    sparse: Sparse | None = None,
) -> ModelFile:
    """The network of a Program, said to compute a machine."""
    precision = PRECISIONS[dtype]
    options = Options(precision, strict)
    layout, features = arrange(optimise(source, options), options)
    network = lower(layout, features, strict, sparse=sparse)
    start = said.states[said.start]
    header = {
        "architecture": network.architecture,
        "machine": json_format.claimed_machine(said),
        "claim": {"length": source.length, "dtype": dtype, "start": start},
        "program": json.loads(json.dumps(describe(layout, network))),
    }
    tensors = {n: precision.round(t) for n, t in network.tensors.items()}
    return ModelFile(header, tensors, precision)


def with_tensors(file: ModelFile, changed: Mapping[str, FloatArray]) -> ModelFile:
    """The file with some tensors replaced."""
    return replace(file, tensors={**file.tensors, **changed})


def with_entries(file: ModelFile, name: str, at: Any, value: Any) -> ModelFile:
    """The file with some entries of a tensor set to a value, or to a function of them."""
    array = file.tensors[name].copy()
    array[at] = value(array[at]) if callable(value) else value
    return with_tensors(file, {name: array})


def restated(file: ModelFile, part: str, **said: Any) -> ModelFile:
    """The file with other words in a part of its header."""
    header = {**file.header, part: {**file.header[part], **said}}
    return replace(file, header=header)


def redescribed(file: ModelFile, name: str, **said: Any) -> ModelFile:
    """The file with other words about a channel of its Program."""
    channels = file.header["program"]["channels"]
    others = [{**c, **said} if c["name"] == name else c for c in channels]
    return restated(file, "program", channels=others)


def stated(file: ModelFile, name: str) -> dict[str, Any]:
    """What a file says of a channel."""
    channels = file.header["program"]["channels"]
    return next(c for c in channels if c["name"] == name)


def place(file: ModelFile, name: str) -> int:
    """The first dimension of a position feature or a channel."""
    features = file.header["program"]["features"]
    return int((features.get(name) or stated(file, name)["dims"])[0])
