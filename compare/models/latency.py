"""How long networks take, measured in turn."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

import torch

from krohn.algebra.errors import KrohnError
from krohn.compare.models.network import Network
from krohn.network.evaluation_mode import evaluation_mode


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
    """Wait until the device has done its work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
