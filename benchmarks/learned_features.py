"""A layer of attention in the shape of Jiang and Li, all of which is learned."""

from itertools import pairwise

import torch
from torch import Tensor

from krohn.architectures.attention_layer.engine import AttentionLayer
from krohn.instruments.compare.measures.attention_spectrum import Head, of_layer
from krohn.network.precision import FloatArray

FEATURES, UNITS = 32, (128, 128)
BATCH, RATE = 64, 3e-3
SLOPE = 20.0
"""Of the first layer at the start. With 1, which is torch's, the error of every network
stops at that of the slowest sines, whatever its width."""


def layer(length: int, width: int, seed: int) -> AttentionLayer:
    """A fresh layer with torch's usual start, but that the first layer bends everywhere.

    F̂ is affine, since F is the identity.
    """
    generator = torch.Generator().manual_seed(seed)

    def uniform(*shape: int, fan: int) -> Tensor:
        return (2 * torch.rand(*shape, generator=generator) - 1) * fan**-0.5

    tensors = {}
    chains = {"features": (1, *UNITS, FEATURES), "output": (FEATURES, 1)}
    for name, widths in chains.items():
        for j, (first, last) in enumerate(pairwise(widths)):
            tensors[f"{name}.{j}.weight"] = uniform(first, last, fan=first)
            tensors[f"{name}.{j}.bias"] = uniform(last, fan=first)
    steep = SLOPE * uniform(1, UNITS[0], fan=1)
    bends = torch.rand(UNITS[0], generator=generator)
    tensors |= {"features.0.weight": steep, "features.0.bias": -steep[0] * bends}
    for part, size in (("query", width), ("key", width), ("value", FEATURES)):
        tensors[f"attention.{part}"] = uniform(FEATURES, size, fan=FEATURES)
    shape = {
        **{"kind": "attention-layer", "causal": False, "memory": 0, "codes": 0},
        **{"length": length, "inputs": 1, "outputs": 1, "output_units": []},
        **{"features": FEATURES, "features_units": list(UNITS)},
        **{"d_qk": width, "d_v": FEATURES},
    }
    return AttentionLayer(shape, tensors).requires_grad_(True)


def train_layer(
    inputs: FloatArray, wanted: FloatArray, width: int, seed: int, steps: int
) -> AttentionLayer:
    """A layer after training by Adam on mean squares; the rate rises and falls once."""
    network = layer(inputs.shape[1], width, seed)
    read, targets = as_tensor(inputs), as_tensor(wanted)
    adam = torch.optim.Adam(network.parameters(), lr=RATE)
    once = torch.optim.lr_scheduler.OneCycleLR(adam, RATE, total_steps=steps)
    batches = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        rows = torch.randint(len(inputs), (BATCH,), generator=batches)
        loss = (network(read[rows]) - targets[rows]).square().mean()
        adam.zero_grad()
        torch.autograd.backward(loss)
        adam.step()
        once.step()
    return network


def as_tensor(numbers: FloatArray) -> Tensor:
    """``(count, τ)`` numbers as ``(count, τ, 1)`` of float32."""
    return torch.from_numpy(numbers).float()[..., None]


def answers(network: AttentionLayer, inputs: FloatArray) -> FloatArray:
    """``(count, τ)`` outputs."""
    with torch.no_grad():
        said: FloatArray = network(as_tensor(inputs))[..., 0].double().numpy()
    return said


def head_of(network: AttentionLayer, inputs: FloatArray) -> Head:
    """What its head does with inputs, without what the softmax does not see."""
    with torch.no_grad():
        return of_layer(network, as_tensor(inputs)).centred_head
