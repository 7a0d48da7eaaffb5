"""Blocks of sparse attention: look-backs within the window are proved, others are not."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from model_files import lowered, with_tensors

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.compiler import CompileError
from krohn.instruments.attack.campaign import (
    Extent,
    attack,
)
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.program import Map, Operation, Program, Shift, Token, table
from krohn.program.attention import Sparse
from krohn.program.claim import first_version
from krohn.verify.proof import prove
from krohn.verify.testing.exhaustive import exhaustive

LENGTH, LETTERS, BACK = 64, 2, 2
STATES = list(product(range(LETTERS + 1), repeat=BACK + 1))
"""The last letters, the newest first; 2 where there was none yet."""
MACHINE = Automaton(
    Semiautomaton(
        np.array(
            [[STATES.index((a, *s[:-1])) for s in STATES] for a in range(LETTERS)]
        ),
        tuple("ab"),
        tuple("".join("ab-"[x] for x in s) for s in STATES),
    ),
    start=len(STATES) - 1,
)
NARROWEST = Sparse(BACK + 1, 1, 1)


def program(length: int = LENGTH) -> Program:
    letter = table({(a,): a for a in range(LETTERS + 1)})
    operations: dict[str, Operation] = {
        "token": Token(),
        "letter": Map(letter, ("token",)),
        **{f"back{by}": Shift("letter", by) for by in range(1, BACK + 1)},
    }
    outputs = ("letter", *(f"back{by}" for by in range(1, BACK + 1)))
    decode = {state: i for i, state in enumerate(STATES)}
    return Program(tuple("ab"), len(STATES), length, operations, outputs, decode)


def stating(file: ModelFile, attention: Any) -> ModelFile:
    """The file, its blocks with another kind of attention."""
    shape = file.header["architecture"]
    blocks = [{**block, "attention": attention} for block in shape["blocks"]]
    return replace(
        file, header={**file.header, "architecture": {**shape, "blocks": blocks}}
    )


def sizes(block: int, windows: int, last: int) -> Mapping[str, Any]:
    return {"kind": "sparse", "block": block, "windows": windows, "last": last}


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("sparse", [NARROWEST, Sparse(2, 2, 1), Sparse(4, 1, 3)])
def test_look_backs_within_the_window_are_proved(dtype: str, sparse: Sparse) -> None:
    file = lowered(program(), MACHINE, dtype, sparse=sparse)
    proof = prove(file, MACHINE)
    assert (proof.verdict, proof.reason) == ("verified", "")
    assert first_version(file.header) == 5
    assert exhaustive(Model(file), MACHINE, 9).has_passed


@pytest.mark.slow
def test_no_bound_is_violated() -> None:
    file = lowered(program(20), MACHINE, "bfloat16", sparse=NARROWEST)
    proof = prove(file, MACHINE)
    found = attack(file, MACHINE, proof, Extent(positions=20_000), seed=1)
    assert not found.violations
    assert any("leak" in name for name in found.numbers)
    assert found.ways.keys() >= {"letter by letter", "worst arithmetic"}


def test_a_head_that_does_not_see_far_enough_is_refused_and_wrong() -> None:
    file = stating(lowered(program(), MACHINE), sizes(BACK, 1, 1))
    proof = prove(file, MACHINE)
    assert proof.verdict != "verified"
    assert "may not see" in proof.reason
    assert not exhaustive(Model(file), MACHINE, 6).has_passed


def test_what_is_hidden_weighs_nothing() -> None:
    """Where positions 32 apart have one code, only one of them may be seen."""
    file = lowered(program(), MACHINE, "float64")
    features = file.header["program"]["features"]
    low, high = features["code"]
    terms = (high - low + 1) // 2
    position = file.tensors["embed.position"].copy()
    position[:, [low + 5, low + 6, high - 2, high - 1]] = 0.0
    assert np.allclose(position[33:, low:high], position[1:-32, low:high])
    name = "blocks.0.attention.key"
    key = file.tensors[name].copy()
    key[:, features["bos"][0], -1] *= (5 - 1) / (terms - 1)
    twins = with_tensors(file, {"embed.position": position, name: key})
    sparse = stating(twins, sizes(32, 1, 1))
    assert prove(twins, MACHINE).verdict != "verified"
    assert prove(sparse, MACHINE).verdict == "verified"


@pytest.mark.parametrize(
    "attention",
    [{"kind": "cubic"}, "sparse", {"kind": "linear"}, sizes(4, 1, 0), sizes(2, 1, 3)],
)
def test_kinds_without_a_rule_are_refused(attention: Any) -> None:
    proof = prove(stating(lowered(program(), MACHINE), attention), MACHINE)
    assert proof.verdict != "verified"
    assert "\n" not in proof.reason
    assert any(said in proof.reason for said in ("attention", "block", "sensible size"))


def test_the_compiler_says_which_channel_looks_too_far() -> None:
    with pytest.raises(CompileError, match="'back2' looks 2 positions back"):
        lowered(program(), MACHINE, sparse=Sparse(BACK, 1, 1))
