"""Counting programs are compared like machines, which they are on short words."""

from pathlib import Path

import numpy as np
import pytest

import krohn
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.comparison.derived import (
    UnrolledTask,
    derive,
    unrolled_task,
)
from krohn.instruments.compare.comparison.result import Comparison
from krohn.instruments.compare.measures.accuracy import accuracy
from krohn.kinds.counting.source import find_by_name


def test_its_network_is_proved_and_right() -> None:
    task = unrolled_task("crasp:Dyck1", "desk", 6)
    assert isinstance(task, UnrolledTask)
    found = derive(task, [6, 12, 24])
    assert found.proved.verdict == "verified"
    assert found.proved.length == 24
    assert found.proved.construction == "program"
    rate = accuracy(found.model, task, np.random.default_rng(0), 24, 50)
    assert rate.words.value == 1


def test_only_counting_programs_are() -> None:
    assert unrolled_task("C2", "desk", None) is None
    assert unrolled_task(3, "desk", None) is None
    assert unrolled_task(find_by_name("Majority"), "desk", 4) is not None
    with pytest.raises(KrohnError, match="no counting program"):
        unrolled_task("crasp:Dyck", "desk", None)
    with pytest.raises(KrohnError, match="train on shorter words by length="):
        unrolled_task("crasp:ShuffleDyck2", "desk", None)
    with pytest.raises(KrohnError, match=r"complete"):
        krohn.compare("crasp:Majority", complete="sink")


@pytest.mark.slow
def test_all_of_a_comparison(tmp_path: Path) -> None:
    found = krohn.compare(
        "crasp:Majority", steps=2, seeds=1, length=4, width=8, jobs=1, runs=tmp_path
    )
    assert isinstance(found, Comparison)
    assert found.of("compiled").ones[0].sequence.value == 1
    assert found.proved.verdict == "verified"
