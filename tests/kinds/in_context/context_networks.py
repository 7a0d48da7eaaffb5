"""Files of networks that learn in context, whole and damaged, and how far they are off."""

from typing import Any

import numpy as np
import torch

from krohn.kinds.in_context.build import in_context
from krohn.kinds.in_context.source import (
    InContext,
    Prompt,
    descent,
    find_by_name,
    regression,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.network.transformer import Transformer
from krohn.verify.checker.established import Established
from krohn.verify.proof import shown_of

NAMES = (
    "InContext3,1:demonstrations=11",
    "InContext3,2:demonstrations=13,steps=12",
    "InContext3,3:demonstrations=20,steps=20",
    "InContext3,2:demonstrations=11,steps=5,ahead=2",
    "InContext2,2:demonstrations=9,ahead=3",
)
LARGEST = 1e300
"""An error that any network may claim."""


def of(name: str) -> InContext:
    """The source of a name."""
    found = find_by_name(name)
    assert found is not None
    return found


def built(source: InContext, dtype: str = "float64", flagged: bool = True) -> ModelFile:
    """A file that claims hardly anything."""
    precision = PRECISIONS[dtype]
    network = in_context(source, precision, flagged)
    claim = {"kind": "within", "length": source.length, "error": LARGEST}
    header = {
        "architecture": network.architecture,
        "source": source.to_wire(),
        "construction": "in-context",
        "claim": {**claim, "dtype": dtype},
        "program": {},
    }
    tensors = {name: precision.round(t) for name, t in network.tensors.items()}
    return ModelFile(header, tensors, precision)


def changed(file: ModelFile, **tensors: FloatArray) -> ModelFile:
    """The file with other tensors; ``_`` stands for a dot in their names."""
    return ModelFile(file.header, {**file.tensors, **tensors}, file.precision)


def restated(file: ModelFile, part: str, **said: Any) -> ModelFile:
    """The file with other words in a part of its header."""
    header = {**file.header, part: {**file.header[part], **said}}
    return ModelFile(header, file.tensors, file.precision)


def shown(file: ModelFile) -> Established:
    """The facts that the checker shows."""
    return shown_of(file)


def laws(file: ModelFile, prompts: list[Prompt]) -> FloatArray:
    """``(prompts, p^M)``: what the network says at the last position."""
    dtype = getattr(torch, file.precision.name)
    held = {name: torch.tensor(t).to(dtype) for name, t in file.tensors.items()}
    network = Transformer(file.header["architecture"], held).eval()
    tokens = InContext.from_wire(file.header["source"]).laid_out(prompts)
    found: FloatArray = network(torch.tensor(tokens))[:, -1].double().numpy()
    return found


def descended(source: InContext, prompts: list[Prompt]) -> FloatArray:
    """``(prompts, p^M)``: what gradient descent says."""
    problem = regression(source, prompts)
    found: FloatArray = (descent(problem) @ problem.asked[:, :, None])[:, :, 0]
    return found


def measured(file: ModelFile, prompts: list[Prompt]) -> float:
    """The largest error over some prompts; NaN counts as infinite."""
    source = InContext.from_wire(file.header["source"])
    off = np.abs(laws(file, prompts) - descended(source, prompts))
    return float(np.where(np.isnan(off), np.inf, off).max())
