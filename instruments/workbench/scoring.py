"""Scores of what a method found in a network, held against its circuit."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import near
from krohn.architectures.exports import circuit as circuits
from krohn.instruments.workbench.answers import (
    MODEL,
    PAIRS,
    lines,
)
from krohn.instruments.workbench.directions import (
    DirectionScore,
    FeatureScore,
    InterchangeScore,
    score_directions,
    score_features,
    score_interchange,
)
from krohn.network import modelfile
from krohn.open_model import Model
from krohn.program import strict_json
from krohn.program.domains import FloatArray
from krohn.program.files import read_bytes

LARGEST = 2**28
Kind = Literal["edges", "directions", "features", "interchange"]
"""Subjects of a score: edges of a circuit, directions of variables, features of a
dictionary, or exchanges of the subspaces of variables."""
Edge = tuple[str, str]
"""Two components, as a circuit names them: the earlier one, and the later one."""


@dataclass(frozen=True)
class EdgeScore:
    """How the edges that a method found agree with those of a circuit.

    Attributes:
        found: How many edges it found; of edges with scores those above 0.
        true: How many the circuit has.
        possible: How many there could be between the components.
        precision: The share of found edges that are true; 1 if none is found.
        recall: The share of true edges that are found.
        f1: The harmonic mean of both.
        auc: The area under the ROC curve of the scores, edges without one last; None if
            no edge has a score, or all possible edges are true.
    """

    found: int
    true: int
    possible: int
    precision: float
    recall: float
    f1: float
    auc: float | None


Score = EdgeScore | DirectionScore | FeatureScore | InterchangeScore


def score(circuit: str | Path, found: str | Path, kind: Kind = "edges") -> Score:
    """Hold the file of an answer against a circuit.

    Args:
        circuit: A ``circuit.json``; for exchanges that of a folder of a workbench, which
            has the network and its interchanges as well.
        found: Edges as a CSV file (`score_edges`). Directions, also those of exchanges, as
            a safetensors file with a tensor ``(n, d)`` for each variable; features as one
            with a single tensor ``(n, d)``.
        kind: What is scored.

    Raises:
        KrohnError: If a file is malformed, or does not fit the circuit.
    """
    if kind not in get_args(Kind):
        known = ", ".join(get_args(Kind))
        raise KrohnError(
            f"there is no kind {kind!r}{near(kind, get_args(Kind))}: {known}"
        )
    if kind == "edges":
        return score_edges(circuit, found)
    content, tensors = _circuit(circuit), _tensors(found)
    if kind == "directions":
        return score_directions(content, tensors)
    if kind == "interchange":
        home = Path(circuit).parent
        model = Model(modelfile.read(home / MODEL))
        return score_interchange(content, model, list(lines(home / PAIRS)), tensors)
    if len(tensors) != 1:
        raise KrohnError(
            f"{found} needs one tensor, whose rows are the features; it has {len(tensors)}"
        )
    return score_features(content, next(iter(tensors.values())))


def _tensors(path: str | Path) -> dict[str, FloatArray]:
    try:
        tensors = safetensors.numpy.load(read_bytes(path, LARGEST))
    except SafetensorError:
        raise KrohnError(f"{path} is no safetensors file, or is damaged") from None
    except (ValueError, TypeError) as error:
        raise KrohnError(f"{path} is no safetensors file: {error}") from None
    return {name: tensor.astype(float) for name, tensor in tensors.items()}


def score_edges(
    circuit: Mapping[str, Any] | str | Path,
    found: Mapping[Edge, float] | Iterable[Edge] | str | Path,
) -> EdgeScore:
    """Hold edges that a method found against a circuit.

    Args:
        circuit: The content of a ``circuit.json``, or its path.
        found: Pairs of components, as the circuit names them (``embedding``,
            ``blocks.0.attn.1``, ``blocks.0.mlp``, ``read-out``), or a score for each;
            or the path of a CSV file with columns ``from``, ``to`` and perhaps ``score``.

    Raises:
        KrohnError: If a file is malformed, or a pair is no possible edge.
    """
    if isinstance(circuit, str | Path):
        content = _circuit(circuit)
    else:
        content = _check_circuit(circuit, "the dict")
    given = _table(found) if isinstance(found, str | Path) else found
    scored = isinstance(given, Mapping)
    scores = (
        dict(given) if isinstance(given, Mapping) else {tuple(e): 1.0 for e in given}
    )
    if any(isinstance(edge, str) for edge in given):
        raise KrohnError("an edge is a pair of components, not a string")
    possible = circuits.possible(content)
    strange = next((e for e in scores if e not in possible), None)
    if strange is not None:
        raise KrohnError(
            f"{' → '.join(map(str, strange))} is no possible edge of the network; its "
            f"components are {', '.join(circuits.nodes(content))}"
        )
    true = {(e["from"], e["to"]) for e in content["edges"]}
    chosen = {edge for edge, score in scores.items() if score > 0}
    right = len(chosen & true)
    precision = right / len(chosen) if chosen else 1.0
    recall = right / len(true) if true else 1.0
    both = precision + recall
    return EdgeScore(
        len(chosen),
        len(true),
        len(possible),
        precision,
        recall,
        2 * precision * recall / both if both else 0.0,
        _auc(possible, true, scores) if scored else None,
    )


def _auc(
    possible: list[Edge], true: set[Edge], scores: dict[Any, float]
) -> float | None:
    """The chance that a true edge has a higher score than another; ties count half."""
    lowest = min(scores.values(), default=0.0) - 1.0
    value = np.array([scores.get(edge, lowest) for edge in possible])
    mark = np.array([edge in true for edge in possible])
    if mark.all() or not mark.any():
        return None
    higher = np.sign(value[mark][:, None] - value[~mark])
    return float((higher.mean() + 1) / 2)


def _circuit(path: str | Path) -> dict[str, Any]:
    try:
        content = strict_json.read(read_bytes(path, LARGEST))
    except ValueError as error:
        raise KrohnError(
            f"{path} is no circuit.json of Krohn: no JSON ({error})"
        ) from None
    return _check_circuit(content, str(path))


def _check_circuit(told: Any, what: str) -> dict[str, Any]:
    """The circuit that was given, if it is one."""
    if not isinstance(told, Mapping) or told.get("format") != circuits.FORMAT:
        raise KrohnError(
            f"{what} is no circuit.json of Krohn; exports and workbenches have one"
        )
    return dict(told)


def _table(path: str | Path) -> dict[Edge, float] | list[Edge]:
    """The edges of a CSV file, with their scores if there is a column of them."""
    text = read_bytes(path, LARGEST).decode("utf-8", "replace")
    rows = list(csv.DictReader(text.splitlines()))
    if not rows or not {"from", "to"} <= rows[0].keys():
        raise KrohnError(f"{path} needs columns from and to, and may have one score")
    try:
        scores = {(r["from"], r["to"]): float(r.get("score") or 1) for r in rows}
    except ValueError as error:
        raise KrohnError(f"{path} has a score that is no number: {error}") from None
    return scores if "score" in rows[0] else list(scores)
