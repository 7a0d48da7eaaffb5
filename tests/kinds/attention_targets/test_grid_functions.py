"""Functions on grids through the commands and the public face."""

from fractions import Fraction

import numpy as np
import pytest
from command import said

import krohn
from krohn import cli
from krohn.kinds.attention_targets.source_grid_function import (
    GridFunction,
    levels,
)

NAME = "Sorted3,4"


def refused(*command: str) -> bool:
    """Whether a command says in one line why it cannot."""
    return cli.run(list(command)) == 2


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("grid") / "f.safetensors")
    told = said("compile", NAME, "-o", path)
    assert (told["claim"], told["verdict"]) == ("within", "verified")
    return path


@pytest.mark.slow
def test_it_is_explained_and_its_triples_are_checked_exactly() -> None:
    told = said("explain", NAME)
    assert told["inputs"] == 4**3
    assert told["exact_values"] == 3 * 4**3
    assert "n = 4" in told["triple"]
    assert told["as_superposition"] == "n = 22"  # τ(2τd + 1) + 1
    assert told["m_h"] == 3


def test_a_run_sorts_and_what_is_no_input_is_refused(file: str) -> None:
    # levels 3, 0 and 1 of the positions, whose points begin at 0, 1/4 and 1/2
    told = said("run", file, "0.1875", "0.25", "0.5625")
    assert np.ravel(told["outputs"]).tolist() == [0, 1, 3]
    for words in (("0.25", "0.25", "0.5"), ("0", "0.25"), ("0", "0.25", "x")):
        assert refused("run", file, *words)


def test_it_is_verified_in_every_way(file: str) -> None:
    whole = said("verify", file, "--proof", "--exhaustive", "3")
    assert whole["verdict"] == "verified"
    assert whole["words"] == 4**3
    runs = said("verify", file, "--sample", "40")
    assert runs["verdict"] == "undecided"
    alone = said("verify", file, "--exhaustive", "3")
    assert alone["verdict"] == "undecided"  # of numbers nothing is verified by runs
    assert refused("verify", file, "--exhaustive", "2")
    assert said("verify", file, "--proof", "--machine", NAME)["verdict"] == "verified"
    other = said("verify", file, "--proof", "--machine", "RanGrid3,4@1")
    assert other["verdict"] == "undecided"


def test_python_takes_it_as_an_object() -> None:
    table = GridFunction.of(
        "differences", levels(2, 3), lambda x: (x[1][0] - x[0][0], Fraction(1))
    )
    built = krohn.compile(table)
    assert built.proof is not None
    assert built.proof.verdict == "verified"
    like = next(built.network.parameters())
    said = built.network(like.new_tensor([[[0.125], [0.5]]]))
    assert said[0, :, 0].tolist() == [0.375, 1.0]
