"""Numbers of another type, anywhere in a file of any kind, are damage."""

import json
from random import Random
from typing import Any

import pytest
from conformance import NETWORKS, compiled, found, places
from hostile import Json, Judge, pack, put

SAMPLED = 2


def numbers(said: Json) -> list[tuple[Any, ...]]:
    """Where the numbers and truth values of a header are."""
    return [at for at in places(said) if type(found(said, at)) in (int, float, bool)]


def alike(value: Json) -> list[Json]:
    """Values of other types that some reader may take for this one."""
    if type(value) is bool:
        return [int(value), str(value), None]
    return [True, str(value), 2**60 + 127 if type(value) is float else float(value)]


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", NETWORKS)
def test_numbers_of_another_type_are_damage(judge: Judge, name: str) -> None:
    header = json.loads(json.dumps(compiled(name).file.header))
    for unread in ("evidence", "search"):
        header.pop(unread, None)
    known = numbers(header)
    for at in Random(name).sample(known, min(SAMPLED, len(known))):
        value = found(header, at)
        for wrong in alike(value):
            said = judge(pack(compiled(name).file, put(*at, value=wrong)))
            assert said.verdict in ("refused", "undecided"), (at, value, wrong)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", NETWORKS)
def test_an_architecture_is_read_alike_by_all(judge: Judge, name: str) -> None:
    """One number of each name: 1.0 for 1 was verified, and is no place of a tensor."""
    shape = json.loads(json.dumps(compiled(name).file.header["architecture"]))
    named = {tuple(key for key in at if type(key) is str): at for at in numbers(shape)}
    for at in named.values():
        value = found(shape, at)
        wrong = int(value) if type(value) is bool else float(value)
        said = judge(pack(compiled(name).file, put("architecture", *at, value=wrong)))
        assert said.verdict == "refused", (at, value, wrong)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["memory", "RNN", "generator"])
@pytest.mark.parametrize("wrong", ["float16", 32, None])
def test_a_claim_is_about_the_format_of_the_tensors(
    judge: Judge, name: str, wrong: Json
) -> None:
    said = judge(pack(compiled(name).file, put("claim", "dtype", value=wrong)))
    assert said.verdict == "refused"
    assert f"the file claims {wrong!r}, its tensors are" in said.reason
