"""State space models: each layer as a finite machine, then all layers beside the machine.

Theorem D9 of docs/proofs/state_space.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.architectures.state_space.check_layers import (
    MOST_TERMS,
    Finite,
    Layer,
    Reached,
    check_reached,
    finite,
    open_layers,
    sums,
)
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Format
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.simulation import (
    check_simulation,
    decode_array,
    make_statement,
)

ONE_LETTER = "a layer does not say one letter"


@dataclass(frozen=True)
class Stack:
    """All layers as finite machines; a node is a class of each.

    Attributes:
        layers: The layers.
        nodes: ``(nodes, layers)``.
    """

    layers: Sequence[Finite]
    nodes: IntArray

    @property
    def start(self) -> IntArray:
        """``(1, layers)``: the classes before a word."""
        return np.array([[layer.start for layer in self.layers]])

    @property
    def reads(self) -> int:
        """How many letters there are."""
        return int(self.layers[0].says.shape[1])

    @property
    def cost(self) -> tuple[int, int]:
        """Of following one tuple."""
        numbers = self.reads * len(self.layers)
        return 2**10 * numbers, numbers

    def follow(
        self, at: IntArray, rights: Sequence[IntArray]
    ) -> tuple[IntArray, FloatArray]:
        """The classes after each letter; and how far ahead the right logit is then."""
        letters = self.reads
        symbol = np.tile(np.arange(letters), len(at))
        before, after = self.nodes[at].repeat(letters, axis=0), []
        for i, layer in enumerate(self.layers):
            demand(symbol >= 0, ONE_LETTER)
            after.append(layer.moves[before[:, i], symbol])
            symbol = layer.says[before[:, i], symbol]
        margin = self.layers[-1].margin
        return np.stack(after, axis=1), np.where(symbol == rights[1], margin, -np.inf)

    def inside(self, images: IntArray, rows: IntArray, at: IntArray) -> bool:
        """Whether tuples are those of nodes."""
        return np.array_equal(images[rows], self.nodes[at])


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """Every layer as a finite machine, and the machine beside them.

    Raises:
        Refused: If the evidence does not show it, something may be rounded in more than
            one way, or the margin is not as claimed.
    """
    machine, length, layers = read_claim(model, machine)
    details = said["simulation"]
    demand(len(details["layers"]) == len(layers), "the evidence is about other layers")
    reached_sets = [
        sums(layer, model.format, length)
        or check_reached(layer, model.format, length, each)
        for layer, each in zip(layers, details["layers"], strict=True)
    ]
    stack = stack_layers(model.format, layers, reached_sets, details)
    demand(
        all(x.sure for x in stack.layers),
        "a number may be rounded in more than one way",
    )
    tuples, margin = check_simulation(stack, details, machine, length)
    details = {
        "argument": "layers",
        "values": [x.values for x in stack.layers],
        "classes": [len(x.says) for x in stack.layers],
        "tuples": tuples,
    }
    return make_statement(model, details, margin)


def read_claim(
    model: Model, machine: Machine | None
) -> tuple[Machine, int | None, list[Layer]]:
    """The machine, the longest word and the layers.

    Raises:
        Refused: If the file claims something else.
    """
    length = model.length
    machine, layers = machine or model.machine, open_layers(model)
    demand(len(machine.transitions) == len(layers[0].decay), "other letters")
    demand(machine.transitions >= 0, "a transition leads nowhere")
    return machine, length, layers


def stack_layers(
    form: Format, layers: Sequence[Layer], found: Sequence[Reached], told: Any = None
) -> Stack:
    """The layers as finite machines, with the tuples of evidence, or with the first.

    Raises:
        Refused: If they are too large, or a tuple has no such class.
    """
    each, last = list[Finite](), len(layers) - 1
    for i, (layer, states) in enumerate(zip(layers, found, strict=True)):
        each.append(finite(layer, form, states, i == last))
        work = sum(x.work for x in each)
        demand(work <= 2 * MOST_TERMS, "the layers are too large together")
    nodes = np.array([[x.start for x in each]])
    if told is not None:
        nodes = decode_array(told["nodes"]).reshape(-1, len(each))
    known = (nodes >= 0) & (nodes < [len(x.says) for x in each])
    demand(known, "a layer has no such class")
    return Stack(each, nodes)
