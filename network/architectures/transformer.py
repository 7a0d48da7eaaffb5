"""Transformers, and what their blocks say of heads and units."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from krohn.network import ModelFileError
from krohn.network.architecture import Kind, declare
from krohn.network.attention_kind import attention_kind
from krohn.program.architecture import LARGEST
from krohn.program.architectures.transformer import Transformer

StrArray = npt.NDArray[np.str_]
ACTIVATIONS = ("relu", "sine", "gelu")


def causal(block: Mapping[str, Any]) -> list[bool]:
    """Of each head of a block, whether it sees no position after its own.

    A head that is not causal sees the whole word, but from BOS only BOS.

    Raises:
        ModelFileError: If that is not said of each.
    """
    told = block.get("causal", [True] * block["heads"])
    if (
        not isinstance(told, list)
        or len(told) != block["heads"]
        or any(type(each) is not bool for each in told)
    ):
        raise ModelFileError("is damaged: not every head says what it sees")
    return told


def activations(block: Mapping[str, Any]) -> tuple[StrArray, ...]:
    """The name of the activation of each unit of each hidden layer of a block.

    Files of version 2 say of each layer how many units, the first ones, are sines.

    Raises:
        ModelFileError: If it does not name one that is known for every unit.
    """
    widths = block["mlp"]
    if "activation" in block:
        told = block["activation"]
    else:
        sines = block.get("sine", [0] * len(widths))
        if not isinstance(sines, list) or len(sines) != len(widths):
            raise ModelFileError("is damaged: 'sine' is not said of each hidden layer")
        told = [
            [["sine", n], ["relu", w - _size(n, "sine")]]
            for n, w in zip(sines, widths, strict=True)
        ]
    if not isinstance(told, list) or len(told) != len(widths):
        raise ModelFileError("is damaged: a hidden layer has no activations")
    return tuple(_names(runs, w) for runs, w in zip(told, widths, strict=True))


def _names(runs: Any, width: int) -> StrArray:
    if not isinstance(runs, list) or any(
        not isinstance(run, list) or len(run) != 2 or run[0] not in ACTIVATIONS
        for run in runs
    ):
        raise ModelFileError("is damaged: a hidden layer has unknown activations")
    counts = [_size(n, name) for name, n in runs]
    if sum(counts) != width:
        raise ModelFileError("is damaged: a hidden layer has other units than named")
    return np.repeat([name for name, _ in runs], counts)


def _size(value: Any, name: str) -> int:
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise ModelFileError(f"is damaged: {name!r} is {value!r}, not a sensible size")
    return value


def _check(architecture: Mapping[str, Any]) -> None:
    """Refuse what blocks say of their heads and units, where that is nothing known."""
    for block in architecture["blocks"]:
        activations(block)
        if "causal" in block:
            causal(block)
        attention_kind(block)


def _version(architecture: Mapping[str, Any]) -> int:
    blocks = architecture["blocks"]
    if "disguise" in architecture:
        return 6
    if any(block.keys() & {"causal", "attention"} for block in blocks):
        return 5
    if any("gelu" in layer for block in blocks for layer in activations(block)):
        return 5
    if any("activation" in block for block in blocks):
        return 4
    return 2 if any("sine" in block for block in blocks) else 1


KIND = declare(
    Kind(
        Transformer,
        title="Transformer",
        width_of=lambda transformer: transformer.d_model,
        runtime="krohn.network.transformer:Transformer",
        layers_of=lambda transformer: [
            {"heads": block.heads, "mlp": list(block.mlp)}
            for block in transformer.blocks
        ],
        check=_check,
        version=_version,
        marks=1,
        program=True,
    )
)
