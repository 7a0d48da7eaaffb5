"""The workbench: a set of networks with known circuits, each proved.

`make` writes the set, `check` verifies it again, and `score_edges` holds an answer of a
method for circuit discovery against the circuit of a network. `edge_effects` and
`edge_attributions` are two such methods.
"""

from krohn.workbench.checking import check
from krohn.workbench.edge_patching import edge_attributions, edge_effects
from krohn.workbench.making import make
from krohn.workbench.scoring import EdgeScore, score_edges

__all__ = [
    "EdgeScore",
    "check",
    "edge_attributions",
    "edge_effects",
    "make",
    "score_edges",
]
