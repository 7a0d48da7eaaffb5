"""What the networks of a comparison cost for a word, timed in turn."""

from collections.abc import Mapping

from compare.models import Network, cost, latencies
from krohn.comparison.model_results import Size


def sizes(networks: Mapping[str, Network], length: int) -> dict[str, Size]:
    """The sizes of networks, one for each model.

    Args:
        networks: By model; they take turns when they are timed.
        length: Of the word.
    """
    taken = latencies(networks, length)
    found = {}
    for key, network in networks.items():
        known = cost(network, length)
        seconds = taken[key].seconds
        found[key] = Size(known.parameters, known.depth, known.flops, seconds)
    return found
