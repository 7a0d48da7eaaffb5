"""Evidence of state space models for the kernel: all hidden states, layer by layer."""

from fractions import Fraction
from typing import Any

import numpy as np

from krohn.architectures.state_space.check import Stack, read_claim
from krohn.architectures.state_space.check_layers import (
    UNKNOWN,
    Finite,
    Layer,
    Reached,
    apply_table,
)
from krohn.architectures.state_space.find import LAYER, TUPLES, walk_layer
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import Refused, demand
from krohn.verify.checker.arithmetic import Format
from krohn.verify.checker.model_file import Model
from krohn.verify.errors import WrongWord
from krohn.verify.search.exact_walk import walk

MOST_POINTS, MOST_ANSWERS = 20_000, 2**20
"""The most hidden states of a layer, and of these with letters."""


def find_evidence(model: Model) -> dict[str, Any]:
    """The hidden states of each layer, and what its table tells apart beside the machine.

    Raises:
        Refused: If there are too many, or the network is wrong on a word.
    """
    machine, length, layers = read_claim(model, None)
    levels, stack = list[dict[str, Any]](), list[Finite]()
    few = LAYER._replace(nodes=MOST_POINTS)
    try:
        for layer in layers:
            found = walk_layer(layer, model.format, few, length)
            reached = Reached(found.nodes, found.edges, 0)
            of, finite = tell_apart(
                layer, model.format, reached, len(stack) == len(layers) - 1
            )
            stack.append(finite)
            levels.append(_level(found.nodes, found.depths, found.edges, of, finite))
        net = Stack(stack, np.array([[layer.start for layer in stack]]))
        joint = walk(net, machine, TUPLES._replace(nodes=MOST_POINTS), length)
    except WrongWord as wrong:
        raise Refused("the network is wrong on a word") from wrong
    parts = joint.nodes.tolist(), joint.states.tolist(), joint.depths.tolist()
    each = zip(*parts, map(_edges, joint.edges), strict=True)
    return {"levels": levels, "joints": [list(x) for x in each]}


def tell_apart(
    layer: Layer, form: Format, found: Reached, final: bool
) -> tuple[IntArray, Finite]:
    """The mode of each hidden state, and the layer as a machine of modes.

    Hidden states have one mode if the table says the same of them, and letters lead from
    them into one mode each; if letters do not, every hidden state has its own.
    """
    demand(found.moves.size <= MOST_ANSWERS, "the network has too many hidden states")
    says, margin, sure = apply_table(layer, found.values, form, final)
    of = np.unique(says, axis=0, return_inverse=True)[1].reshape(-1)
    known = np.flatnonzero((found.moves >= 0).all(axis=1))
    led = np.full((of.max() + 1, says.shape[1]), UNKNOWN)
    led[of[known]] = to = of[found.moves[known]]
    if (led[of[known]] != to).any():
        of, led = np.arange(len(says)), found.moves
    first = np.unique(of, return_index=True)[1]
    start = int(of[found.start])
    return of, Finite(says[first], led, start, len(of), margin, sure, 0)


def _level(
    nodes: FloatArray, depths: IntArray, edges: IntArray, of: IntArray, finite: Finite
) -> dict[str, Any]:
    """A layer as the kernel is told of it."""
    numbers = {x: Fraction(x) for x in np.unique(nodes).tolist()}
    unit = max(x.denominator.bit_length() - 1 for x in numbers.values())
    whole = {x: int(number * 2**unit) for x, number in numbers.items()}
    vectors = [[whole[x] for x in row] for row in nodes.tolist()]
    points = zip(vectors, of.tolist(), depths.tolist(), map(_edges, edges), strict=True)
    modes = zip(finite.says.tolist(), map(_edges, finite.moves), strict=True)
    return {
        "unit": -unit,
        "points": [list(x) for x in points],
        "modes": [
            [[None if r == UNKNOWN else r for r in says], to] for says, to in modes
        ],
    }


def _edges(row: IntArray) -> list[int]:
    """Where letters lead; nowhere where the last one is next."""
    return row.tolist() if (row >= 0).all() else []
