"""BOS looks at itself: a network whose own score there overflows answers nothing."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import krohn
from krohn.algebra import zoo
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.network.reading import output_function
from krohn.verify.proof import prove

WIDER: dict[str, tuple[int, ...]] = {
    "embed.token": (1,),
    "embed.position": (1,),
    "unembed.weight": (0,),
    "query": (1,),
    "key": (1,),
    "value": (1,),
    "out": (2,),
    "mlp.0.weight": (0,),
}


def last_of_mlp(name: str, tensors: Any) -> bool:
    """Whether a tensor is of the last affine layer of an MLP."""
    block, _, rest = name.partition(".mlp.")
    layers = [n.split(".")[3] for n in tensors if n.startswith(f"{block}.mlp.")]
    number = rest.split(".")[0]
    return number.isdigit() and number == max(x for x in layers if x.isdigit())


def widened(name: str, tensor: FloatArray, tensors: Any) -> FloatArray:
    """A tensor with one residual dimension more, which nothing uses."""
    axes = [i for end, where in WIDER.items() if name.endswith(end) for i in where]
    if last_of_mlp(name, tensors):
        axes.append(tensor.ndim - 1)
    pads = [(0, int(axis in axes)) for axis in range(tensor.ndim)]
    kept = 1.0 if name.endswith("residual") else 0.0
    pads = [(0, 1)] if name.endswith("residual") else pads
    return np.pad(tensor, pads, constant_values=kept)


def attacked(file: ModelFile, feature: float, query: float, scale: float) -> ModelFile:
    """A feature that is at BOS alone, and which queries of the first block read."""
    d = file.header["architecture"]["d_model"]
    tensors = {n: widened(n, t, file.tensors) for n, t in file.tensors.items()}
    tensors["embed.position"][0, d] = feature
    tensors["blocks.0.attention.query"] /= scale
    tensors["blocks.0.attention.key"] *= scale
    tensors["blocks.0.attention.query"][:, d] = query
    program = {**file.header["program"]}
    program["features"] = {**program["features"], "extra": [d, d + 1]}
    shape = {**file.header["architecture"], "d_model": d + 1}
    header = {**file.header, "architecture": shape, "program": program}
    return replace(file, header=header, tensors=tensors)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["A5", "FlipFlop", "Grid4"])
def test_scores_of_bos_that_overflow_are_refused(name: str) -> None:
    machine = zoo.machine(name)
    file = krohn.compile(machine, 4).file
    assert prove(attacked(file, 0.0, 0.0, 1.0), machine).verdict == "verified"
    for power, scale in ((100, 1.0), (60, 2.0**20)):
        worse = attacked(file, 2.0**power, 2.0**power, scale)
        assert prove(worse, machine).verdict == "undecided"
        if len(file.header["architecture"]["blocks"]) > 1:  # which read what BOS holds
            given = np.zeros((1, 4), dtype=np.int64)
            assert not np.isfinite(output_function(worse)(given)).all()
            # A fused kernel gives 0 where a row of weights is no number.
            assert not Model(worse)(torch.from_numpy(given)).isfinite().all()
