"""The workbench: a set of networks with known circuits.

`make` writes the set, and `check` verifies it again. `score` holds the answer of a method
against the circuit of a network: edges, directions of variables, features of a dictionary,
or subspaces that are exchanged. `edge_effects` and `edge_attributions` are two methods of
circuit discovery. `graph` is a circuit as a graph of networkx.
"""

from krohn.architectures.exports.circuit import graph
from krohn.instruments.workbench.checking import check
from krohn.instruments.workbench.directions import (
    DirectionScore,
    FeatureScore,
    InterchangeScore,
    score_directions,
    score_features,
    score_interchange,
    subspaces,
)
from krohn.instruments.workbench.edge_patching import (
    edge_attributions,
    edge_effects,
)
from krohn.instruments.workbench.making import make
from krohn.instruments.workbench.scoring import (
    EdgeScore,
    score,
    score_edges,
)

__all__ = [
    "DirectionScore",
    "EdgeScore",
    "FeatureScore",
    "InterchangeScore",
    "check",
    "edge_attributions",
    "edge_effects",
    "graph",
    "make",
    "score",
    "score_directions",
    "score_edges",
    "score_features",
    "score_interchange",
    "subspaces",
]
