"""Scores of answers that are directions of the residual stream.

Probes say along which directions a variable varies, dictionaries which directions are
features, and alignments of causal abstraction which subspace can be exchanged. A circuit
says where its variables lie: so each answer can be held against it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import near
from krohn.instruments.workbench.answers import share
from krohn.network.forward_pass import Hooks
from krohn.network.transformer import Transformer
from krohn.open_model import Model
from krohn.program.domains import FloatArray

CODES = {"integer", "one-hot"}
ALIKE = 0.9
"""The cosine from which on a feature is taken to be one of the network."""
TINY = 1e-9
"""Relative to the largest: smaller singular values are 0."""


@dataclass(frozen=True)
class DirectionScore:
    """How the directions that a method found agree with those of a circuit.

    The overlap of two subspaces is the sum of the squared cosines of their principal
    angles, divided by the larger of their dimensions: 1 if they are one, 0 if all of their
    directions are at right angles.

    Attributes:
        found: Of how many variables something was said.
        variables: How many there are that vary.
        overlap: The mean overlap over these; 0 where nothing was said.
        each: The overlap of each.
    """

    found: int
    variables: int
    overlap: float
    each: dict[str, float]


@dataclass(frozen=True)
class FeatureScore:
    """How the features of a dictionary agree with those of a network.

    Features of a network are the directions of its values: one for each value of a
    variable that lies one-hot, one for each variable that is stored as a number.

    Attributes:
        features: How many the dictionary has.
        true: How many the network has.
        nearest: The mean, over these, of the largest absolute cosine with any of the
            dictionary (the mean max cosine similarity of Sharkey et al. 2022).
        recovered: The share of these with a cosine of 0.9 or more.
        matching: The share of the dictionary with such a cosine.
    """

    features: int
    true: int
    nearest: float
    recovered: float
    matching: float


@dataclass(frozen=True)
class InterchangeScore:
    """Whether subspaces can be exchanged for variables (Geiger et al. 2023).

    What lies in the subspace of a variable is replaced, at one position where the variable
    is first there, by what lies in it on another word. Only exchanges count that should
    change an answer.

    Attributes:
        exchanges: How many were made.
        accuracy: The share after which all answers are those that the Program predicts; 0
            of variables of which nothing was said.
        each: This share for each variable.
    """

    exchanges: int
    accuracy: float
    each: dict[str, float]


def subspaces(
    circuit: Mapping[str, Any], width: int | None = None
) -> dict[str, FloatArray]:
    """Along which directions each variable varies: orthonormal rows ``(rank, width)``.

    Args:
        circuit: The content of a ``circuit.json``.
        width: How wide the stream is; by default as wide as the circuit needs.
    """
    bases = {}
    for variable, rows in _codes(circuit, width or _width(circuit)):
        basis = span(rows - rows.mean(axis=0))
        if len(basis):
            bases[variable["variable"]] = basis
    return bases


def _codes(circuit: Mapping[str, Any], width: int) -> Iterator[tuple[Any, FloatArray]]:
    """Variables, and what each value adds to the stream ``(values, width)``."""
    along = np.array(circuit.get("directions", np.eye(width)), dtype=float)
    for variable in circuit["variables"]:
        if variable["code"] not in CODES:
            continue
        values, place = np.array(variable["domain"]), slice(*variable["dims"])
        if variable["code"] == "one-hot":
            yield variable, along[place][values]
        else:
            yield variable, values[:, None] * along[place]


def _width(circuit: Mapping[str, Any]) -> int:
    """How wide the stream is, or as much of it as the circuit tells of."""
    if "directions" in circuit:
        return len(circuit["directions"][0])
    spans = [v["dims"] for v in circuit["variables"]] + [*circuit["features"].values()]
    return int(max(stop for _, stop in spans))


def span(rows: FloatArray) -> FloatArray:
    """An orthonormal basis ``(rank, d)`` of the span of rows ``(n, d)``."""
    if not rows.size:
        return np.zeros((0, rows.shape[1]))
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(basis[sizes > TINY * max(sizes[0], 1e-300)])


def score_directions(
    circuit: Mapping[str, Any], found: Mapping[str, FloatArray]
) -> DirectionScore:
    """Hold directions against those along which the variables of a circuit vary.

    Args:
        circuit: The content of a ``circuit.json``.
        found: For variables, by name, rows ``(n, d)`` that span where each varies: of a
            probe, the differences of the weights of its values.

    Raises:
        KrohnError: If a variable is unknown, or a row has another width.
    """
    bases = _check_directions(circuit, found)
    width = next((b.shape[1] for b in bases.values()), None)
    true = subspaces(circuit, width)
    each = {
        name: _overlap(basis, bases[name]) if name in bases else 0.0
        for name, basis in true.items()
    }
    mean = float(np.mean(list(each.values()))) if each else 1.0
    return DirectionScore(len(bases.keys() & true), len(true), mean, each)


def _overlap(one: FloatArray, other: FloatArray) -> float:
    if not len(other):
        return 0.0
    return float(((one @ other.T) ** 2).sum() / max(len(one), len(other)))


def _check_directions(
    circuit: Mapping[str, Any], found: Mapping[str, FloatArray]
) -> dict[str, FloatArray]:
    """Bases of what was found, all of one width."""
    names = [v["variable"] for v in circuit["variables"] if v["code"] in CODES]
    given = {}
    for name, rows in found.items():
        if name not in names:
            raise KrohnError(
                f"the circuit has no variable {name!r} that is a whole number"
                f"{near(str(name), names)}"
            )
        given[name] = _rows(circuit, rows, name)
    if len({rows.shape[1] for rows in given.values()}) > 1:
        raise KrohnError("directions of one network have the same number of numbers")
    return {name: span(rows) for name, rows in given.items()}


def _rows(circuit: Mapping[str, Any], rows: Any, name: str) -> FloatArray:
    given = np.atleast_2d(np.asarray(rows, dtype=float))
    if given.ndim != 2 or not np.isfinite(given).all():
        raise KrohnError(f"{name!r} needs rows of numbers, a direction each")
    least = _width(circuit)
    wrong = (
        given.shape[1] != least if "directions" in circuit else given.shape[1] < least
    )
    if wrong:
        raise KrohnError(
            f"the directions of {name!r} have {given.shape[1]} numbers, and the residual "
            f"stream has {least} dimensions"
        )
    return given


def score_features(circuit: Mapping[str, Any], features: FloatArray) -> FeatureScore:
    """Hold the features of a dictionary, as a sparse autoencoder's, against a circuit.

    Args:
        circuit: The content of a ``circuit.json``.
        features: ``(n, d)``: a direction of the residual stream each, as the rows of a
            decoder.

    Raises:
        KrohnError: If they have another width.
    """
    given = _rows(circuit, features, "features")
    codes = _codes(circuit, given.shape[1])
    true = np.concatenate([_values(variable, rows) for variable, rows in codes])
    cosines = np.abs(_unit(true) @ _unit(given).T)
    best, matched = cosines.max(axis=1), cosines.max(axis=0)
    return FeatureScore(
        len(given),
        len(true),
        float(best.mean()),
        float((best >= ALIKE).mean()),
        float((matched >= ALIKE).mean()),
    )


def _values(variable: Mapping[str, Any], rows: FloatArray) -> FloatArray:
    """The directions of a variable's values."""
    if variable["code"] == "one-hot":
        return rows
    largest: FloatArray = rows[np.abs(rows).sum(axis=1).argmax()][None]
    return largest


