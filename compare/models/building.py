"""From an architecture to a network with fresh weights."""

import torch

from krohn.compare.models.architecture import (
    Architecture,
    Derived,
    Gpt,
    Rnn,
    Specification,
)
from krohn.compare.models.compiled import open_compiled
from krohn.compare.models.gpt import GptNetwork
from krohn.compare.models.network import Network
from krohn.compare.models.recurrent import LstmNetwork, RnnNetwork


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
        if isinstance(architecture, Rnn):
            return RnnNetwork(specification, architecture)
        return LstmNetwork(specification, architecture)
