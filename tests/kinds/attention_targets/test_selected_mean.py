"""Means over what is selected exactly: leak and rounding are all that is off."""

from typing import Any

import numpy as np
import pytest

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.attention_targets.commands_selected_means import SelectedMeans
from krohn.kinds.attention_targets.source_selected_means import (
    SelectedMean,
    find_by_name,
)
from krohn.network.modelfile import ModelFile
from krohn.program.errors import Refused
from krohn.source_kinds.real_sequences import run_network
from krohn.verify.proof import shown_of

KIND = SelectedMeans()
NAMES = ("Nearest6", "Nearest3:grid=64", "Gravity10", "Gravity6:masses=9", "Select8")


def of(name: str) -> SelectedMean:
    found = find_by_name(name)
    assert found is not None
    return found


def built(name: str, dtype: str = "float64") -> ModelFile:
    return krohn.compile(name, dtype=dtype, proof=False).file


def inputs(file: ModelFile, count: int, seed: int = 0) -> Any:
    source, rng = KIND.of_file(file), np.random.default_rng(seed)
    random = KIND.sample_vectors(source, (count, source.length), rng)
    bad = KIND.adversarial(source, file, count, rng)
    return file.precision.round(np.concatenate([random, bad]))


def measured(file: ModelFile, x: Any) -> float:
    off = np.abs(run_network(file, x) - KIND.of_file(file).run(x))
    return float(off.max()) if np.isfinite(off).all() else float("inf")


def by_hand(source: SelectedMean, x: Any) -> Any:
    """Each answer from its definition, vector by vector, in fractions of integers."""
    found = []
    for one in x:
        if source.form == "nearest-point":
            near = [
                min(sum((one[:2] - v[:2]) ** 2) for v in x if v[2] == 1),
            ]
            weights = [v[2] * (sum((one[:2] - v[:2]) ** 2) == near[0]) for v in x]
        elif source.form == "centre-of-gravity":
            weights = [v[1] * (v[2] == one[2]) for v in x]
        else:
            weights = list(one[2:])
        values = x[:, : source.values]
        found.append(sum(w * v for w, v in zip(weights, values, strict=True)))
        found[-1] = found[-1] / sum(weights)
    return np.array(found)


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_is_the_definition(name: str) -> None:
    source, rng = of(name), np.random.default_rng(0)
    for x in KIND.sample_vectors(source, (20, source.length), rng):
        assert not source.problem(x)
        assert np.abs(source.run(x[None])[0] - by_hand(source, x)).max() < 1e-14


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_shown_is_not_exceeded(name: str, dtype: str) -> None:
    file = built(name, dtype)
    error = shown_of(file).error
    assert 0 < error < (1e-9 if dtype == "float64" else 0.02)
    x = inputs(file, 100)
    assert measured(file, x) <= error + of(name).rounding
    assert krohn.verify(file, proof=True, sample=60).verdict == "verified"


def test_the_sizes_are_those_of_the_paper() -> None:
    heads = {"Nearest6": 3, "Gravity10": 2, "Select8": 8}
    for name, m in heads.items():
        assert built(name).header["architecture"]["d_qk"] == m


def test_ties_share_the_weight() -> None:
    """Four candidates around a point: their mean is the point itself."""
    network = krohn.compile("Nearest6")
    at = [(0.25, 0.5), (0.75, 0.5), (0.5, 0.25), (0.5, 0.75), (0.125, 0.5)]
    x = [(0.5, 0.5, 0.0), *((*p, 1.0) for p in at)]
    found = run_network(network.file, np.array([x]))[0, 0]
    assert np.abs(found - 0.5).max() < 1e-12


def test_candidates_that_are_none_are_never_near() -> None:
    x = np.zeros((1, 12, 3))
    x[0, 1:] = (1 / 16, 0, 0)
    x[0, 11] = (1, 1, 1)
    assert np.abs(run_network(built("Nearest6"), x)[0] - 1).max() < 1e-12


@pytest.mark.parametrize("name", ["Nearest6", "Gravity10"])
def test_without_positions_the_order_does_not_matter(name: str) -> None:
    """Row 30: permutation equivariance, of the network itself."""
    file = built(name)
    x = inputs(file, 20)
    order = np.random.default_rng(1).permutation(x.shape[1])
    one, other = run_network(file, x)[:, order], run_network(file, x[:, order])
    assert np.abs(one - other).max() < 1e-10


@pytest.mark.parametrize(
    ("name", "words", "reason"),
    [
        ("Nearest6", ["0.1,0.5,1"], "whole number from 0 to 16, divided by 16"),
        ("Nearest6", ["0.5,0.5,0"], "must be a candidate"),
        ("Gravity10", ["0.5,0,1"], "mass of vector 1"),
        ("Gravity10", ["0.5,1.5,1"], "mass of vector 1"),
        ("Select2", ["0,0,1,0"], "of 2 vectors, not 1"),
        ("Select2", ["0,0,1,0", "0,0,0,0"], "each vector must pick"),
    ],
)
def test_what_is_no_input_is_refused(name: str, words: list[str], reason: str) -> None:
    with pytest.raises(KrohnError, match=reason):
        KIND.run(built(name), words)


@pytest.mark.parametrize(
    "name",
    [
        "Nearest0",
        "Nearest6:grid=3",
        "Nearest6:grid=2048",
        "Nearest200",
        "Gravity4:picks=2",
        "Select4:picks=0",
        "Select4:picks",
        "Select999999999",
    ],
)
def test_bad_names_are_refused(name: str) -> None:
    with pytest.raises(Refused):
        find_by_name(name)
