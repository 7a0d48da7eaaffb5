"""Posterior heads on the command line: compiled, verified, run, compared, explained."""

from pathlib import Path

import numpy as np
import pytest
from command import said

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.posterior_heads.source import find_by_name


def test_letters_are_read_by_name(tmp_path: Path) -> None:
    path = tmp_path / "h.safetensors"
    krohn.compile("RanHMM3,4@7:2given1").save(path)
    told = said("run", str(path), "2", "4")
    source = find_by_name("RanHMM3,4@7:2given1")
    assert source is not None
    right = source.run(np.eye(4)[[1, 3]])
    assert np.abs(np.array(told["outputs"]) - right).max() <= told["error"]
    report = krohn.verify(path, exhaustive=1)
    assert (report.verdict, report.words) == ("undecided", 4)


def test_explain_says_what_determines_a_model() -> None:
    facts = said("explain", "RanHMM3,4@7:2given1")
    assert facts["identifies"]["23given1"] == "determines it"
    assert "6 directions open" in facts["identifies"]["2given1"]
    twin = said("explain", "Twin1:2given1")["identifies"]
    assert twin["all pairs of 3 letters"] == "leaves 1 direction open"


def test_two_models_of_one_function(tmp_path: Path) -> None:
    for task, verdict in (("2given1", "verified"), ("23given1", "undecided")):
        path = tmp_path / f"{task}.safetensors"
        found = krohn.compile(f"Twin1:{task}", within=1e-7)
        found.save(path)
        report = krohn.verify(path, f"Twin2:{task}")
        assert report.verdict == verdict
        assert krohn.verify(path, f"Twin1:{task}").verdict == "verified"
        if verdict == "undecided":
            assert "may be 0.000165, and the file claims 1e-07" in report.reason


def test_two_transition_matrices_of_one_power(tmp_path: Path) -> None:
    for task, verdict in (("5given1", "verified"), ("2given1", "undecided")):
        path = tmp_path / f"{task}.safetensors"
        krohn.compile(f"Power1@4:{task}", within=1e-10).save(path)
        assert krohn.verify(path, f"Power2@4:{task}").verdict == verdict


def test_an_error_that_cannot_be_kept_is_refused() -> None:
    with pytest.raises(KrohnError, match="off by"):
        krohn.compile("GaussianHMM3,2@7", within=1e-20)
    with pytest.raises(KrohnError, match="guesses points"):
        krohn.compile("GaussianHMM3,2@7", construction="lookup")
    with pytest.raises(KrohnError, match="too narrow"):
        krohn.compile("GaussianHMM3,2@7", dtype="bfloat16")
