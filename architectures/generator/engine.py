"""Generators, as torch modules; what they compute `krohn.network.architectures` says."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from krohn.architectures.generator import meaning as meaning
from krohn.network import ModelFileError, modelfile
from krohn.network.architecture import kind_of
from krohn.network.forward_pass import in_full
from krohn.network.meaning.tensors import CAREFUL, Tensors, points, with_care
from krohn.network.modelfile import ModelFile
from krohn.network.named_tensors import NamedTensors
from krohn.network.running_file import torch_tensors


class Generator(NamedTensors):
    """A network that says how likely each letter is to come next.

    Attributes:
        letters: The letters by name.
        length: The longest prefix it is claimed for.
        header: Everything that the file states about it.

    Raises:
        ModelFileError: If the file holds another kind of network.
    """

    def __init__(self, file: ModelFile) -> None:
        super().__init__(torch_tensors(file))
        self.shape = shape = file.architecture
        kind = kind_of(shape)
        if kind.answers != "laws":
            raise ModelFileError(f"this is {kind.called}, not a generator")
        self.header: Mapping[str, Any] = file.header
        self.letters = file.claim.letters
        if len(self.letters) != shape.vocabulary:
            raise ModelFileError("is damaged: its machine and its tensors differ")
        length = file.claim.length
        assert length is not None
        self.length = length
        self.register_buffer("moves", torch.tensor(shape.moves))
        _ = self.net  # or the tensors are those of another one

    @property
    def net(self) -> meaning.Generator[Tensor]:
        """The network as data, of the parameters as they are now."""
        return meaning.Generator.of(self.shape, self.tensors)

    def embed_letters(self, tokens: Tensor) -> Tensor:
        """``(batch, time)`` letters to ``(batch, time + 1, d)``, the start in front.

        Where the file has a row for each depth (the minimal first layer), a letter is
        embedded together with the depth after it.

        Raises:
            ModelFileError: If there are more letters than the claim allows, or a depth
                is out of range.
        """
        if tokens.shape[1] > self.length:
            raise ModelFileError(
                f"this model is for words of up to {self.length} letters; "
                f"compile it again with a larger length (-T {tokens.shape[1]})"
            )
        net, depth = self.net, torch.zeros_like(tokens)
        if net.letter.shape[1] > 1:
            depth = self.moves[tokens].cumsum(dim=1)  # type: ignore[index]
            if ((depth < 0) | (depth >= net.letter.shape[1])).any():
                raise ModelFileError("a depth is out of range: the word is illegal")
        start = net.start.expand(len(tokens), 1, -1)
        return torch.cat([start, net.letter[tokens, depth]], dim=1)

    @in_full
    def forward(self, tokens: Tensor) -> Tensor:
        """Laws ``(batch, time + 1, letters)``, before the first and after each letter."""
        net, x = self.net, self.embed_letters(tokens)

        def laws(o: Tensors) -> Tensor:
            return torch.as_tensor(meaning.through(o, net, x, points(x))[0])

        return with_care(laws)

    @in_full
    def attention(self, tokens: Tensor) -> list[Tensor]:
        """For each layer its weights ``(batch, time + 1, time + 1)``."""
        x = self.embed_letters(tokens)
        patterns: list[Tensor]
        _, patterns = meaning.through(CAREFUL, self.net, x, points(x))
        return patterns


def load(path: str | Path) -> Generator:
    """Open the model file of a generator.

    Raises:
        ModelFileError: If the file cannot be read or holds another kind of network.
    """
    return Generator(modelfile.read(path))
