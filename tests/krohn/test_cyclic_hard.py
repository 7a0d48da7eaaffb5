"""Cyclic-HARD as full weights: the laws of the next letter are those of the filter."""

import numpy as np

import krohn
from krohn.source_kinds.real_outputs import outputs
from sources.hidden_markov import named


def test_all_predictions_are_those_of_the_75_state_filter() -> None:
    """Row 14: 12,000 predictions, after ``*`` and told states among them."""
    model = named("Cyclic-HARD5,5@3")
    often = named("Cyclic-HARD5,5@3:alpha=0.2")
    assert model is not None
    assert often is not None
    compiled = krohn.compile("Cyclic-HARD5,5@3", 60)
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
