"""The cost of networks: weights, depth and arithmetic by formula, and time as measured."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models.architecture import (
    Architecture,
    Derived,
    EfficientGpt,
    Gpt,
    Lstm,
    RecurrentLayer,
    Rnn,
    Specification,
)
from krohn.instruments.compare.models.compiled import Compiled
from krohn.instruments.compare.models.gpt import GptNetwork
from krohn.instruments.compare.models.network import (
    LstmNetwork,
    Network,
    RecurrentLayerNetwork,
    RnnNetwork,
)
from krohn.network.architecture import kind_of
from krohn.network.attention_cost import parts
from krohn.network.forward_pass import evaluation_mode

# The cost of networks: weights, depth and arithmetic, by formula.


@dataclass(frozen=True)
class Cost:
    """The cost of a network for one word.

    Attributes:
        length: Of the word.
        parameters: Numbers in its weights; a fixed table of positions is no weight.
        trainable: How many of these may learn.
        nonzero: How many are not 0.
        depth: Blocks with attention, or recurrent layers.
        steps: How many of these follow one another: depth, times the length if they are
            recurrent; None where that depends on the word, as with a scratchpad.
        flops: Operations of all matrix products, two for each multiply-add; attention
            compares all pairs of positions that it shows. None likewise.
    """

    length: int
    parameters: int
    trainable: int
    nonzero: int
    depth: int
    steps: int | None
    flops: int | None


def cost(network: Network, length: int) -> Cost:
    """The cost of a network for a word of some length."""
    weights = list(network.parameters())
    return Cost(
        length=length,
        parameters=sum(w.numel() for w in weights),
        trainable=sum(w.numel() for w in weights if w.requires_grad),
        nonzero=sum(int(w.count_nonzero()) for w in weights),
        depth=depth(network),
        steps=_steps(network, length),
        flops=flops(network, length),
    )


def parameters(specification: Specification) -> int:
    """How many numbers the weights of a GPT-2, an LSTM or an RNN will hold.

    Raises:
        TypeError: If it is another one: a compiled network is counted from its file.
    """
    architecture = specification.architecture
    letters, classes = specification.letters, specification.classes
    if isinstance(architecture, Gpt):
        width, inner = architecture.width, architecture.inner
        learned = specification.longest * (architecture.positions == "learned")
        attention = _affine(width, 3 * width) + _affine(width, width)
        mlp = _affine(width, inner) + _affine(inner, width)
        block = attention + mlp + 4 * width  # two layer norms
        embedding = (letters + learned) * width
        blocks = architecture.depth * block + 2 * width
        return embedding + blocks + _affine(width, classes)
    if isinstance(architecture, Derived):
        raise TypeError("a compiled network is described by its file")
    hidden = architecture.hidden
    if isinstance(architecture, Rnn | RecurrentLayer):
        layer = _affine(letters, hidden) + _affine(hidden, hidden)
        return _gates(architecture) * layer + _affine(hidden, classes)
    first = 4 * (_affine(architecture.embedding, hidden) + _affine(hidden, hidden))
    rest = (architecture.layers - 1) * 8 * _affine(hidden, hidden)
    embedding = letters * architecture.embedding
    return embedding + first + rest + _affine(hidden, classes)


def flops(network: Network, length: int) -> int | None:
    """Operations of all matrix products for a word; None if the word decides."""
    if isinstance(network, Compiled):
        return _of_compiled(network.model.file.architecture, length)
    architecture = network.specification.architecture
    classes = network.specification.classes
    if isinstance(network, GptNetwork) and isinstance(architecture, Gpt):
        width = architecture.width
        each = width * (4 * width + 2 * architecture.inner) + _meeting(
            architecture, length
        )
        return 2 * length * (architecture.depth * each + width * classes)
    if isinstance(network, LstmNetwork) and isinstance(architecture, Lstm):
        hidden = architecture.hidden
        read = architecture.embedding + (2 * architecture.layers - 1) * hidden
        return 2 * length * hidden * (4 * read + classes)
    if isinstance(network, RnnNetwork | RecurrentLayerNetwork):
        hidden, read = network.head.in_features, network.specification.letters
        gates = _gates(architecture)
        return 2 * length * hidden * (gates * (read + hidden) + classes)
    return None


def depth(network: Network) -> int:
    """Blocks with attention, or recurrent layers."""
    if isinstance(network, Compiled):
        blocks = getattr(network.model.file.architecture, "blocks", None)
        return 1 if blocks is None else sum(block.heads > 0 for block in blocks)
    architecture = network.specification.architecture
    assert not isinstance(architecture, Derived)
    return architecture.depth if isinstance(architecture, Gpt) else architecture.layers


def _steps(network: Network, length: int) -> int | None:
    if isinstance(network, Compiled):
        again = kind_of(network.model.file.architecture).recurrent
        return depth(network) * (length if again else 1)
    if isinstance(network, GptNetwork):
        return depth(network)
    recurrent = isinstance(network, LstmNetwork | RnnNetwork | RecurrentLayerNetwork)
    return depth(network) * length if recurrent else None


def _gates(architecture: Architecture) -> int:
    """How many rows the weights of a layer have for each unit."""
    cell = architecture.cell if isinstance(architecture, RecurrentLayer) else "rnn"
    return {"rnn": 1, "gru": 3, "lstm": 4}[cell]


def _of_compiled(shape: Any, length: int) -> int:
    """Of a compiled network: blocks read BOS too, the read-out only letters."""
    if kind_of(shape).recurrent:
        hidden = shape.hidden
        if entries := getattr(shape, "entries", None):
            products = sum(n for name, n in entries.items() if name[:5] != "input")
            return int(2 * length * products)
        return int(2 * length * hidden * (hidden + shape.outputs))
    return sum(parts(shape, length))


def _meeting(architecture: Gpt, length: int) -> int:
    """Multiply-adds of a block of heads at a position, on average over masked halves.

    Linear heads keep their sums; sparse ones look at their window and the ends of blocks.
    """
    width = architecture.width
    if not isinstance(architecture, EfficientGpt):
        return 2 * length * width
    if architecture.attention == "linear":
        return 2 * width * (width // architecture.heads + 1)
    block = architecture.block
    return 2 * width * min(length, block + length // block)


def _affine(before: int, after: int) -> int:
    return before * after + after


# How long networks take, measured in turn.


@dataclass(frozen=True)
class Latency:
    """How long a network takes for a batch of words.

    Attributes:
        seconds: The median of all rounds.
        ratio: The median, over rounds, of its time over the first network's.
    """

    seconds: float
    ratio: float


def latencies(
    networks: Mapping[str, Network], length: int, batch: int = 1, rounds: int = 15
) -> dict[str, Latency]:
    """The latency of each network, on the device where it is, without gradients.

    In each round every network runs once, so that a slower machine slows all
    of them; a first round is not counted. The time does not depend on the letters.

    Args:
        networks: By name; ratios are to the first.
        length: Of the words.
        batch: How many are read at once.
        rounds: How often each is timed.

    Raises:
        KrohnError: If there are no networks or rounds, or one cannot read such words.
    """
    if not networks or rounds < 1:
        raise KrohnError("latency is that of at least one network in one round")
    times: dict[str, list[float]] = {name: [] for name in networks}
    with torch.inference_mode():
        for _ in range(rounds + 1):
            for name, network in networks.items():
                times[name].append(_once(network, batch, length))
    counted = {name: taken[1:] for name, taken in times.items()}
    first = next(iter(counted.values()))
    return {
        name: Latency(
            median(taken),
            median(t / base for t, base in zip(taken, first, strict=True)),
        )
        for name, taken in counted.items()
    }


def _once(network: Network, batch: int, length: int) -> float:
    device = next(network.parameters()).device
    letters = torch.zeros((batch, length), dtype=torch.int64, device=device)
    with evaluation_mode(network):
        _wait(device)
        began = time.perf_counter()
        network(letters)
        _wait(device)
        return time.perf_counter() - began


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
