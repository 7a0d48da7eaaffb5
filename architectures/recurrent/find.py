"""Evidence of RNNs: their hidden states, each exact."""

from typing import Any

from krohn.architectures.recurrent import check
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.simulation import machine_of
from krohn.verify.search.exact_walk import Limits, walk
from krohn.verify.search.simulations import simulation_evidence

# A network that counts has no end of hidden states: to notice it takes some seconds.
MOST_NODES, MOST_LETTERS, MOST_TERMS = 200_000, 4_000, 2**29


def simulation(model: Model, machine: Machine | None) -> list[dict[str, Any]]:
    """A finite simulation.

    Raises:
        Refused: If none is found.
        WrongWord: With a shortest word, if a read-out is wrong.
    """
    network = check.open_network(model)
    machine = machine_of(model, machine, network.letters.shape[1])
    return [
        {"simulation": simulation_evidence(walk(network, machine, limits(network)))}
    ]


def limits(network: check.Network) -> Limits:
    """How far the hidden states of a network are followed."""
    what = "the network has too many hidden states"
    return Limits(MOST_NODES, most_letters(len(network.bias)), MOST_TERMS, what)


def most_letters(units: int) -> int:
    """After how many letters a network may reach a hidden state that is new."""
    return max(MOST_LETTERS, units)
