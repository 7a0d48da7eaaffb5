"""Runs refute: they verify nothing but classes, and these only if all inputs were run."""

import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damaged_tensors import mutant
from every_kind import NETWORKS, compiled

import krohn
from krohn import cli
from krohn.algebra.errors import KrohnError
from krohn.network import modelfile
from krohn.network.modelfile import ModelFile
from krohn.program.domains import FloatArray
from krohn.program.exact_products import (
    Ratios,
    ratios,
)
from krohn.report import Report
from krohn.source_kinds import of_file
from krohn.source_kinds.real_outputs import Reference, judge_outputs

KINDS = [*NETWORKS, "generator"]
EACH = pytest.mark.parametrize("kind", KINDS)
SHORT = {"exhaustive": 2}, {"sample": 3}, {"exhaustive": 2, "sample": 3}
WHOLE = {"states": 8, "rnn": None, "program": 4, "chain-of-thought": 6}
WHOLE |= {"text-in-blocks": 4, "increasing": 3}
"""Of some kinds how long all inputs are of which the file claims something."""


def claiming(file: ModelFile, **claim: Any) -> ModelFile:
    header = {**file.header, "claim": {**file.header["claim"], **claim}}
    return replace(file, header=header)


def stating(file: ModelFile, **source: Any) -> ModelFile:
    header = {**file.header, "source": {**file.header["source"], **source}}
    return replace(file, header=header)


def reports(file: ModelFile) -> Iterator[Report]:
    """What all short inputs, some others, and both say; where they can be run."""
    for asked in SHORT:
        with suppress(KrohnError):  # all inputs are too many, or none is so short
            yield krohn.verify(file, **asked)


@pytest.mark.sample(1)
@EACH
def test_too_few_runs_verify_nothing(kind: str) -> None:
    for report in reports(compiled(kind).file):
        assert (report.verdict, report.covers) == ("undecided", "nothing")
        assert "proved" in report.reason or "proof" in report.reason


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", WHOLE)
def test_all_words_of_the_claim_verify_classes(kind: str) -> None:
    file, length = compiled(kind).file, WHOLE[kind]
    report = krohn.verify(file, exhaustive=length or 6)
    assert report.verdict == ("verified" if length else "undecided")
    assert report.covers.endswith(", run as here") == bool(length)
    if length and "source" not in file.header:
        assert krohn.verify(file, exhaustive=length - 1).verdict == "undecided"


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["states", "strict", "rnn", "gru", "ssm", "pruned"])
def test_all_words_up_to_a_length_that_is_asked_about(kind: str) -> None:
    report = krohn.verify(compiled(kind).file, exhaustive=3, length=3)
    letters = len(compiled(kind).claim.letters)
    assert (report.verdict, report.length) == ("verified", 3)
    assert report.covers == (
        f"right on all {letters}^3 words of length 3, and all shorter, run as here"
    )
    assert krohn.verify(compiled(kind).file, sample=9, length=3).verdict == "undecided"


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_no_damage_is_verified_by_a_few_runs(kind: str, seed: int) -> None:
    for report in reports(mutant(compiled(kind).file, seed)):
        assert report.verdict in ("undecided", "refuted")


SAYING_NUMBERS = {
    *("attention-target", "context-learner", "grid-function", "hidden-markov"),
    *(
        "hidden-markov rnn",
        "kalman-predictor",
        "kernel",
        "linear-system",
        "posterior-head",
    ),
    *("selected-mean", "vectors-in-blocks"),
}
NUMBERS = [*(k for k in KINDS if k in SAYING_NUMBERS), "thirds"]


def test_kinds_whose_claims_have_errors_are_listed() -> None:
    errors = {k for k in KINDS if "error" in compiled(k).file.header["claim"]}
    assert errors == SAYING_NUMBERS


def saying_numbers(kind: str) -> ModelFile:
    if kind == "thirds":
        return krohn.compile_generator("Dyck2,2", 8, opening=Fraction(1, 3)).file
    return compiled(kind).file


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("error", [1e-17, 1e-300, 0.0])
def test_a_claim_below_what_is_rounded(kind: str, error: float) -> None:
    """It is refuted where the network is surely off by more, and else undecided."""
    file = saying_numbers(kind)
    claim = "tolerance" if kind == "thirds" else "error"
    for report in reports(claiming(file, **{claim: error})):
        assert report.verdict in ("undecided", "refuted")
        if report.counterexample is not None:
            assert report.counterexample.at >= 1


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_that_are_off_are_refuted(kind: str, call: Any, tmp_path: Path) -> None:
    """By as much as the claim and all roundings cannot explain; and run again."""
    file = saying_numbers(kind)
    tensors = {n: t * 1.5 for n, t in file.tensors.items() if t.dtype.kind == "f"}
    wrong = replace(file, tensors={**file.tensors, **tensors})
    found = list(reports(wrong))
    assert [r.verdict for r in found] == ["refuted"] * len(found)
    path = tmp_path / "wrong.safetensors"
    modelfile.write(path, wrong.header, wrong.tensors)
    code, told = call("verify", path, "--sample", 2)
    assert (code, told["verdict"]) == (1, "refuted")
    if kind != "thirds":  # of a generator it is piped into, and fails
        assert cli.run(shlex.split(told["replay"])[1:]) == 0


# Sources of extreme numbers, whose floats overflow, or are 0 where nothing is.


