"""The ideal network evaluated in fractions, to replay an answer of the solver.

It shares no code with the terms that the solver sees.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.verify.errors import Rejected

Rationals = npt.NDArray[np.object_]
Layers = tuple[tuple[Rationals, Rationals], ...]
Choose = Callable[[int, int, int, Sequence[Fraction]], int]
"""The position that a head takes: from block, head, position and its scores."""

_fraction = np.frompyfunc(Fraction, 1, 1)
_relu = np.frompyfunc(lambda value: max(value, Fraction(0)), 1, 1)


def fractions(values: FloatArray) -> Rationals:
    """Every float as the rational number that it is.

    Raises:
        Rejected: If one is infinite or not a number.
    """
    if not np.isfinite(values).all():
        raise Rejected("the file has entries that are not finite")
    return np.asarray(_fraction(values), dtype=object)


def feed(layers: Layers, x: Rationals) -> Rationals:
    """Affine layers with ReLUs between them: ``(inputs,)`` to ``(outputs,)``."""
    for weight, bias in layers[:-1]:
        x = np.asarray(_relu(x @ weight + bias))
    return np.asarray(x @ layers[-1][0] + layers[-1][1])


def layers_of(file: ModelFile, block: int) -> Layers:
    """The affine layers of the MLP of a block.

    Raises:
        Rejected: If it has units that are no ReLUs.
    """
    shape = file.architecture.blocks[block]
    if any((names != "relu").any() for names in shape.activations):
        raise Rejected(
            "sines and GeLUs are no rational functions; SMT is for ReLUs only"
        )
    at = f"blocks.{block}.mlp"
    count = len(shape.mlp) + 1 if shape.mlp else 0
    parts = [(f"{at}.{j}.weight", f"{at}.{j}.bias") for j in range(count)]
    return tuple(
        (fractions(file.tensors[w]), fractions(file.tensors[b])) for w, b in parts
    )


def mask_of(file: ModelFile, block: int) -> Rationals:
    """``(d,)``: how much of its input each dimension keeps beside the MLP."""
    ones = np.ones(file.tensors["embed.token"].shape[1])
    return fractions(file.tensors.get(f"blocks.{block}.mlp.residual", ones))


def after_mlp(layers: Layers, mask: Rationals, x: Rationals) -> Rationals:
    """``(d,)``: the stream after an MLP, which may have no layers, and its mask."""
    return np.asarray(mask * x + (feed(layers, x) if layers else 0))


def logits(file: ModelFile, word: Sequence[int], choose: Choose) -> list[Rationals]:
    """The logits of the ideal network after each letter of a word.

    Args:
        file: A Transformer with ReLUs.
        word: Letter indices.
        choose: Which position a head takes; it is given all scores up to its own
            position, and must take one of the largest.

    Raises:
        Rejected: If the network has sines, or ``choose`` takes a smaller score.
    """
    token = fractions(file.tensors["embed.token"])
    position = fractions(file.tensors["embed.position"])
    tokens = [len(token) - 1, *word]
    stream = [token[a] + position[t] for t, a in enumerate(tokens)]
    for block, shape in enumerate(file.architecture.blocks):
        if shape.heads:
            stream = list(_attend(file, block, stream, choose))
        layers, mask = layers_of(file, block), mask_of(file, block)
        stream = [after_mlp(layers, mask, x) for x in stream]
    weight, bias = (fractions(file.tensors[f"unembed.{n}"]) for n in ("weight", "bias"))
    return [x @ weight + bias for x in stream[1:]]


def _attend(
    file: ModelFile, block: int, stream: list[Rationals], choose: Choose
) -> Iterator[Rationals]:
    names = ("query", "key", "value", "out")
    parts = [fractions(file.tensors[f"blocks.{block}.attention.{n}"]) for n in names]
    for t, x in enumerate(stream):
        added = np.zeros_like(x)
        for head, (query, key, value, out) in enumerate(zip(*parts, strict=True)):
            scores = [(x @ query) @ (y @ key) for y in stream[: t + 1]]
            taken = choose(block, head, t, scores)
            if scores[taken] != max(scores):
                raise Rejected("the solver's head does not take a largest score")
            added = added + stream[taken] @ value @ out
        yield x + added
