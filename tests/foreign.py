"""Model files that Krohn did not compile: a head made by hand, and no Program."""

from typing import Any

import numpy as np
import torch
from torch import nn

from krohn.algebra import zoo
from krohn.network.architecture import expected_shapes
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.network.transformer import Transformer

FLIP_FLOP = zoo.machine("FlipFlop")  # letters ⊥, 1 and 2; it starts as after 1
VALUE, WRITES, ONE, PLACE, READ, SIZE = range(6)


def flip_flop(
    length: int, sharpness: float, kappa: float = 0.0, scale: float = 64.0
) -> ModelFile:
    """One head that looks for the latest write, at positions t/scale.

    Scores are ``sharpness·scale·(p_i·[j writes] + p_j + kappa·p_i·p_j)``: a position loses
    ``sharpness`` to the next one. Only the letter 2 has the value 1, so that what is read
    is the weight on letters 2; above one half the network says so.
    """
    token = np.zeros((4, SIZE))
    token[:, ONE] = 1.0
    token[1, WRITES] = token[2, WRITES] = token[3, WRITES] = 1.0
    token[2, VALUE] = 1.0
    position = np.zeros((length + 1, SIZE))
    position[:, PLACE] = np.arange(length + 1) / scale
    query, key = np.zeros((1, SIZE, 3)), np.zeros((1, SIZE, 3))
    query[0, PLACE, 0] = query[0, ONE, 1] = query[0, PLACE, 2] = 1.0
    key[0, WRITES, 0] = key[0, PLACE, 1] = 1.0
    key[0, PLACE, 2] = kappa
    value, out = np.zeros((1, SIZE, 1)), np.zeros((1, 1, SIZE))
    value[0, VALUE, 0] = out[0, 0, READ] = 1.0
    weight = np.zeros((SIZE, 2))
    weight[READ] = [-1.0, 1.0]
    tensors = {
        "embed.token": token,
        "embed.position": position,
        "blocks.0.attention.query": query * sharpness * scale,
        "blocks.0.attention.key": key,
        "blocks.0.attention.value": value,
        "blocks.0.attention.out": out,
        "unembed.weight": weight,
        "unembed.bias": np.array([0.5, -0.5]),
    }
    return ModelFile(header(length), tensors, PRECISIONS["float64"])


def header(length: int) -> dict[str, Any]:
    """The header of such a file: its shape and the names of letters and states."""
    block = {"heads": 1, "d_qk": 3, "d_v": 1, "mlp": []}
    return {
        "architecture": {
            "kind": "transformer",
            "dtype": "float64",
            "strict": True,
            "d_model": SIZE,
            "vocabulary": 4,
            "positions": length + 1,
            "outputs": 2,
            "blocks": [block],
        },
        "machine": {"letters": list(FLIP_FLOP.letters), "states": ["1", "2"]},
        "claim": {},
    }


def trained(length: int, steps: int, seed: int = 0) -> ModelFile:
    """A block of two heads in the plain runtime, fitted to random words of a flip-flop."""
    shape = header(length)["architecture"]
    block = {"heads": 2, "d_qk": 8, "d_v": 8, "mlp": [32]}
    shape |= {"d_model": 16, "dtype": "float32", "blocks": [block]}
    torch.manual_seed(seed)
    tensors = {
        name: torch.randn(size) * (0.3 if len(size) > 1 else 0.0)
        for name, size in expected_shapes(shape).items()
    }
    # The parameters share their memory with these tensors.
    network = Transformer(shape, tensors).requires_grad_(True)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        words = rng.integers(3, size=(64, length))
        states = FLIP_FLOP.semiautomaton.trace(words, FLIP_FLOP.start)
        logits = network(torch.from_numpy(words)).flatten(0, 1)
        right = torch.from_numpy(states).flatten()
        optimiser.zero_grad()
        nn.functional.cross_entropy(logits, right).backward()
        optimiser.step()
    arrays = {n: t.detach().double().numpy() for n, t in tensors.items()}
    stated = {**header(length), "architecture": shape}
    return ModelFile(stated, arrays, PRECISIONS["float32"])


def head_of(file: ModelFile) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Query and key ``(d, k)`` of its head, and both embeddings."""
    at = file.tensors
    query, key = (at[f"blocks.0.attention.{n}"][0] for n in ("query", "key"))
    return query, key, at["embed.token"], at["embed.position"]
