"""The result of a comparison: through JSON and back, and its sentences."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sample_comparison import sample

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.comparison import Comparison
from krohn.instruments.compare.comparison.models import (
    headline,
    percent,
)
from krohn.instruments.compare.comparison.result import (
    Curve,
    Sweep,
)
from krohn.instruments.compare.measures import Rate


def test_json_keeps_everything() -> None:
    found = sample()
    read = Comparison.from_object(json.loads(json.dumps(found.to_object())))
    assert read == found


@pytest.mark.slow
def test_its_page_is_found() -> None:
    assert sample().html().startswith("<!doctype html>")


@pytest.mark.parametrize("damage", ["version", "machine", "sweeps", "origin"])
def test_what_lacks_a_field_is_refused(damage: str) -> None:
    stated = sample().to_object()
    del stated[damage]
    with pytest.raises(KrohnError):
        Comparison.from_object(stated)


def test_what_is_of_another_kind_is_refused_by_name() -> None:
    stated = sample().to_object()
    stated["contestants"][1]["ones"][0]["token"]["right"] = "many"
    with pytest.raises(KrohnError, match=r"contestants\[1\].ones\[0\].token.right"):
        Comparison.from_object(stated)


def test_another_version_is_refused() -> None:
    with pytest.raises(KrohnError, match="version 99"):
        Comparison.from_object({**sample().to_object(), "version": 99})


def test_the_headline_says_the_proof_the_level_and_the_fall() -> None:
    said = " ".join(headline(sample()))
    assert "is proved: right on all 2^128 words of length 128" in said
    assert "the Transformer gives 96.5 % right answers" in said
    assert "the Transformer gives fewer right answers" in said
    assert "at 128 letters" in said
    assert "the LSTM gives fewer right answers" not in said


def test_the_headline_claims_no_proof_that_failed() -> None:
    found = sample()
    found = replace(found, proved=replace(found.proved, verdict="undecided"))
    said = headline(found)[0]
    assert "not proved" in said


def test_all_is_said_of_all_only() -> None:
    assert percent(1.0) == "100 %"
    assert percent(0.999999) == "> 99.99 %"
    assert percent(0.99994) == "99.99 %"
    assert percent(0.5) == "50.0 %"


def test_what_did_not_learn_falls_nowhere() -> None:
    found = sample()
    few = replace(found.contestants[4].ones[0], seed=0)
    gpt = replace(found.contestants[1], ones=(few,))
    changed = (found.contestants[0], gpt, *found.contestants[2:])
    said = " ".join(headline(replace(found, contestants=changed)))
    assert "the Transformer gives 50.0 % right answers" in said
    assert "the Transformer falls" not in said


def test_chance_is_no_fall() -> None:
    """A share of 0.9 everywhere, of words whose answers stand or fall together."""
    found = sample()
    share = Rate(1850, 2048, 0.89, 0.92)
    gpt = replace(
        found.contestants[1],
        ones=(replace(found.contestants[1].ones[0], token=share),),
    )
    rng = np.random.default_rng(0)
    for _ in range(200):
        values = tuple((rng.binomial(256, 0.9, size=50) / 256).tolist())
        places = tuple(map(float, range(50)))
        sweep = Sweep(
            "", "", "{}", places, (0, 1), None, 256, (Curve("gpt", (values,)),)
        )
        changed = replace(
            found,
            contestants=(found.contestants[0], gpt, *found.contestants[2:]),
            sweeps=(sweep,),
        )
        assert "falls" not in " ".join(headline(changed))
