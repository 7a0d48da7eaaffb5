"""Opening model files of networks that read and say real vectors."""

import torch
from torch import nn

from krohn.network.architecture import kind_of
from krohn.network.attention_layer import AttentionLayer
from krohn.network.errors import ModelFileError
from krohn.network.linear_recurrence import LinearRecurrence
from krohn.network.modelfile import ModelFile

NETWORKS: dict[str, type[nn.Module]] = {
    "attention-layer": AttentionLayer,
    "linear-recurrence": LinearRecurrence,
}
"""By the kind of the architecture; each takes it, and the tensors by name."""


def real_network(file: ModelFile) -> nn.Module:
    """The network of a file, in its number format: ``(batch, time, d)`` in and out.

    Raises:
        ModelFileError: If it reads letters, or says something else than numbers.
    """
    shape = file.header["architecture"]
    if (kind := kind_of(shape)).answers != "reals":
        raise ModelFileError(f"this is {kind.called}, which reads letters")
    dtype = getattr(torch, file.precision.name)
    tensors = {n: torch.from_numpy(a).to(dtype) for n, a in file.tensors.items()}
    return NETWORKS[shape["kind"]](shape, tensors).eval()
