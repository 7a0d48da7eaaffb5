"""Opening model files of networks that read and say real vectors."""

import torch
from torch import nn

from krohn.network.architecture import kind_of
from krohn.network.errors import ModelFileError
from krohn.network.modelfile import ModelFile


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
    network: nn.Module = kind.network(shape, tensors)
    return network.eval()