def silent(file: ModelFile) -> ModelFile:
    """A network that says 0."""
    nothing = {name: np.zeros_like(t) for name, t in file.tensors.items()}
    return replace(file, tensors=nothing)


def linear(start: list[float], matrix: list[list[float]]) -> ModelFile:
    file = claiming(compiled("linear-system").file, error=1e-9)
    return stating(file, start=start, matrices=[matrix, matrix])


@pytest.mark.parametrize(
    ("start", "matrix", "verdict"),
    [
        ([1e18, 100.0], [[0.0, 0.0], [0.0, 1.0]], "refuted"),
        ([1e18, 0.0], [[0.0, 0.0], [0.0, 1.0]], "undecided"),
        ([1e200, 1e200], [[1e200, -1e200], [0.0, 0.0]], "undecided"),
        ([1e200, 1e200], [[1e200, -1e200], [0.0, 1e-200]], "refuted"),
        ([1.0, 1e-17], [[0.0, 0.0], [1e30, 1.0]], "refuted"),
    ],
)
def test_a_linear_system_of_extreme_numbers(
    start: list[float], matrix: list[list[float]], verdict: str
) -> None:
    """A network that says 0 is right where all states are; others are exactly wrong."""
    for report in reports(silent(linear(start, matrix))):
        assert report.verdict == verdict


def test_a_word_whose_probability_no_float_has() -> None:
    """It is possible, and its belief exact: a network that says 0 is off by 1."""
    half, rare = [[0.5, 0.5], [0.5, 0.5]], [[0.0, 1e-200], [0.0, 0.0]]
    chances = {"start": [1.0, 1e-200], "matrices": [half, rare]}
    file = stating(claiming(compiled("hidden-markov").file, error=0.6), **chances)
    report = krohn.verify(silent(file), exhaustive=1)
    assert report.counterexample is not None
    assert report.counterexample.word == ("1",)
    assert report.counterexample.expected == ("1 0",)
    assert of_file(file).run(file, ["1"])["possible"] == [True]


EXTREME: dict[str, dict[str, Any]] = {
    "grid-function": {"values": 1.7e308},
    "kernel": {"modes": [[1e19, 0.0, 0.5, 0.0]]},
    "posterior-head": {"emissions": [[1e6, -1e6], [0.0, 0.0]]},
    "attention-target": {"f": 1e300},
}


@pytest.mark.parametrize("kind", EXTREME)
def test_other_sources_of_extreme_numbers(kind: str) -> None:
    file = compiled(kind).file
    for key, value in EXTREME[kind].items():
        whole = np.full_like(file.header["source"][key], value, float).tolist()
        changed = whole if isinstance(value, float) else value
        file = stating(file, **{key: changed})
    for each in file, silent(file):
        for report in reports(each):
            assert report.verdict in ("undecided", "refuted")


# What a run says of numbers, and what it is held against.


def run(
    wanted: float, found: float, error: float, **right: Any
) -> tuple[bool, str, tuple[str, ...]]:
    """Whether it passed, what else is said, and the answers of a wrong one."""
    numbers = (np.array([[[x]]]) for x in (0.0, wanted, found))
    reference = Reference(lambda x: x, **right)
    done = judge_outputs([tuple(numbers)], reference, error, lambda x, _: ("a",))  # type: ignore[list-item]
    wrong = done.counterexample
    texts = (wrong.expected[0], wrong.actual[0]) if wrong else ()
    return done.has_passed, done.about, texts


def exact(*values: Fraction | None) -> Any:
    def exactly(x: FloatArray) -> Iterator[Ratios]:
        for value in values:
            yield (
                Ratios([value.numerator], value.denominator)
                if value
                else Ratios([0], 0)
            )

    return exactly


COARSE = ", of which the reference is too coarse to judge 1"


def test_rounding_of_the_reference_is_no_error_of_the_network() -> None:
    assert run(1.0, 1.25, 0.25) == (True, "", ())
    assert run(1.0, 1.5, 0.25, rounding=0.25) == (True, COARSE, ())
    assert run(1.0, 1.75, 0.25, rounding=0.25)[0] is False
    assert run(1.0, 1.75, 0.25, rounding=np.inf) == (True, COARSE, ())
    assert run(np.inf, 1.0, 0.25) == (True, COARSE, ())
    assert run(np.nan, 1.0, 0.25) == (True, "", ())  # nothing is claimed
    assert run(1.0, np.nan, 0.25) == (False, "", ("1", "nan"))


def test_exact_numbers_have_the_last_word() -> None:
    third = Fraction(1, 3)
    assert run(9.0, 1 / 3, 1e-15, exactly=exact(third)) == (True, "", ())
    assert run(9.0, 1 / 3, 1e-15, exactly=exact()) == (True, COARSE, ())
    passed, _, texts = run(0.5, 1 / 3, 1e-20, exactly=exact(third))
    assert not passed
    assert texts[1].endswith("which is 1.9e-17 off")
    assert run(9.0, 1 / 3, 1e-20, exactly=exact(None))[0]
    assert run(np.inf, 0.0, 1.0, exactly=exact(Fraction(10) ** 400))[2] == ("inf", "0")


def test_ratios_are_the_numbers_themselves() -> None:
    numbers = np.array([0.1, -3.0, 5e-324, 1e300])
    over, under = ratios(numbers)
    assert [Fraction(x, under) for x in over] == [Fraction(x) for x in numbers.tolist()]