def _unit(rows: FloatArray) -> FloatArray:
    sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(sizes > 0, sizes, 1.0))


def score_interchange(
    circuit: Mapping[str, Any],
    model: Model,
    pairs: Iterable[Mapping[str, Any]],
    found: Mapping[str, FloatArray],
) -> InterchangeScore:
    """Exchange subspaces between words, and see whether answers are as predicted.

    Args:
        circuit: The circuit of the network.
        model: The network.
        pairs: Interchanges, as ``pairs.jsonl`` lists them.
        found: As of `score_directions`.

    Raises:
        KrohnError: If a variable is unknown, or a row has another width.
    """
    bases, right = _check_directions(circuit, found), dict[str, list[bool]]()
    width = model.file.architecture.d_model
    if any(basis.shape[1] != width for basis in bases.values()):
        raise KrohnError(f"directions of this network have {width} numbers")
    for (name, _), rows in _group_pairs(pairs).items():
        basis = bases.get(name, np.zeros((0, width)))
        came = _run_exchanges(model, name, rows, torch.from_numpy(basis))
        right.setdefault(name, []).extend(came)
    all_of = [each for rows in right.values() for each in rows]
    return InterchangeScore(
        len(all_of),
        float(np.mean(all_of)) if all_of else 1.0,
        {name: float(np.mean(rows)) for name, rows in right.items() if rows},
    )


def _group_pairs(
    pairs: Iterable[Mapping[str, Any]],
) -> dict[tuple[str, int], list[Mapping[str, Any]]]:
    groups: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for row in pairs:
        groups.setdefault((row["variable"], len(row["base"])), []).append(row)
    return groups


def _run_exchanges(
    model: Model, name: str, rows: list[Mapping[str, Any]], basis: Tensor
) -> Iterator[bool]:
    """Of the exchanges that should change an answer, whether all answers are right."""
    network, place = model.network, model.places()[name]
    assert isinstance(network, Transformer)
    base, source = (
        torch.stack([torch.as_tensor(model.encode(row[k]))[0] for row in rows])
        for k in ("base", "source")
    )
    at = torch.tensor([row["position"] for row in rows])
    where, seen = f"stream.{place.snapshots[0]}", dict[str, Tensor]()
    with torch.inference_mode():
        network.run_with_hooks(source, Hooks({where: [partial(_keep, seen)]}))
        hook = partial(_swap, seen, at, basis)
        before = network(base)
        after = network.run_with_hooks(base, Hooks({where: [hook]}))
    for row, old, new in zip(rows, before, after, strict=True):
        if share(model, old, row["answers"]) < 1:
            yield share(model, new, row["answers"]) == 1


def _keep(seen: dict[str, Tensor], stream: Tensor) -> None:
    seen["source"] = stream.clone()


def _swap(seen: dict[str, Tensor], at: Tensor, basis: Tensor, stream: Tensor) -> Tensor:
    each, along = torch.arange(len(at)), basis.to(stream)
    changed = stream.clone()
    difference = seen["source"][each, at] - stream[each, at]
    changed[each, at] += difference @ along.mT @ along
    return changed
