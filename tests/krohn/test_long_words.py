"""Lengths for which no network can be proved are refused before any work is done."""

import re

import pytest

import krohn
from krohn.algebra.errors import KrohnError

HOPELESS = 3_000_000
MACHINES = ["C2", "FlipFlop", "Grid4", "Dyck2,2", "A5", "regex:(ab)*"]


def refusal(machine: str, length: int, construction: str = "auto") -> str:
    with pytest.raises(KrohnError) as caught:
        krohn.compile(machine, length, construction)
    return str(caught.value)


@pytest.fixture
def nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("krohn.compiler.compiled_network.lower", None)


@pytest.mark.sample(1)
@pytest.mark.usefixtures("nothing_is_made")
@pytest.mark.parametrize("length", [HOPELESS, 2**31 - 1])
@pytest.mark.parametrize("machine", MACHINES)
def test_hopeless_lengths_are_refused_with_what_works(
    machine: str, length: int
) -> None:
    told = refusal(machine, length)
    assert re.search(
        r"use arch='rnn'; length=65536 is within these limits, "
        r"and a longer one may be$",
        told,
    )


@pytest.mark.usefixtures("nothing_is_made")
def test_explain_says_the_same() -> None:
    facts = krohn.explain("C2", HOPELESS)
    assert facts["chosen"] is None
    assert facts["why"].endswith("use --arch rnn")
    (reason,) = {row["reason"] for row in facts["unavailable"]}
    assert "its proof would take" in reason


@pytest.mark.parametrize("machine", MACHINES)
def test_the_advised_architecture_serves_every_length(machine: str) -> None:
    assert krohn.compile(machine, arch="rnn").proof is not None


def test_the_advised_length_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rule, where a code is too fine that is not large."""
    monkeypatch.setattr("krohn.compiler.cost.FINEST_CODE", 6)
    monkeypatch.setattr("krohn.compiler.planning.LENGTHS", (64, 32, 16))
    told = refusal("C2", 40, "scan")
    found = re.search(
        r"more than 32 positions apart.*; use a shorter length; length=(\d+) is within",
        told,
    )
    assert found is not None
    made = krohn.compile("C2", int(found[1]), "scan")
    assert made.proof is not None
    assert made.proof.length == 32


def test_what_is_not_to_be_proved_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("krohn.compiler.cost.MOST_STEPS", 1)
    assert "its proof would take" in refusal("C2", 8, "scan")
    assert krohn.compile("C2", 8, "scan", proof=False).proof is None


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["C2", "A5", "Grid4"])
def test_the_advised_length_of_long_words_is_proved(machine: str) -> None:
    told = refusal(machine, 200_000)
    found = re.search(r"length=(\d+) is within these limits", told)
    assert found is not None
    assert krohn.compile(machine, int(found[1])).proof is not None
