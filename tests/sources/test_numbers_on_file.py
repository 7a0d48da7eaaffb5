"""The reader of a source and the checker agree about each number that a file says."""

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

import krohn
from krohn.program.errors import Refused
from krohn.sources.attention_targets.grid_function import GridFunction
from krohn.sources.attention_targets.target import AttentionTarget
from krohn.sources.hidden_markov.model import HiddenMarkovModel
from krohn.sources.kernels.kernel import Kernel
from krohn.sources.linear_systems.system import LinearSystem
from krohn.sources.posterior_heads.head import PosteriorHead
from krohn.verify.checker import (
    attention_target,
    grid_function,
    kernels,
    linear_source,
    posterior_head,
    situations,
)

NO_NUMBERS = (True, 2**60 + 127, "1", "1+2j", float("nan"), float("inf"))
"""In the place of a number that need not be whole, each is damage."""
NOT_WHOLE = (True, 1.0, "1", 0.5)
SAMPLED = 6

Reader = Callable[[Any], object]
READERS: dict[str, tuple[str, Reader, Reader]] = {
    "grid": ("Sorted3,4", GridFunction.from_wire, grid_function.source_of),
    "target": ("Sine2,1.5", AttentionTarget.from_wire, attention_target.source_of),
    "hidden": ("RanHMM2,2@3", HiddenMarkovModel.from_wire, situations.source_of),
    "kernel": ("Exp8,2", Kernel.from_wire, kernels.source_of),
    "system": ("MatMul2,2@3", LinearSystem.from_wire, linear_source.source_of),
    "posterior": (
        "GaussianHMM3,2@7",
        PosteriorHead.from_wire,
        posterior_head.Stated.of,
    ),
}


def places(said: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the numbers of a source are."""
    if isinstance(said, dict | list):
        for key, each in said.items() if isinstance(said, dict) else enumerate(said):
            yield from places(each, (*at, key))
    elif type(said) in (int, float):
        yield at


@pytest.fixture(scope="module", params=list(READERS))
def about(request: pytest.FixtureRequest) -> tuple[dict[str, Any], Reader, Reader]:
    name, run, check = READERS[request.param]
    length = 4 if name in ("MatMul2,2@3", "RanHMM2,2@3") else None
    within = 0.5 if name == "RanHMM2,2@3" else None
    header = krohn.compile(name, length, within=within).file.header["source"]
    return json.loads(json.dumps(header)), run, check


def test_every_number_of_a_source_is_one_or_both_readers_refuse(
    about: tuple[dict[str, Any], Reader, Reader],
) -> None:
    said, *readers = about
    for read in readers:
        read(said)
    known = list(places(said))
    for at in Random("numbers").sample(known, min(SAMPLED, len(known))):
        damaged = copy.deepcopy(said)
        holder: Any = damaged
        for key in at[:-1]:
            holder = holder[key]
        real = type(holder[at[-1]]) is float
        for wrong in NO_NUMBERS if real else NOT_WHOLE:
            holder[at[-1]] = wrong
            for read in readers:
                with pytest.raises(Refused), np.errstate(all="ignore"):
                    read(damaged)


def test_a_letter_that_is_there_twice_is_refused_by_both_readers(
    about: tuple[dict[str, Any], Reader, Reader],
) -> None:
    said, *readers = about
    if len(said.get("letters", ())) < 2:
        return
    twice = {**said, "letters": [said["letters"][0]] * len(said["letters"])}
    for read in readers:
        with pytest.raises(Refused):
            read(twice)
