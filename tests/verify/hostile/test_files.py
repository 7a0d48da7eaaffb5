"""Weights, claims and sizes that mean harm: none is vouched for that does any."""

import copy
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hostile import (
    EACH,
    FORMATS,
    LENGTH,
    Json,
    Judge,
    filled,
    first,
    good,
    nothing,
    pack,
    put,
)

import krohn
from krohn.algebra.formats import json_format
from krohn.architectures.recurrent import find as recurrent_find


@pytest.mark.slow
@EACH
def test_subnormal_weights(judge: Judge, kind: str) -> None:
    file = good(kind)
    for name in [n for n, t in file.tensors.items() if not t.flat[0]][:2]:
        tiny = first(file, file.precision.smallest / 2, name)
        said = judge(pack(file, nothing, tiny))
        assert said.verdict == "undecided"
        assert f"tensor {name!r} has subnormal entries" in said.reason


@pytest.mark.slow
@EACH
def test_negative_zeros_are_zeros(judge: Judge, kind: str) -> None:
    file = good(kind)
    negative = {n: np.where(t == 0, -0.0, t) for n, t in file.tensors.items()}
    assert judge(pack(file, nothing, negative)).verdict == "verified"


@pytest.mark.sample(1)
@EACH
@pytest.mark.parametrize("sign", [1, -1])
def test_weights_at_the_end_of_the_format(judge: Judge, kind: str, sign: int) -> None:
    file = good(kind)
    assert judge(
        pack(file, nothing, filled(file, sign * file.precision.largest))
    ).verdict in ("refuted", "undecided")


@pytest.mark.sample(1)
@EACH
def test_ties_everywhere(judge: Judge, kind: str) -> None:
    file = good(kind)
    assert judge(pack(file, nothing, filled(file, 0.0))).verdict == "refuted"


@pytest.mark.slow
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
            assert krohn.verify(spoilt, exhaustive=4).verdict != "refuted"
        else:
            assert report.reason


@pytest.mark.sample(1)
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
    "limit", [30, pytest.param(recurrent_find.MOST_LETTERS, marks=pytest.mark.slow)]
)
def test_an_rnn_that_counts_without_end(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(recurrent_find, "MOST_LETTERS", limit)
    file = good("rnn")
    drift = file.tensors["hidden.bias"].copy()
    drift[4] -= 2.0**-20
    said = judge(pack(file, nothing, {**file.tensors, "hidden.bias": drift}))
    assert said.verdict == "undecided"
    assert f"new hidden states come after {limit} letters" in said.reason


LENGTHS: list[Json] = [LENGTH + 1, 10**18, 10**30, 0, -1, True, 4.0, "4", [4], {}]


@pytest.mark.sample(4)
@pytest.mark.parametrize("length", [*LENGTHS, None, ...], ids=str)
def test_lengths_that_cannot_be_claimed(judge: Judge, length: Json) -> None:
    said = judge(pack(good("transformer"), put("claim", "length", value=length)))
    assert said.verdict == "refused"
    assert re.search("(it|the file) claims", said.reason)


def test_a_claim_that_the_file_itself_belies(judge: Judge) -> None:
    said = judge(pack(good("transformer"), put("claim", "start", value="2")))
    assert said.verdict == "refused"
    assert "claims another start state than that of its machine" in said.reason


def test_a_claim_of_another_machine(judge: Judge, tmp_path: Path) -> None:
    path, other = tmp_path / "other.json", krohn.read("C3").with_start("1")
    path.write_text(json.dumps(json_format.to_object(other)))
    data = pack(good("transformer"), nothing)
    said = judge(data, "--machine", str(path))
    assert said.verdict == "refuted"
    assert "wrong at letter 1" in said.reason
    assert "different letters" in judge(data, "--machine", "C4").reason


PRAISE: list[Json] = [
    {"verdict": "verified", "steps": []},
    {"verdict": "verified", "steps": [{"sublayer": "read-out", "margin": 1e9}] * 1000},
    "verified",
    True,
    ["verified"] * 10_000,
]


@pytest.mark.sample(1)
@EACH
@pytest.mark.parametrize("evidence", PRAISE, ids=lambda e: str(e)[:20])
def test_evidence_in_the_file_is_not_believed(
    judge: Judge, kind: str, evidence: Json
) -> None:
    file = good(kind)
    broken = pack(file, put("evidence", value=evidence), filled(file, 0.0))
    assert judge(broken).verdict == "refuted"
    assert judge(pack(file, put("evidence", value=evidence))).verdict == "verified"


def test_evidence_and_program_of_another_model(judge: Judge) -> None:
    file, other = (
        good("transformer"),
        krohn.compile("C3", LENGTH, "counter", start="1").file,
    )
    keys = ("program", "evidence", "machine", "claim")

    def edit(header: Json) -> None:
        header |= {k: copy.deepcopy(other.header[k]) for k in keys if k in other.header}

    assert judge(pack(file, edit)).verdict == "refuted"


@pytest.mark.parametrize("depth", [500, 50_000])
def test_deep_nesting(judge: Judge, depth: int) -> None:
    file = good("transformer")
    text = json.dumps({"format": "krohn-model", "version": 1, **file.header})
    nested = "[" * depth + "]" * depth
    packed = {n: file.precision.store(t) for n, t in file.tensors.items()}
    text = text.replace('"evidence": ', f'"odd": {nested}, "evidence": ')
    said = judge(safetensors.numpy.save(packed, {"krohn": text}))
    assert said.verdict in ("verified", "refused")


@pytest.mark.slow
def test_blocks_that_hold_nothing(judge: Judge) -> None:
    """The rules do not follow them; the kernel does, and they leave all as it is."""
    file = krohn.compile("C2", LENGTH, "counter", strict=True).file
    empty = {"heads": 0, "d_qk": 0, "d_v": 0, "mlp": []}
    for count in (100, 10**4):
        listed = [*file.header["architecture"]["blocks"], *[empty] * count]
        said = judge(pack(file, put("architecture", "blocks", value=listed)))
        by_kernel = said.verdict == "verified" and "checked by the kernel" in said.out
        assert said.verdict in ("undecided", "refused") or by_kernel
