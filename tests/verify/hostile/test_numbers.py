"""Numbers of another type, anywhere in a file of any kind, are damage."""

import json
from functools import cache
from random import Random
from typing import Any

import pytest
from conformance import found, places
from hostile import Json, Judge, pack, put

import krohn
from krohn.network.modelfile import ModelFile

SAMPLED = 2
FILES: dict[str, dict[str, Any]] = {
    "FlipFlop": {"length": 6},
    "C3": {"length": 6, "strict": True},
    "Dyck2,1": {"length": 6},
    "Parity8@2,3,7": {"length": 8},
    "Grid4": {"arch": "rnn"},
    "D6": {"arch": "lstm"},
    "C2": {"arch": "gru"},
    "C6": {"arch": "ssm", "length": 6},
    "Sorted3,4": {},
    "Sine2,1.5": {},
    "Nearest6": {},
    "Exp8,2": {},
    "MatMul2,2@3": {"length": 4},
    "RanHMM2,2@3": {"length": 4, "within": 0.5},
    "GaussianHMM3,2@7": {},
    "crasp:Majority": {"length": 6},
}


GENERATOR = "Dyck2,2"
"""Of this one a generator is made."""


@cache
def good(name: str) -> ModelFile:
    if name == GENERATOR:
        return krohn.compile_generator(name, 4).file
    return krohn.compile(name, **FILES[name]).file


def numbers(said: Json) -> list[tuple[Any, ...]]:
    """Where the numbers and truth values of a header are."""
    return [at for at in places(said) if type(found(said, at)) in (int, float, bool)]


def alike(value: Json) -> list[Json]:
    """Values of other types that some reader may take for this one."""
    if type(value) is bool:
        return [int(value), str(value), None]
    return [True, str(value), 2**60 + 127 if type(value) is float else float(value)]


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", FILES)
def test_numbers_of_another_type_are_damage(judge: Judge, name: str) -> None:
    header = json.loads(json.dumps(good(name).header))
    for unread in ("evidence", "search"):
        header.pop(unread, None)
    known = numbers(header)
    for at in Random(name).sample(known, min(SAMPLED, len(known))):
        value = found(header, at)
        for wrong in alike(value):
            said = judge(pack(good(name), put(*at, value=wrong)))
            assert said.verdict in ("refused", "undecided"), (at, value, wrong)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", [*FILES, GENERATOR])
def test_an_architecture_is_read_alike_by_all(judge: Judge, name: str) -> None:
    """One number of each name: 1.0 for 1 was verified, and is no place of a tensor."""
    shape = json.loads(json.dumps(good(name).header["architecture"]))
    named = {tuple(key for key in at if type(key) is str): at for at in numbers(shape)}
    for at in named.values():
        value = found(shape, at)
        wrong = int(value) if type(value) is bool else float(value)
        said = judge(pack(good(name), put("architecture", *at, value=wrong)))
        assert said.verdict == "refused", (at, value, wrong)


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", ["FlipFlop", "Grid4", GENERATOR])
@pytest.mark.parametrize("wrong", ["float16", 32, None])
def test_a_claim_is_about_the_format_of_the_tensors(
    judge: Judge, name: str, wrong: Json
) -> None:
    said = judge(pack(good(name), put("claim", "dtype", value=wrong)))
    assert f"it claims {wrong!r}, its tensors are" in said.reason
