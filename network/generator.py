"""Generators: attention, LayerNorm and an MLP give the law of the next letter.

layer(X) = g(LN_C(A X V) + X) with A = softmax(mask + X Q (X K)ᵀ) (thesis, section 3.6,
there with columns instead of rows). There is no residual connection around g.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from krohn.network import ModelFileError, modelfile
from krohn.network.architecture import kind_of
from krohn.network.forward_pass import in_full
from krohn.network.modelfile import ModelFile
from krohn.network.running_file import torch_tensors
from krohn.program.architectures import generator as declared


class LayerNorm(nn.Module):
    """LN_C(a) = Pa / max(|Pa|, C), P subtracting the mean; at least in float32."""

    def __init__(self, constant: Tensor) -> None:
        super().__init__()
        self.constant = nn.Parameter(constant, requires_grad=False)

    def forward(self, a: Tensor) -> Tensor:
        """``(…, d)`` to the same."""
        wide = a.to(torch.promote_types(a.dtype, torch.float32))
        centred = wide - wide.mean(dim=-1, keepdim=True)
        length = torch.linalg.vector_norm(centred, dim=-1, keepdim=True)
        return (centred / torch.maximum(length, self.constant.to(wide.dtype))).to(
            a.dtype
        )


NORMS: Mapping[str, Callable[[Mapping[str, Tensor], str], nn.Module]] = {
    "layer": lambda tensors, at: LayerNorm(tensors[f"{at}.constant"]),
    "none": lambda tensors, at: nn.Identity(),
}


class Layer(nn.Module):
    """One layer: a head, its normalisation, and the affine maps of g with ReLUs."""

    def __init__(
        self, tensors: Mapping[str, Tensor], at: str, layer: declared.Layer
    ) -> None:
        super().__init__()
        maps = len(layer.mlp) + 1
        self.query, self.key, self.value = (
            nn.Parameter(tensors[f"{at}.attention.{name}"], requires_grad=False)
            for name in ("query", "key", "value")
        )
        self.norm = NORMS[layer.norm](tensors, at)
        self.weights, self.biases = (
            nn.ParameterList(
                nn.Parameter(tensors[f"{at}.mlp.{j}.{part}"], requires_grad=False)
                for j in range(maps)
            )
            for part in ("weight", "bias")
        )

    def attention(self, x: Tensor) -> Tensor:
        """Weights ``(batch, positions, positions)``; each row sums to 1."""
        scores = (x @ self.query) @ (x @ self.key).transpose(1, 2)
        future = torch.ones_like(scores[0], dtype=torch.bool).triu(1)
        return scores.masked_fill(future, -torch.inf).softmax(dim=2)

    def forward(self, x: Tensor) -> Tensor:
        """``(batch, positions, d)`` to ``(batch, positions, width of the last map)``."""
        y: Tensor = self.norm(self.attention(x) @ (x @ self.value)) + x
        for j, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            y = (torch.relu(y) if j else y) @ weight + bias
        return y


class Generator(nn.Module):
    """A network that says how likely each letter is to come next.

    Attributes:
        letters: The letters by name.
        length: The longest prefix it is claimed for.
        header: Everything that the file states about it.

    Raises:
        ModelFileError: If the file holds another kind of network.
    """

    def __init__(self, file: ModelFile) -> None:
        super().__init__()
        shape = file.architecture
        kind = kind_of(shape)
        if kind.answers != "laws":
            raise ModelFileError(f"this is {kind.called}, not a generator")
        tensors = torch_tensors(file)
        self.header: Mapping[str, Any] = file.header
        self.letters = file.claim.letters
        if len(self.letters) != shape.vocabulary:
            raise ModelFileError("is damaged: its machine and its tensors differ")
        length = file.claim.length
        assert length is not None
        self.length = length
        self.bracket = nn.Parameter(tensors["embed.letter"], requires_grad=False)
        self.initial = nn.Parameter(tensors["embed.start"], requires_grad=False)
        self.register_buffer("moves", torch.tensor(shape.moves))
        self.layers = nn.ModuleList(
            Layer(tensors, f"layers.{i}", layer) for i, layer in enumerate(shape.layers)
        )

    def embed(self, tokens: Tensor) -> Tensor:
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
        depth = torch.zeros_like(tokens)
        if self.bracket.shape[1] > 1:
            depth = self.moves[tokens].cumsum(dim=1)  # type: ignore[index]
            if ((depth < 0) | (depth >= self.bracket.shape[1])).any():
                raise ModelFileError("a depth is out of range: the word is illegal")
        start = self.initial.expand(len(tokens), 1, -1)
        return torch.cat([start, self.bracket[tokens, depth]], dim=1)

    @in_full
    def forward(self, tokens: Tensor) -> Tensor:
        """Laws ``(batch, time + 1, letters)``, before the first and after each letter."""
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return x

    @in_full
    def attention(self, tokens: Tensor) -> list[Tensor]:
        """For each layer its weights ``(batch, time + 1, time + 1)``."""
        x, maps = self.embed(tokens), []
        for layer in self.layers:
            maps.append(layer.attention(x))  # type: ignore[operator]
            x = layer(x)
        return maps


def load(path: str | Path) -> Generator:
    """Open the model file of a generator.

    Raises:
        ModelFileError: If the file cannot be read or holds another kind of network.
    """
    return Generator(modelfile.read(path))
