"""Proofs go through where they should, and what they bound is bounded."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from krohn.verify import proof as proof_of
from krohn.verify.proof import prove

Build = Callable[..., Any]
CASES = [
    ("C3", "counter", 12, "float32"),
    ("C3", "counter", 4, "float16"),
    ("C2xC3", "product", 12, "float32"),
    *(("FlipFlop", "memory", 12, d) for d in ("float64", "bfloat16")),
    *(("S3", "scan", 12, d) for d in ("float32", "float16")),
    ("Grid4", "scan", 40, "bfloat16"),
    ("Memory3", "memory", 30, "float16"),
    ("PermReset3", "scan", 9, "bfloat16"),
    *(("Adder", "sequential", 8, d) for d in ("float32", "bfloat16")),
]
EACH = pytest.mark.parametrize(("name", "construction", "length", "dtype"), CASES)
FORMS = pytest.mark.parametrize("strict", [False, True], ids=["usual", "strict"])


@pytest.mark.sample(1)
@EACH
@FORMS
def test_evidence_says_what_was_established(
    levels: Build, name: str, construction: str, length: int, dtype: str, strict: bool
) -> None:
    built = levels(name, construction, length, dtype, strict)
    seen: list[tuple[int, int]] = []
    proof = prove(built.compiled.file, built.machine, lambda *step: seen.append(step))
    blocks = len(built.compiled.file.header["architecture"]["blocks"])
    assert (proof.verdict, proof.reason, proof.length) == ("verified", "", length)
    assert len(proof.evidence) == 3 + 2 * blocks
    assert seen == [(i + 1, 3 + 2 * blocks) for i in range(3 + 2 * blocks)]
    assert proof.evidence == built.compiled.proof.evidence
    text = json.dumps(proof.evidence, allow_nan=False)
    assert json.loads(text) == proof.evidence
    assert proof.evidence[-1]["margin"] > 0


def test_what_was_established_before_a_refusal_is_told_once(
    levels: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cost of telling it does not grow with the square of the blocks."""
    built = levels("S3", "scan", 12)
    file, told, steps = built.compiled.file, list[int](), proof_of.steps

    def counted(*found: Any) -> list[dict[str, Any]]:
        told.append(1)
        return steps(*found)

    monkeypatch.setattr(proof_of, "steps", counted)
    wrong = {"unembed.weight": np.zeros_like(file.tensors["unembed.weight"])}
    done = prove(replace(file, tensors=file.tensors | wrong), built.machine)
    assert done.verdict == "undecided"
    assert done.evidence == built.compiled.proof.evidence[:-1]
    assert told == [1]


def test_a_longer_claim_is_undecided(levels: Build) -> None:
    built = levels("C3", "counter", 12)
    header = {**built.compiled.file.header, "claim": {"length": 13}}
    proof = prove(replace(built.compiled.file, header=header), built.machine)
    assert proof.verdict == "undecided"


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [1, 2, 5, 11])
def test_a_shorter_claim_is_proved(levels: Build, length: int) -> None:
    built = levels("S3", "scan", 12)
    header = {**built.compiled.file.header, "claim": {"length": length}}
    proof = prove(replace(built.compiled.file, header=header), built.machine)
    assert (proof.verdict, proof.length) == ("verified", length)


def test_a_program_is_needed(levels: Build) -> None:
    built = levels("C3", "scan", 4)
    header = {k: v for k, v in built.compiled.file.header.items() if k != "program"}
    proof = prove(replace(built.compiled.file, header=header), built.machine)
    assert proof.verdict == "undecided"
    assert "no Program" in proof.reason


def test_another_alphabet_is_undecided(levels: Build, machine: Build) -> None:
    built = levels("C3", "scan", 4)
    proof = prove(built.compiled.file, machine("C6"))
    assert proof.verdict == "undecided"
    assert "number of letters" in proof.reason


@pytest.mark.sample(1)
@pytest.mark.parametrize("construction", ["scan", "sequential"])
def test_another_machine_is_refuted_with_a_word(
    levels: Build, machine: Build, own: Build, construction: str
) -> None:
    built = levels("Grid4", construction, 4)
    walls = own([[0, 0, 1, 2], [1, 2, 3, 2]])
    other = replace(walls, start=built.machine.start)
    proof = prove(built.compiled.file, other)
    assert proof.verdict == "refuted"
    assert proof.word is not None
    right, wrong = (
        m.semiautomaton.trace(proof.word, m.start) for m in (built.machine, other)
    )
    assert right[-1] != wrong[-1]
