"""Evidence of networks that are followed from state to state: nodes, and their edges."""

from typing import Any

from krohn.verify.checker.sparse_matrix import Sparse
from krohn.verify.search.exact_walk import Found, packed


def simulation_evidence(found: Found, timed: bool = False) -> dict[str, Any]:
    """The evidence as the checker reads it; with depths, if there is a longest word."""
    nodes = found.nodes
    names = ("states", "edges", "depths")[: 2 + timed]
    parts = {name: packed(getattr(found, name)) for name in names}
    if not isinstance(nodes, Sparse):
        return {**parts, "nodes": packed(nodes)}
    held = {name: packed(getattr(nodes, name)) for name in ("offsets", "columns")}
    return {**parts, "nodes": {**held, "values": packed(nodes.values)}}
