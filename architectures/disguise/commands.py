"""Compiled Transformers that were trained further, proved beside their plain networks."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import nn

from krohn.algebra.errors import KrohnError
from krohn.architectures.disguise.build import FORMATS
from krohn.compiled_model import CompiledModel, with_evidence
from krohn.loading import file_of
from krohn.network.model import current_file
from krohn.network.modelfile import PLAIN, ModelFile
from krohn.network.precision import FloatArray
from krohn.open_model import Model
from krohn.program.architectures.transformer import Transformer
from krohn.program.block_kinds import BlockKinds
from krohn.verify.proof import prove

_BLOCKS = BlockKinds("the proof of what is trained further")


def fine_tuned(
    plain: CompiledModel | Model | ModelFile,
    weights: nn.Module | Mapping[str, Any],
) -> CompiledModel:
    """A strict Transformer after training, proved by Theorem D.

    The theorem is in docs/proofs/disguise.md.
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

    Examples:
        >>> plain = krohn.compile("C2", 4, strict=True, dtype="float64")
        >>> krohn.fine_tuned(plain, plain.model).proof.verdict
        'verified'
    """
    began = time.monotonic()
    before = plain.original if isinstance(plain, CompiledModel) else plain
    file = before if isinstance(before, ModelFile) else before.file
    _check(file)
    tensors = _tensors(file, weights)
    tuned_file = _beside(file, tensors)
    proof = prove(tuned_file, CompiledModel(file, "", None, 0.0).machine)
    construction = str(file.header["construction"])
    seconds = time.monotonic() - began
    return CompiledModel(with_evidence(tuned_file, proof), construction, proof, seconds)


def _check(file: ModelFile) -> None:
    shape = file.architecture
    known = isinstance(shape, Transformer) and shape.strict and not shape.disguise
    if not known or not shape.blocks or file.claim.dtype not in FORMATS:
        raise KrohnError(
            "a Transformer that was trained further is proved if it was compiled with "
            "strict=True in float64 or float32, without a disguise"
        )
    _BLOCKS.check(shape)
    if any(len(block.mlp) > 1 for block in shape.blocks):
        raise KrohnError("only one layer of ReLUs in a block is proved after training")


def _tensors(
    file: ModelFile, weights: nn.Module | Mapping[str, Any]
) -> Mapping[str, FloatArray]:
    """Tensors by their names in the file.

    Raises:
        KrohnError: If they are those of another network.
    """
    if (weights_file := file_of(weights)) is not None:
        tensors = weights_file.tensors
    elif isinstance(weights, Mapping) and weights.keys() == file.tensors.keys():
        tensors = {name: np.asarray(x, np.float64) for name, x in weights.items()}
    else:
        state = weights.state_dict() if isinstance(weights, nn.Module) else weights
        model = Model(file)
        try:
            model.load_state_dict(state)
            tensors = current_file(model).tensors
        except RuntimeError:
            tensors = {}
    sizes = {name: tensor.shape for name, tensor in file.tensors.items()}
    if {name: tensor.shape for name, tensor in tensors.items()} != sizes:
        raise KrohnError(
            "the weights are not those of the network before: they need the same names "
            "and shapes"
        )
    return tensors


def _beside(file: ModelFile, tensors: Mapping[str, FloatArray]) -> ModelFile:
    """The file of a network beside its plain one: a disguise that turns nothing."""
    shape, stated = file.architecture, file.header["architecture"]
    disguise = {
        "d_model": shape.d_model,
        "waste": 0,
        "blocks": [dict(block) for block in stated["blocks"]],
        "heads": [list(range(1, block.heads + 1)) for block in shape.blocks],
        "units": [list(range(1, sum(block.mlp) + 1)) for block in shape.blocks],
    }
    directions = {"disguise.directions": np.eye(shape.d_model)}
    for b, block in enumerate(shape.blocks):
        if block.heads:
            turns = np.repeat(np.eye(block.d_qk)[None], block.heads, axis=0)
            directions[f"disguise.blocks.{b}.attention"] = turns
    written = {name: file.precision.round(x) for name, x in tensors.items()}
    own = {f"{PLAIN}{name}": x for name, x in file.tensors.items()}
    header = {key: x for key, x in file.header.items() if key != "evidence"}
    header["architecture"] = {**stated, "disguise": disguise}
    return ModelFile(header, {**written, **directions, **own}, file.precision)
