"""Weights that mean harm: none is vouched for that does any."""

from dataclasses import replace

import numpy as np
import pytest
from hostile import EACH, FORMATS, Judge, filled, first, good, nothing, pack

import krohn
from krohn.verify.search import simulations


@pytest.mark.sample(1)
@EACH
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite(judge: Judge, kind: str, value: float) -> None:
    file = good(kind)
    for name in (min(file.tensors), max(file.tensors)):
        said = judge(pack(file, nothing, first(file, value, name)))
        assert said.verdict == "refused"
        assert f"tensor {name!r} has entries that are not finite" in said.reason


@pytest.mark.sample(2)
@EACH
def test_subnormal_weights(judge: Judge, kind: str) -> None:
    file = good(kind)
    for name in [n for n, t in file.tensors.items() if not t.flat[0]][:2]:
        tiny = first(file, file.precision.smallest / 2, name)
        said = judge(pack(file, nothing, tiny))
        assert said.verdict == "undecided"
        assert f"tensor {name!r} has subnormal entries" in said.reason


@pytest.mark.sample(1)
@EACH
def test_negative_zeros_are_zeros(judge: Judge, kind: str) -> None:
    file = good(kind)
    negative = {n: np.where(t == 0, -0.0, t) for n, t in file.tensors.items()}
    assert judge(pack(file, nothing, negative)).verdict == "verified"


@pytest.mark.sample(3)
@EACH
@pytest.mark.parametrize("sign", [1, -1])
def test_weights_at_the_end_of_the_format(judge: Judge, kind: str, sign: int) -> None:
    file = good(kind)
    assert judge(
        pack(file, nothing, filled(file, sign * file.precision.largest))
    ).verdict in ("refuted", "undecided")


@EACH
def test_ties_everywhere(judge: Judge, kind: str) -> None:
    file = good(kind)
    assert judge(pack(file, nothing, filled(file, 0.0))).verdict == "refuted"


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("part", ["attention.query", "mlp.0.weight", "unembed.weight"])
def test_products_at_the_end_of_the_format(dtype: str, part: str) -> None:
    file = good("scan", dtype)
    name = next(n for n in file.tensors if n.endswith(part))
    for factor in (2.0**10, 2.0**100, 2.0**1000):
        most = file.precision.largest
        large = np.clip(file.tensors[name] * factor, -most, most)
        spoilt = replace(file, tensors={**file.tensors, name: large})
        report = krohn.verify(spoilt)
        if report.verdict == "verified":  # large is not too large everywhere
            assert krohn.verify(spoilt, exhaustive=4).verdict == "verified"
        else:
            assert report.reason


@pytest.mark.sample(3)
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("kind", ["memory", "scan"])
def test_scores_that_overflow(dtype: str, kind: str) -> None:
    file = good(kind, dtype)
    names = [
        n for n in file.tensors if n.endswith(("attention.query", "attention.key"))
    ]
    root = np.sqrt(file.precision.largest)
    large = {n: np.sign(file.tensors[n]) * file.precision.round(root) for n in names}
    report = krohn.verify(replace(file, tensors={**file.tensors, **large}))
    assert report.verdict != "verified"
    assert "overflow" in report.reason or report.verdict == "refuted"


@pytest.mark.slow
@pytest.mark.parametrize(
    "limit", [30, pytest.param(simulations.MOST_LETTERS, marks=pytest.mark.slow)]
)
def test_an_rnn_that_counts_without_end(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(simulations, "MOST_LETTERS", limit)
    file = good("rnn")
    drift = file.tensors["hidden.bias"].copy()
    drift[4] -= 2.0**-20
    said = judge(pack(file, nothing, {**file.tensors, "hidden.bias": drift}))
    assert said.verdict == "undecided"
    assert f"new hidden states come after {limit} letters" in said.reason
