"""Evidence of networks that are followed from state to state: nodes, and their edges."""

from typing import Any

from krohn.verify.checker.sparse_matrix import Sparse
from krohn.verify.search.exact_walk import Found, pack_array


def simulation_evidence(found: Found, timed: bool = False) -> dict[str, Any]:
    """The evidence as the checker reads it; with depths, if there is a longest word."""
    nodes = found.nodes
    names = ("states", "edges", "depths")[: 2 + timed]
    parts = {name: pack_array(getattr(found, name)) for name in names}
    if not isinstance(nodes, Sparse):
        return {**parts, "nodes": pack_array(nodes)}
    arrays = {name: pack_array(getattr(nodes, name)) for name in ("offsets", "columns")}
    return {**parts, "nodes": {**arrays, "values": pack_array(nodes.values)}}
