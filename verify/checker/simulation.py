"""Rule S: finitely many nodes that no letter leads out of.

Theorem S of docs/proofs/recurrent.md. Evidence gives the nodes and the edges between
them; each kind of network has a reader, which follows letters from nodes.
"""

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import demand
from krohn.program.inputs import Words
from krohn.verify.checker.arithmetic import LARGEST_FLOAT64, Interval
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model

MOST_WORK, CELLS = 2**38, 2**22
"""Operations that following all nodes may take; numbers that are looked at together."""
S = TypeVar("S")


class Reader(Protocol[S]):
    """A network, and the nodes of evidence: each holds some of what it can remember."""

    @property
    def start(self) -> S:
        """The memory before a word."""
        ...

    @property
    def reads(self) -> int:
        """How many letters there are."""
        ...

    @property
    def cost(self) -> tuple[int, int]:
        """Operations, and numbers of arrays, that it takes to follow one node."""
        ...

    def follow(self, at: IntArray, rights: Sequence[IntArray]) -> tuple[S, FloatArray]:
        """The memory after the letters of each edge, node by node.

        Args:
            at: The nodes.
            rights: What must be said in each node, after each letter, and so on; -1 where
                nothing is claimed.

        Returns:
            The images, one for each edge; and how far the right logits are ahead of every
            other one there, or in all nodes, at least.
        """
        ...

    def inside(self, images: S, rows: IntArray, at: IntArray) -> BoolArray | bool:
        """Whether some of the images lie in these nodes."""
        ...


def decode_array(text: Any, code: str = "<i4") -> Any:
    """An array of evidence: whole numbers of 32 bits, or (``<f8``) float64."""
    numbers = np.frombuffer(b64decode(text, validate=True), code)
    demand(np.isfinite(numbers), "a number of the evidence is not finite")
    return numbers.astype(np.int64 if code == "<i4" else np.float64)


def boxes(said: Any, width: int) -> Interval:
    """``(nodes, width)``: the boxes of evidence."""
    return Interval(*decode_array(said["nodes"], "<f8").reshape(2, -1, width))


def follow_letters(machine: Machine, states: IntArray, steps: int) -> list[IntArray]:
    """The states after no letter, after each one, and so on; -1 where none can come."""
    none = np.full((len(machine.transitions), 1), -1)
    ways, generations = np.hstack([machine.transitions, none]).T, [states]
    for _ in range(steps):
        generations.append(ways[generations[-1]].reshape(-1))
    return generations


def rights(machine: Machine, states: Sequence[IntArray]) -> list[IntArray]:
    """The answer that is right in each state; -1 for -1."""
    shows = np.append(machine.shows, -1)
    return [shows[each] for each in states]


def check_simulation(
    net: Reader[Any],
    said: Any,
    machine: Machine,
    length: int | None = None,
    steps: int = 1,
    last: bool = True,
) -> tuple[int, float]:
    """The nodes, and how far right logits are ahead on all words, at least (Theorem S).

    Args:
        net: The network, and what its nodes hold.
        said: The evidence: ``states`` of the machine, ``edges``, and if there is a longest
            word ``depths``: letters that lead to each node, at least.
        machine: The machine.
        length: The longest word; None for words of every length.
        steps: How many letters make an edge.
        last: Whether something is said after the last letter, too.

    Raises:
        Refused: If the evidence does not show it.
    """
    states, (cost, cells) = decode_array(said["states"]), net.cost
    edges = decode_array(said["edges"]).reshape(count := len(states), -1)
    known = (states >= 0) & (states < machine.transitions.shape[1])
    demand(known, "a node has no state")
    demand((edges >= -1) & (edges < count), "an edge leads nowhere")
    zero = np.zeros(1, np.int64)
    demand(states[0] == machine.start, "the first node has another state")
    demand(net.inside(net.start, zero, zero), "the first node does not hold the start")
    depths, end = np.zeros(count, np.int64), np.inf
    if length is not None:
        depths, end = decode_array(said["depths"]), length - 1
        demand(depths.shape == (count,) and depths[0] == 0, "the start has a depth")
    demand(count * cost <= MOST_WORK, "there are too many nodes")
    least, every = np.inf, np.flatnonzero(last | (depths < end))
    demand(np.delete(edges, every, axis=0) == -1, "an edge is beyond the last letter")
    for low in range(0, len(every), size := max(1, CELLS // cells)):
        at = every[low : low + size]
        after = follow_letters(machine, states[at], steps)
        images, ahead = net.follow(at, rights(machine, after))
        to, of = edges[at].reshape(-1), np.repeat(at, edges.shape[1])
        demand(to.shape == after[-1].shape, "there are other letters than edges")
        demand((to >= 0) | (after[-1] < 0) | (depths[of] >= end), "an edge is missing")
        rows = np.flatnonzero(to >= 0)
        to, of = to[rows], of[rows]
        demand(states[to] == after[-1][rows], "an edge leads to another state")
        demand(depths[to] <= depths[of] + 1, "a node is reached before its depth")
        demand(net.inside(images, rows, to), "a letter leads out of the nodes")
        least = np.minimum(least, ahead.min(initial=np.inf))  # NaN stays NaN
    return count, float(least)


def lead(said: Interval, right: IntArray) -> FloatArray:
    """``(rows,)``: how far the right logits are ahead of every other one, at least."""
    classes, rows = said.shape[-1], np.arange(len(right))
    demand((right >= 0) & (right < classes), "the network has no logit for a state")
    others = np.array(said.high)
    others[rows, right] = -np.inf
    ahead: Interval = Interval.of(said.low[rows, right]) - others.max(axis=1)
    return ahead.low


def prove_simulation(
    model: Model,
    said: Any,
    machine: Machine | None,
    opened: Callable[[Model, Any], Reader[Any]],
    steps: int = 1,
) -> Established:
    """That a recurrent network says the machine's state after each letter of every word.

    Args:
        model: The network.
        said: The evidence.
        machine: The machine; that of the file if absent.
        opened: The network that a file holds, with the nodes of evidence.
        steps: How many letters make an edge.

    Raises:
        Refused: If the evidence does not show it.
    """
    net = opened(model, evidence := said["simulation"])
    machine = machine_of(model, machine, net.reads)
    pairs, margin = check_simulation(net, evidence, machine, steps=steps)
    return make_statement(model, {"argument": "hidden states", "pairs": pairs}, margin)


def make_statement(model: Model, told: Mapping[str, Any], margin: float) -> Established:
    """The proved statement about a network that computes a machine, up to its claim."""
    words = Words(vars(model.claim.architecture)["vocabulary"], model.length)
    margin = min(margin, LARGEST_FLOAT64)
    return Established(model.format, words, told, margin=margin)


def machine_of(model: Model, machine: Machine | None, letters: int) -> Machine:
    """The machine that a recurrent network is claimed to compute, on every word.

    Raises:
        Refused: If the claim is another one.
    """
    demand(model.length is None, "an RNN has no longest word")
    machine = machine or model.machine
    demand(len(machine.transitions) == letters, "other letters")
    demand(machine.transitions >= 0, "a transition leads nowhere")
    return machine
