"""Networks from architectures, and trained networks as files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models.architecture import (
    Architecture,
    Derived,
    Gpt,
    RecurrentLayer,
    Rnn as RnnArchitecture,
    Specification,
    from_object,
    to_object,
)
from krohn.instruments.compare.models.compiled import (
    Compiled,
    open_compiled,
    wrap_compiled,
)
from krohn.instruments.compare.models.cost import parameters
from krohn.instruments.compare.models.gpt import GptNetwork
from krohn.instruments.compare.models.network import (
    LstmNetwork,
    Network,
    RecurrentLayerNetwork,
    RnnNetwork,
)
from krohn.network import ModelFileError, modelfile
from krohn.network.architecture import is_index
from krohn.network.modelfile import TRAINED_KEY, ModelFile
from krohn.network.precision import PRECISIONS
from krohn.network.running_file import plain_network, running_file
from krohn.program import strict_json
from krohn.program.files import read_bytes
from krohn.program.quoting import kind_of_value
from krohn.program.writing import atomic_write

# From an architecture to a network with fresh weights.


def build(
    architecture: Architecture, letters: int, classes: int, longest: int, seed: int
) -> Network:
    """A network with fresh or derived weights, on the CPU.

    The seed alone decides the weights; torch's own generator stays as it is.

    Args:
        architecture: What it is made of.
        letters: How many it reads.
        classes: How many it tells apart.
        longest: The longest word, with its shift, that positions are made for.
        seed: Of the weights.

    Raises:
        KrohnError: If a number makes no sense, a library is not installed, or a model file
            does not serve.
    """
    return assemble(Specification(architecture, letters, classes, longest), seed)


def assemble(specification: Specification, seed: int = 0) -> Network:
    """The network of a specification, with fresh weights.

    Raises:
        KrohnError: If a library is not installed, or a model file does not serve.
    """
    architecture = specification.architecture
    if isinstance(architecture, Derived):
        return open_compiled(specification, seed)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        if isinstance(architecture, Gpt):
            return GptNetwork(specification, architecture)
        if isinstance(architecture, RnnArchitecture):
            return RnnNetwork(specification, architecture)
        if isinstance(architecture, RecurrentLayer):
            return RecurrentLayerNetwork(specification, architecture)
        return LstmNetwork(specification, architecture)


# Trained networks as files: safetensors, with all else as JSON in the header.
#
# A compiled network, trained or not, is kept as a model file (docs/model-format.md): the
# trained network can be held against its Program, or examined, as any other.


VERSION = 1
TRAINED = GptNetwork, LstmNetwork, RnnNetwork, RecurrentLayerNetwork
"""The networks that such a file can hold."""


def save(network: Network, path: str | Path) -> None:
    """Write a network whole or not at all; it is read again by `load`.

    Raises:
        KrohnError: If the file system refuses, a compiled network has weights that are
            no numbers any more, or the network is made of another one.
    """
    if isinstance(network, TRAINED):
        atomic_write(path, _to_bytes(network))
        return
    if not isinstance(network, Compiled):
        raise KrohnError(
            f"{kind_of_value(network)} has no file; save the network within"
        )
    file = model_file(network)
    modelfile.write(path, file.header, file.tensors)


def load(path: str | Path) -> Network:
    """A network from its file, on the CPU, in evaluation mode.

    Loading executes nothing that the file holds.

    Args:
        path: What `save` wrote, or ``krohn compile``.

    Raises:
        KrohnError: If the file cannot be read, is damaged, or is of another kind.
    """
    data = read_bytes(path, modelfile.LARGEST_FILE)
    try:
        tensors = safetensors.torch.load(data)
        length = int.from_bytes(data[:8], "little")
        metadata = strict_json.read(data[8 : 8 + length]).get("__metadata__", {})
        if modelfile.KEY in metadata:
            return wrap_compiled(modelfile.read(path), Derived(str(path))).eval()
        if TRAINED_KEY not in metadata:
            raise KrohnError(f"{path} holds no network of Krohn")
        return _restore(metadata[TRAINED_KEY], tensors).eval()
    except ModelFileError as error:
        raise KrohnError(str(error)) from None
    except safetensors.SafetensorError:
        raise KrohnError(f"{path} is damaged: {modelfile.MISFIT}") from None
    except (_Damaged, ValueError) as error:
        raise KrohnError(f"{path} is damaged: {error}") from None


class _Damaged(Exception):
    """The header and the content of a file do not fit."""


def _to_bytes(network: Network) -> bytes:
    specification = network.specification
    header = {
        "version": VERSION,
        "architecture": to_object(specification.architecture),
        "letters": specification.letters,
        "classes": specification.classes,
        "longest": specification.longest,
    }
    tensors = {
        name: weight.detach().cpu().contiguous()
        for name, weight in network.state_dict().items()
    }
    text = json.dumps(header, sort_keys=True, separators=(",", ":"))
    return bytes(safetensors.torch.save(tensors, {TRAINED_KEY: text}))


def _restore(text: str, tensors: Mapping[str, Tensor]) -> Network:
    specification = _specification(text)
    if isinstance(specification.architecture, Derived):
        raise _Damaged("compiled networks are kept in model files")
    # Before anything of that size is made.
    if parameters(specification) != sum(t.numel() for t in tensors.values()):
        raise _Damaged("its weights are not those of its architecture")
    network = assemble(specification)
    try:
        network.load_state_dict(dict(tensors))
    except RuntimeError:
        raise _Damaged("its weights are not those of its architecture") from None
    return network


def _specification(text: str) -> Specification:
    try:
        header: dict[str, Any] = strict_json.read(text)
        if header["version"] != VERSION:
            raise _Damaged(
                f"it has version {header['version']!r}, and this Krohn reads {VERSION}"
            )
        architecture = from_object(header["architecture"])
        sizes = (header["letters"], header["classes"], header["longest"])
        return Specification(architecture, *sizes)
    except (ValueError, LookupError, TypeError, KrohnError) as error:
        raise _Damaged(f"its header is malformed ({error})") from None


def model_file(network: Compiled) -> ModelFile:
    """The file of a compiled network with the weights that it has now.

    What it claims and how it was built is kept: it is for `krohn verify` to say whether
    that still holds. What was proved is not.

    Raises:
        KrohnError: If a weight is infinite or not a number.
    """
    body, file = network.model.network, network.model.file
    dtype = str(next(body.parameters()).dtype).removeprefix("torch.")
    stored, precision = {"dtype": dtype}, PRECISIONS[dtype]
    header = {
        **file.header,
        "architecture": {**file.header["architecture"], **stored},
        "claim": {**file.header["claim"], **stored},
        "evidence": None,
    }
    tensors = {
        name: tensor if is_index(name) else precision.round(tensor)
        for name, tensor in file.tensors.items()
    }
    before = ModelFile(header, tensors, precision)
    return running_file(before, body, plain_network(before))
