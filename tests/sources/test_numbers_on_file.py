"""What a file says of a source is read by one class, which refuses what is no number."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from conformance import edited, found, places
from every_kind import NETWORKS, SOURCES, compiled

import krohn
from krohn import cli
from krohn.kinds.attention_targets.source_grid_function import GridFunction
from krohn.kinds.attention_targets.statement_target import StatedAttentionTarget
from krohn.kinds.hidden_markov.statement import StatedHiddenMarkov
from krohn.kinds.kernels.statement import StatedKernel
from krohn.kinds.linear_systems.statement import StatedLinearSystem
from krohn.kinds.posterior_heads.statement import StatedPosteriorHead
from krohn.network import modelfile
from krohn.program.errors import Refused
from krohn.verify.checker.network import digest

NO_NUMBERS = (True, 2**60 + 127, "1", "1+2j", float("nan"), float("inf"))
"""In the place of a number that need not be whole, each is damage."""
NOT_WHOLE = (True, 1.0, "1", 0.5)
SAMPLED = 3

Reader = Callable[[Any], object]
READERS: dict[str, tuple[str, *tuple[Reader, ...]]] = {
    "grid": ("Sorted3,4", GridFunction.from_wire),
    "target": ("Sine2,1.5", StatedAttentionTarget.from_wire),
    "hidden": ("RanHMM2,2@3", StatedHiddenMarkov.from_wire),
    "kernel": ("Exp8,2", StatedKernel.from_wire),
    "system": ("MatMul2,2@3", StatedLinearSystem.from_wire),
    "posterior": (
        "GaussianHMM3,2@7",
        StatedPosteriorHead.from_wire,
    ),
}


def numbers(said: Any) -> list[tuple[Any, ...]]:
    """Where the numbers of a source are."""
    return [at for at in places(said) if type(found(said, at)) in (int, float)]


@pytest.fixture(scope="module", params=list(READERS))
def about(
    request: pytest.FixtureRequest,
) -> tuple[dict[str, Any], *tuple[Reader, ...]]:
    name, *readers = READERS[request.param]
    length = 4 if name in ("MatMul2,2@3", "RanHMM2,2@3") else None
    within = 0.5 if name == "RanHMM2,2@3" else None
    header = krohn.compile(name, length, within=within).file.header["source"]
    return json.loads(json.dumps(header)), *readers


@pytest.mark.sample(1)
def test_every_number_of_a_source_is_one_or_is_refused(
    about: tuple[dict[str, Any], *tuple[Reader, ...]],
) -> None:
    said, *readers = about
    for read in readers:
        read(said)
    known = numbers(said)
    for at in Random("numbers").sample(known, min(SAMPLED, len(known))):
        real = type(found(said, at)) is float
        for wrong in NO_NUMBERS if real else NOT_WHOLE:
            damaged = edited(said, at, wrong)
            for read in readers:
                with pytest.raises(Refused), np.errstate(all="ignore"):
                    read(damaged)


def one_of_each(said: Any) -> list[tuple[Any, ...]]:
    """For each key that has a number, or numbers in lists, the place of the last one."""
    last = {tuple(k for k in at if type(k) is str): at for at in numbers(said)}
    return list(last.values())


WRONG = (True, 2**60 + 127, "1", None)


@pytest.mark.sample(1)
@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", [*SOURCES, "states", "outputs", "rnn"])
def test_run_verify_and_recheck_refuse_a_file_in_which_a_number_is_none(
    kind: str, part: int, tmp_path: Path
) -> None:
    """Of each number one wrong value, and all of them where there is time.

    The evidence is made out for the damaged file, so that its source is looked at.
    """
    words = NETWORKS[kind][2]
    path, evidence = tmp_path / "m.safetensors", tmp_path / "e.json"
    compiled(kind).save(path)
    assert cli.run(["-q", "verify", str(path), "--evidence", str(evidence)]) == 0
    file, told = modelfile.read(path), json.loads(evidence.read_text())
    about = "source" if kind in SOURCES else "machine"
    asked = (
        ["run", str(path), *words.split()],
        ["verify", str(path)],
        ["recheck", str(path), str(evidence)],
    )

    def codes(said: dict[str, Any]) -> list[int]:
        path.write_bytes(modelfile.pack({**file.header, about: said}, file.tensors))
        model = digest(path.read_bytes())
        evidence.write_text(json.dumps({**told, "model": model}))
        return [cli.run(["-q", *words]) for words in asked]

    said = file.header[about]
    assert codes(said) == [0, 0, 0]
    wrongs = list(product(one_of_each(said), WRONG))
    for at, wrong in wrongs if part else wrongs[:: len(WRONG) + 1]:
        assert all(codes(edited(said, at, wrong))), (at, wrong)


@pytest.mark.sample(2)
def test_a_letter_that_is_there_twice_is_refused(
    about: tuple[dict[str, Any], *tuple[Reader, ...]],
) -> None:
    said, *readers = about
    if len(said.get("letters", ())) < 2:
        return
    twice = {**said, "letters": [said["letters"][0]] * len(said["letters"])}
    for read in readers:
        with pytest.raises(Refused):
            read(twice)
