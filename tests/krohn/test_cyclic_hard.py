"""Cyclic-HARD as full weights: the laws of the next letter are those of the filter."""

import numpy as np
import pytest

import krohn
from krohn.source_kinds.real_outputs import outputs
from krohn.sources.hidden_markov import named


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["Cyclic-HARD3,2@1", pytest.param("Cyclic-HARD5,5@3", marks=pytest.mark.slow)],
)
def test_all_predictions_are_those_of_the_filter(name: str) -> None:
    """Row 14: 12,000 predictions, after ``*`` and told states among them."""
    model, often = named(name), named(f"{name}:alpha=0.2")
    assert model is not None
    assert often is not None
    compiled = krohn.compile(name, 60)
    assert compiled.construction == "beliefs-context-scan"
    assert compiled.proof is not None
    assert compiled.proof.verdict == "verified"
    words = often.sample(200, 60, np.random.default_rng(0))[0]
    said, beliefs = outputs(compiled.file, words), model.filter(words)[0]
    assert np.isfinite(beliefs).all()
    off = np.abs(model.predict(said) - model.predict(beliefs))
    asked = words == model.letters.index("*")
    assert asked.sum() > 1000
    assert off.max() < 1e-5
    assert (model.predict(said)[asked].max(axis=1) > 1 - 1e-5).all()
