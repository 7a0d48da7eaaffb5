"""Compiled Transformers that were trained further, proved beside their plain networks."""

import re
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import Tensor, nn

from krohn.algebra.errors import KrohnError
from krohn.compiled_model import CompiledModel, with_evidence
from krohn.compiler.disguise import FORMATS
from krohn.network.architecture import kind_of
from krohn.network.disguise import PLAIN, is_disguised
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.open_model import Model
from krohn.program.architectures.transformer import Transformer
from krohn.verify.proof import prove

_BLOCK = {"heads", "d_qk", "d_v", "mlp"}
_NAMES = (
    (r"network\.(token|position)", r"embed.\1"),
    (r"network\.(weight|bias)", r"unembed.\1"),
    (r"network\.attention\.(\d+)\.(\w+)", r"blocks.\1.attention.\2"),
    (r"network\.mlp\.(\d+)\.weights\.(\d+)", r"blocks.\1.mlp.\2.weight"),
    (r"network\.mlp\.(\d+)\.biases\.(\d+)", r"blocks.\1.mlp.\2.bias"),
)
"""The names of parameters of `krohn.Model`, and those of the tensors of its file."""


def fine_tuned(
    plain: CompiledModel | Model | ModelFile,
    weights: nn.Module | Mapping[str, Any],
) -> CompiledModel:
    """A strict Transformer after training, proved by Theorem D of docs/disguise.md.

    It is a network beside its plain one, as a disguised network is, in a stream that was
    not turned. So nothing is believed of how it was trained: how far it is from the plain
    network is bounded from the tensors of both.

    Args:
        plain: The network before: ``krohn.compile(…, strict=True, dtype="float64")``.
        weights: The open model (`krohn.load`) after training, its state dict, or tensors
            by their names in the file.

    Returns:
        The network, with a proof that says whether it is verified.

    Raises:
        KrohnError: If no theorem is about such a network, or the weights are not its own.
    """
    began, file = (
        time.monotonic(),
        plain if isinstance(plain, ModelFile) else plain.file,
    )
    _check(file)
    tensors = _tensors(weights)
    sizes = {name: tensor.shape for name, tensor in file.tensors.items()}
    if {name: tensor.shape for name, tensor in tensors.items()} != sizes:
        raise KrohnError(
            "the weights are not those of the network before: they need the same names "
            "and shapes"
        )
    found = _beside(file, tensors)
    proof = prove(found, CompiledModel(file, "", None, 0.0).machine)
    construction = str(file.header["construction"])
    seconds = time.monotonic() - began
    return CompiledModel(with_evidence(found, proof), construction, proof, seconds)


def _check(file: ModelFile) -> None:
    shape = file.header["architecture"]
    blocks = shape.get("blocks", [])
    known = kind_of(shape).declared is Transformer and shape.get("strict")
    if (
        not known
        or not blocks
        or is_disguised(file.header)
        or file.precision.name not in FORMATS
    ):
        raise KrohnError(
            "a Transformer that was trained further is proved if it was compiled with "
            "strict=True in float64 or float32, without a disguise"
        )
    if any(block.keys() != _BLOCK or len(block["mlp"]) > 1 for block in blocks):
        raise KrohnError("only ReLUs and softmax heads are proved after training")


def _tensors(weights: nn.Module | Mapping[str, Any]) -> dict[str, FloatArray]:
    """Tensors by their names in the file."""
    if isinstance(weights, nn.Module):
        weights = weights.state_dict()
    found = dict[str, FloatArray]()
    for name, values in weights.items():
        for pattern, own in _NAMES:
            name = re.sub(f"^{pattern}$", own, name)
        if isinstance(values, Tensor):
            values = values.detach().cpu().numpy()
        found[name] = np.asarray(values, np.float64)
    return found


def _beside(file: ModelFile, tensors: dict[str, FloatArray]) -> ModelFile:
    """The file of a network beside its plain one: a disguise that turns nothing."""
    shape, width = file.header["architecture"], file.header["architecture"]["d_model"]
    blocks = shape["blocks"]
    told = {
        "d_model": width,
        "waste": 0,
        "blocks": [dict(block) for block in blocks],
        "heads": [list(range(1, block["heads"] + 1)) for block in blocks],
        "units": [list(range(1, sum(block["mlp"]) + 1)) for block in blocks],
    }
    directions = {"disguise.directions": np.eye(width)}
    for b, block in enumerate(blocks):
        if block["heads"]:
            turns = np.repeat(np.eye(block["d_qk"])[None], block["heads"], axis=0)
            directions[f"disguise.blocks.{b}.attention"] = turns
    written = {name: file.precision.round(x) for name, x in tensors.items()}
    own = {f"{PLAIN}{name}": x for name, x in file.tensors.items()}
    header = {key: x for key, x in file.header.items() if key != "evidence"}
    header["architecture"] = {**shape, "disguise": told}
    return ModelFile(header, {**written, **directions, **own}, file.precision)
