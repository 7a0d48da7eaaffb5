"""Theorem W12: what is shown of networks that learn in context holds."""

from typing import Any

import numpy as np
import pytest
from context_networks import (
    NAMES,
    built,
    changed,
    measured,
    of,
    restated,
    shown,
)
from work import calls_at_most

from krohn.kinds.in_context.source import rounding
from krohn.program.errors import Refused
from krohn.verify.proof import prove

SMALL = of("InContext2,2:demonstrations=3,history=3,steps=3")


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_no_prompt_is_further_off_than_is_shown(name: str, dtype: str) -> None:
    source = of(name)
    file = built(source, dtype)
    prompts = source.sample_prompts(32, np.random.default_rng(0))
    error = shown(file).error
    assert measured(file, prompts) <= error + rounding(source)
    assert error < (5e-13 if dtype == "float64" else 2e-4)


def test_without_the_test_flag_nothing_is_shown() -> None:
    """The mutation of the specification: windows of the test leak into the regression."""
    leaky = built(SMALL, flagged=False)
    assert measured(leaky, SMALL.sample_prompts(16, np.random.default_rng(0))) > 0.03
    with pytest.raises(Refused, match="shut out"):
        shown(leaky)
    assert prove(leaky, None).verdict == "undecided"


def test_a_limit_that_lets_windows_in_is_refused_and_a_larger_one_is_not() -> None:
    """R must be above |w z| + 1, and |w z| ≤ √(T_0 − 1) as the last step begins."""
    file = built(SMALL)
    for factor, fair in ((0.25, False), (0.5, False), (1, True), (64, True)):
        scaled = {
            name: np.where(np.abs(t) == 4, t * factor, t)
            for name, t in file.tensors.items()
            if name.endswith("key")
        }
        assert any((scaled[name] != file.tensors[name]).any() for name in scaled) == (
            factor != 1
        )
        damaged = changed(file, **scaled)
        if fair:
            shown(damaged)
        else:
            with pytest.raises(Refused, match=r"learned from|asked about"):
                shown(damaged)


def test_a_step_that_is_a_little_off_costs_that_much_error() -> None:
    file, prompts = built(SMALL), SMALL.sample_prompts(32, np.random.default_rng(1))
    for relative in (1e-9, 1e-3):
        steps = {
            name: t * (1 + relative)
            for name, t in file.tensors.items()
            if name.endswith("attention.out") and t.shape[1] == SMALL.features
        }
        assert len(steps) == SMALL.steps
        damaged = changed(file, **steps)
        off, error = measured(damaged, prompts), shown(damaged).error
        assert relative / 10 < off <= error < 20 * relative


def test_heads_that_turn_the_other_way_are_refused() -> None:
    file = built(SMALL)
    name = "blocks.0.attention.query"
    turned = file.tensors[name].copy()
    turned[turned != 0] *= -1
    with pytest.raises(Refused, match="read wrong positions"):
        shown(changed(file, **{name: turned}))
    soft = file.tensors[name] / 1000
    with pytest.raises(Refused, match="read wrong positions"):
        shown(changed(file, **{name: soft}))


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("part", "said", "why"),
    [
        ("claim", {"error": None}, "claims the error None"),
        ("claim", {"length": 14}, "another length"),
        ("claim", {"length": 15.0}, "claims the length 15.0"),
        ("source", {"steps": 4}, "architecture"),
        ("source", {"demonstrations": 2}, "another length"),
        ("source", {"history": 1}, "at least one window"),
        ("source", {"window": 3}, "another length|architecture|one window"),
        ("source", {"ahead": 0}, "not a sensible size"),
        ("source", {"steps": 10**9}, "at most 256 steps"),
        ("source", {"ahead": 4096}, "at most 8 letters"),
        ("source", {"steps": True}, "not a sensible size"),
        ("source", {"classes": ["2", "1"]}, "have other names"),
        ("source", {"classes": ["1"]}, "have other names"),
        ("source", {"letters": ["1", "1", "|"]}, "have other names"),
        ("architecture", {"d_model": 31}, "tensors are not as stated"),
        ("architecture", {"strict": False}, "tensors are not as stated"),
    ],
)
def test_other_claims_and_headers_are_refused(
    part: str, said: dict[str, Any], why: str
) -> None:
    file = restated(built(SMALL), part, **said)
    proof = prove(file, None)
    assert proof.verdict == "undecided"
    with pytest.raises(Refused, match=why):
        shown(file)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"causal": [True]}, "architecture"),
        ({"causal": [0]}, "'causal' is 0"),
        ({"attention": {"kind": "relu"}}, "architecture"),
        ({"attention": {"kind": "linear"}}, "sees the whole word"),
        ({"activation": []}, "architecture"),
    ],
)
def test_blocks_of_another_shape_are_refused(said: dict[str, Any], why: str) -> None:
    """Block 1 copies the letter after: a causal head would see none."""
    file = built(SMALL)
    blocks = [dict(block) for block in file.header["architecture"]["blocks"]]
    blocks[1] |= said
    with pytest.raises(Refused, match=why):
        shown(restated(file, "architecture", blocks=blocks))


def test_headers_that_claim_far_more_than_the_file_holds_cost_nothing() -> None:
    """256 blocks of 128 heads each are never listed."""
    names = [str(a + 1) for a in range(64)]
    said = {"letters": [*names, "|"], "classes": names, "ahead": 1, "steps": 256}
    sizes = {"window": 1, "demonstrations": 1, "history": 1}
    file = restated(built(SMALL), "source", **said, **sizes)
    claimed = restated(file, "claim", length=4)
    named = restated(claimed, "architecture", outputs=len(names))
    width = named.header["architecture"]["d_model"]
    read_out = {
        "unembed.weight": np.zeros((width, len(names))),
        "unembed.bias": np.zeros(len(names)),
    }
    named = changed(named, **read_out)
    with calls_at_most(35_000), pytest.raises(Refused, match="architecture"):
        shown(named)


def test_narrow_formats_are_refused() -> None:
    with pytest.raises(Refused, match="too narrow"):
        shown(built(SMALL, "bfloat16"))


def test_the_bound_of_the_weights_is_needed_and_nearly_reached() -> None:
    """One window everywhere with one target: W z = 1 − (1 − 1)^t = 1, of at most √t."""
    source = of("InContext2,2:demonstrations=4,steps=4")
    facts = shown(built(source)).facts()
    assert facts["leak"]["copies"] < 1e-30
    assert 0 < facts["noise"]["copies"] < 1e-15
    assert facts["noise"]["weights"] < facts["error"] < 1e-13
