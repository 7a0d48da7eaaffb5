"""Evidence of networks that are followed from state to state: nodes, and their edges."""

from importlib import import_module
from typing import Any

from krohn.program.slices import slices
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.registry import reader_of, rule_module
from krohn.verify.checker.sparse_matrix import Sparse
from krohn.verify.search.exact_walk import Found, packed


def find(model: Model, machine: Machine | None) -> dict[str, Any]:
    """What the slice of a network finds for its checker; empty if that needs nothing.

    Raises:
        Refused: If there is none.
        WrongWord: With a shortest word, if a read-out is wrong; of an LSTM or a GRU, with
            some word.
    """
    reader = rule_module(reader_of(model))
    for each in slices().values():
        if reader in each.finders:
            place, part = each.finders[reader]
            module, function = place.split(":")
            return {part: getattr(import_module(module), function)(model, machine)}
    return {}


def simulation_evidence(found: Found, timed: bool = False) -> dict[str, Any]:
    """The evidence as the checker reads it; with depths, if there is a longest word."""
    nodes = found.nodes
    names = ("states", "edges", "depths")[: 2 + timed]
    parts = {name: packed(getattr(found, name)) for name in names}
    if not isinstance(nodes, Sparse):
        return {**parts, "nodes": packed(nodes)}
    held = {name: packed(getattr(nodes, name)) for name in ("offsets", "columns")}
    return {**parts, "nodes": {**held, "values": packed(nodes.values)}}
