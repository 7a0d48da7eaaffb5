"""A compiled network that has learned, as a model file again."""

from collections.abc import Iterator

import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.compare.models.compiled import Compiled
from krohn.network.mlp import Mlp
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.network.rnn import Product, Rnn, SparseMatrix
from krohn.network.transformer import Attention, Transformer


def model_file(network: Compiled) -> ModelFile:
    """The file of a compiled network with the weights that it has now.

    What it claims and how it was built is kept: it is for `krohn verify` to say whether
    that still holds. What was proved is not.

    Raises:
        KrohnError: If a weight is infinite or not a number.
    """
    body = network.model.network
    assert isinstance(body, Rnn | Transformer)
    named = dict(_of_rnn(body) if isinstance(body, Rnn) else _of_transformer(body))
    if not all(bool(weight.isfinite().all()) for weight in named.values()):
        raise KrohnError("this network has weights that are not finite")
    precision = PRECISIONS[str(next(iter(named.values())).dtype).removeprefix("torch.")]
    header = network.model.header
    stored = {"dtype": precision.name}
    header = {
        **header,
        "architecture": {**header["architecture"], **stored},
        "claim": {**header["claim"], **stored},
        "evidence": None,
    }
    tensors = {
        name: weight.detach().cpu().to(torch.float64).numpy()
        for name, weight in named.items()
    }
    return ModelFile(header, tensors, precision)


def _of_rnn(body: Rnn) -> Iterator[tuple[str, Tensor]]:
    yield "hidden.start", body.initial
    yield "hidden.bias", body.hidden_bias
    matrices = {"hidden": body.hidden, "input": body.input, "unembed": body.weight}
    for name, matrix in matrices.items():
        if isinstance(matrix, Product):
            yield from matrix.stored(name)
        elif isinstance(matrix, SparseMatrix):
            yield from matrix.stored(f"{name}.weight")
        else:
            yield f"{name}.weight", matrix
    yield "unembed.bias", body.bias


def _of_transformer(body: Transformer) -> Iterator[tuple[str, Tensor]]:
    yield "embed.token", body.token
    yield "embed.position", body.position
    yield "unembed.weight", body.weight
    yield "unembed.bias", body.bias
    for i, (attention, mlp) in enumerate(zip(body.attention, body.mlp, strict=True)):
        if isinstance(attention, Attention):
            for name, weight in attention.named_parameters():
                yield f"blocks.{i}.attention.{name}", weight
        assert isinstance(mlp, Mlp)
        yield from _of_mlp(f"blocks.{i}.mlp", mlp)


def _of_mlp(at: str, mlp: Mlp) -> Iterator[tuple[str, Tensor]]:
    for j, (weight, bias) in enumerate(zip(mlp.weights, mlp.biases, strict=True)):
        yield f"{at}.{j}.weight", weight
        yield f"{at}.{j}.bias", bias
    if mlp.mask is not None:
        yield f"{at}.residual", mlp.mask
