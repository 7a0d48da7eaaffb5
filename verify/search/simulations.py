"""Evidence of recurrent networks: the nodes of rule S and their edges, or groups."""

from collections.abc import Callable
from typing import Any

import numpy as np

from krohn.verify.checker import (
    gated_recurrent,
    recurrent,
    recurrent_beliefs,
    relu_boxes,
    state_space,
    state_space_layers,
)
from krohn.verify.checker.kernels import recurrence_of
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.registry import reader_of
from krohn.verify.checker.simulation import machine_of
from krohn.verify.checker.sparse_matrix import Sparse
from krohn.verify.search import parallelotopes
from krohn.verify.search.boxes import Boxes, Unsettled
from krohn.verify.search.exact_walk import Found, Limits, packed, walk

# A network that counts has no end of hidden states: to notice it takes some seconds.
MOST_NODES, MOST_LETTERS, MOST_TERMS = 200_000, 4_000, 2**29
LAYER = Limits(2**17, 5_000, 2**30, "a layer has too many hidden states")
"""Of all layers together as to letters: each takes a while of its own."""
TUPLES = Limits(2**18, 2**18, 2**35, "the layers have too many states together")


def find(model: Model, machine: Machine | None) -> dict[str, Any]:
    """The evidence of a recurrent network; empty for others.

    Raises:
        Refused: If there is none.
        WrongWord: With a shortest word, if a read-out is wrong; of an LSTM or a GRU, with
            some word.
    """
    found = FINDERS.get(reader_of(model))
    if found is None:
        return {}
    name = "groups" if found is _groups else "simulation"
    return {name: found(model, machine)}


def _gated(model: Model, machine: Machine | None) -> dict[str, Any]:
    cell = gated_recurrent.opened(model)
    machine = machine_of(model, machine, cell.reads)
    boxes = Boxes(cell, machine)
    try:
        boxes.close()
        boxes.refute(cell)
        if boxes.certain or cell.first.shape[-1] > parallelotopes.LARGEST:
            return boxes.evidence()
    except Unsettled:
        if cell.first.shape[-1] > parallelotopes.LARGEST:
            raise  # else parallelotopes may not grow where boxes do
    return parallelotopes.closed(cell, machine)


def _pruned(model: Model, machine: Machine | None) -> dict[str, Any]:
    steps = relu_boxes.opened(model)
    boxes = Boxes(steps, machine_of(model, machine, len(steps.letters.whole)), 2)
    boxes.close()
    return boxes.evidence()


def _exact(model: Model, machine: Machine | None) -> dict[str, Any]:
    network = recurrent.opened(model)
    machine = machine_of(model, machine, network.letters.shape[1])
    return _told(walk(network, machine, _limits(network)))


def _beliefs(model: Model, machine: Machine | None) -> dict[str, Any]:
    beliefs = recurrent_beliefs.followed(model)
    network = recurrent_beliefs.says(recurrent.opened(model), beliefs)
    found = walk(network, beliefs.machine, _limits(network), wrong=np.isposinf)
    return _told(found)


def _limits(network: recurrent.Network) -> Limits:
    letters = max(MOST_LETTERS, len(network.bias))
    what = "the network has too many hidden states"
    return Limits(MOST_NODES, letters, MOST_TERMS, what)


def _layers(model: Model, machine: Machine | None) -> dict[str, Any]:
    machine, length, layers = state_space.claimed(model, machine)
    told, reached, limits = list[Any](), list[state_space_layers.Reached](), LAYER
    for layer in layers:
        known = state_space_layers.sums(layer, model.format, length)
        if known is None:
            net = state_space_layers.Recurrence(model.format, layer, layer.start)
            found = walk(net, net.machine, limits, length, last=False)
            limits = limits._replace(letters=limits.letters - found.letters)
            known = state_space_layers.Reached(found.nodes, found.edges, 0)
            told.append(_told(found, length is not None))
        else:
            told.append(None)
        reached.append(known)
    stack = state_space.stacked(model.format, layers, reached)
    found = walk(stack, machine, TUPLES, length)
    return {"layers": told, **_told(found, length is not None)}


def _groups(model: Model, machine: Machine | None) -> str:
    """Of a linear recurrence a number for each unit: equal where entries link them."""
    w = recurrence_of(model)
    found, before = np.arange(w.size), np.full(w.size, -1)
    while not np.array_equal(found, before):
        before = found.copy()
        least = np.minimum(found[w.rows], found[w.columns])
        np.minimum.at(found, w.rows, least)
        np.minimum.at(found, w.columns, least)
        found = found[found]
    return packed(found)


FINDERS: dict[str, Callable[[Model, Machine | None], Any]] = {
    "gated_recurrent": _gated,
    "relu_boxes": _pruned,
    "recurrent": _exact,
    "recurrent_beliefs": _beliefs,
    "state_space": _layers,
    "kernels": _groups,
}


def _told(found: Found, timed: bool = False) -> dict[str, Any]:
    """The evidence as the checker reads it; with depths, if there is a longest word."""
    nodes = found.nodes
    names = ("states", "edges", "depths")[: 2 + timed]
    parts = {name: packed(getattr(found, name)) for name in names}
    if not isinstance(nodes, Sparse):
        return {**parts, "nodes": packed(nodes)}
    held = {name: packed(getattr(nodes, name)) for name in ("offsets", "columns")}
    return {**parts, "nodes": {**held, "values": packed(nodes.values)}}
