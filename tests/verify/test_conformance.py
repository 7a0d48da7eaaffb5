"""Every kind of network: proved, run, damaged, forged; and believed in nothing beyond."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conformance import (
    NETWORKS,
    accepts,
    bounds,
    claiming,
    compiled,
    damaged_evidence,
    edited,
    evidence,
    forgeries,
    is_wrong,
    judged,
    machine_in,
    readable,
    survivors,
    verdict,
    wrong_network,
)
from damaged_tensors import mutant

from krohn.algebra.errors import KrohnError
from krohn.network import ModelFileError
from krohn.network.architecture import every_kind
from krohn.network.modelfile import _parse, pack
from krohn.program.errors import Refused
from krohn.source_kinds import KINDS
from krohn.verify.proof import FAILURES, prove

EACH = pytest.mark.parametrize("name", NETWORKS)


@pytest.mark.slow
def test_every_kind_of_network_and_of_source_has_a_row() -> None:
    headers = [compiled(name).file.header for name in NETWORKS]
    assert {h["architecture"]["kind"] for h in headers} == set(every_kind())
    assert {h["source"]["kind"] for h in headers if "source" in h} >= set(KINDS)


@pytest.mark.sample(1)
@EACH
def test_what_is_compiled_is_proved_and_right(name: str) -> None:
    file, run = compiled(name).file, NETWORKS[name].run
    assert verdict(file) == "verified"
    shown = judged(file)
    assert shown is not None
    assert not is_wrong(shown, run)


@pytest.mark.sample(1, at=0)
@EACH
def test_a_run_finds_damage(name: str) -> None:
    """So that what survives below is not merely unseen."""
    file, run = compiled(name).file, NETWORKS[name].run
    assert any(is_wrong(mutant(file, seed), run) for seed in range(40))


@pytest.mark.sample(1, at=1)
@EACH
def test_nothing_damaged_says_more_than_is_shown(name: str) -> None:
    assert survivors(compiled(name).file, NETWORKS[name].run, range(8)) < 8


@pytest.mark.slow
@EACH
def test_nothing_of_400_says_more_than_is_shown(name: str) -> None:
    kept = survivors(compiled(name).file, NETWORKS[name].run, range(20, 420))
    assert 0 < kept < 400


def check_forgeries(name: str, count: int, seed: int) -> None:
    for file in forgeries(compiled(name).file, count, seed):
        try:
            data = pack(file.header, file.tensors)
        except (Refused, *FAILURES):
            continue  # nobody could write it
        try:
            _parse(data)
        except ModelFileError:
            continue
        if readable(file) and verdict(file) == "verified":
            try:
                assert not is_wrong(file, NETWORKS[name].run), file.header
            except KrohnError:
                continue  # it says what its source is not


@pytest.mark.sample(1, at=2)
@EACH
def test_no_forged_header_is_believed(name: str) -> None:
    check_forgeries(name, 20, 0)


@pytest.mark.slow
@EACH
def test_no_forged_header_of_many_is_believed(name: str) -> None:
    check_forgeries(name, 600, 1)


@pytest.mark.sample(1, at=3)
@EACH
def test_evidence_beyond_what_is_shown_is_refused(name: str) -> None:
    model = compiled(name)
    told = evidence(model)
    assert accepts(model.file, told)
    for key, value in (("version", 2), ("format", "krohn-model")):
        assert not accepts(model.file, {**told, key: value})
    every = list(bounds(told))
    for at, value in every[:: len(every) // 5 + 1]:
        for wrong in (value, float("nan")):
            assert not accepts(model.file, edited(told, at, wrong)), at


def check_damaged_evidence(name: str, count: int, seed: int) -> None:
    told, wrong = evidence(compiled(name)), wrong_network(name)
    assert not accepts(wrong, told)
    for damaged in damaged_evidence(told, count, seed):
        assert not accepts(wrong, damaged), damaged


@pytest.mark.sample(1, at=7)
@EACH
def test_no_damaged_evidence_vouches_for_a_wrong_network(name: str) -> None:
    check_damaged_evidence(name, 20, 0)


@pytest.mark.slow
@EACH
def test_none_of_150_pieces_of_damaged_evidence_does(name: str) -> None:
    check_damaged_evidence(name, 150, 1)


CLAIMS: list[dict[str, Any]] = [
    {"kind": "exact"},
    {"kind": "within", "error": 1e-12},
    {"kind": "generates"},
    {"dtype": "float16"},
    {"length": 0},
    {"length": 4.0},
    {"length": True},
    {"surely": True},
    {"opening": "1/7"},
]


@pytest.mark.sample(1, at=4)
@EACH
def test_another_claim_is_refused(name: str) -> None:
    model = compiled(name)
    told, own = evidence(model), {"kind": "exact", **model.file.header["claim"]}
    others = [c for c in CLAIMS if any(own.get(k) != v for k, v in c.items())]
    if own.get("error"):
        others.append({"error": own["error"] * 0.999})
    for claim in others:
        if claim.get("kind") != own.get("kind") or "kind" not in claim:
            assert not accepts(claiming(model.file, **claim), told), claim


@pytest.mark.sample(1, at=5)
@EACH
def test_numbers_that_are_none_are_refused(name: str) -> None:
    file = compiled(name).file
    for value in (np.nan, -np.inf, file.precision.smallest / 2):
        for tensor, array in file.tensors.items():
            spoilt = array.copy()
            spoilt.flat[-1] = value
            damaged = replace(file, tensors={**file.tensors, tensor: spoilt})
            assert verdict(damaged) != "verified", (tensor, value)


@pytest.mark.sample(1, at=6)
@EACH
def test_tensors_are_those_that_are_stated(name: str) -> None:
    file, machine = compiled(name).file, machine_in(compiled(name).file)
    for tensor, array in file.tensors.items():
        others = {n: t for n, t in file.tensors.items() if n != tensor}
        for tensors in (others, {**others, tensor: array[..., None]}):
            proof = prove(replace(file, tensors=tensors), machine)
            assert proof.verdict == "undecided", tensor
    more = replace(file, tensors={**file.tensors, "more": np.zeros(1)})
    assert prove(more, machine).verdict == "undecided"
