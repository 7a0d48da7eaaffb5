"""Claims and evidence that mean harm: only what tensors show is believed."""

import copy
import json
from pathlib import Path

import pytest
from hostile import EACH, LENGTH, Json, Judge, filled, good, nothing, pack, put

import krohn
from krohn.algebra.formats import json_format

LENGTHS: list[Json] = [LENGTH + 1, 10**18, 10**30, 0, -1, True, 4.0, "4", [4], {}]


@pytest.mark.sample(4)
@pytest.mark.parametrize("length", [*LENGTHS, None, ...], ids=str)
def test_lengths_that_cannot_be_claimed(judge: Judge, length: Json) -> None:
    said = judge(pack(good("transformer"), put("claim", "length", value=length)))
    assert said.verdict == "refused"
    assert "it claims" in said.reason


@pytest.mark.parametrize(("key", "value"), [("start", "2"), ("dtype", "float64")])
def test_claims_that_the_file_itself_belies(judge: Judge, key: str, value: str) -> None:
    said = judge(pack(good("transformer"), put("claim", key, value=value)))
    assert said.verdict == "refused"
    assert f"it claims {'the start state ' * (key == 'start')}{value!r}" in said.reason


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


@pytest.mark.sample(4)
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
