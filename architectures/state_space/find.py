"""Evidence of state-space models: the states of each layer, and of all together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from krohn.architectures.state_space import check, check_layers
from krohn.program.domains import FloatArray, IntArray
from krohn.verify.checker.arithmetic import Format
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.search.exact_walk import Found, Limits, walk
from krohn.verify.search.simulations import simulation_evidence


@dataclass(frozen=True)
class Hidden:
    """The hidden states of a layer, for a walk.

    Attributes:
        net: The recurrence of the layer.
        nodes: ``(nodes, coordinates)``.
    """

    net: check_layers.Recurrence
    nodes: FloatArray

    @property
    def start(self) -> FloatArray:
        """The first hidden state."""
        return self.net.start.after

    @property
    def cost(self) -> tuple[int, int]:
        """Of a step from one hidden state."""
        return self.net.cost

    def follow(
        self, at: IntArray, rights: Sequence[IntArray]
    ) -> tuple[FloatArray, FloatArray]:
        """The hidden states after each letter; no logits are read."""
        images, ahead = replace(self.net, values=self.nodes).follow(at, rights)
        return images.after, ahead


LAYER = Limits(2**17, 5_000, 2**30, "a layer has too many hidden states")
"""Of all layers together as to letters: each takes a while of its own."""
TUPLES = Limits(2**18, 2**18, 2**35, "the layers have too many states together")


def walk_layer(
    layer: check_layers.Layer, form: Format, limits: Limits, length: int | None
) -> Found:
    """All hidden states of a layer before the last letter.

    Raises:
        Refused: If a limit is reached.
    """
    net = check_layers.Recurrence(form, layer, layer.start)
    return walk(Hidden(net, layer.start), net.machine, limits, length, last=False)


def layers(model: Model, machine: Machine | None) -> list[dict[str, Any]]:
    """A finite simulation of each layer that needs one, and of their stack.

    Raises:
        Refused: If none is found.
        WrongWord: With a shortest word, if a read-out is wrong.
    """
    machine, length, stack = check.read_claim(model, machine)
    evidence, reached, limits = list[Any](), list[check_layers.Reached](), LAYER
    for layer in stack:
        known = check_layers.sums(layer, model.format, length)
        if known is None:
            simulation = walk_layer(layer, model.format, limits, length)
            limits = limits._replace(letters=limits.letters - simulation.letters)
            known = check_layers.Reached(simulation.nodes, simulation.edges, 0)
            evidence.append(simulation_evidence(simulation, length is not None))
        else:
            evidence.append(None)
        reached.append(known)
    network = check.stack_layers(model.format, stack, reached)
    simulation = walk(network, machine, TUPLES, length)
    stacked = simulation_evidence(simulation, length is not None)
    return [{"simulation": {"layers": evidence, **stacked}}]
