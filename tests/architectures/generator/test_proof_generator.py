"""Generators are proved for all prefixes, agree with the law, and break when damaged."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from krohn.algebra import zoo
from krohn.algebra.brackets import distribution
from krohn.architectures.generator.build import (
    Freedom,
    Sizes,
)
from krohn.architectures.generator.commands import compile_generator
from krohn.architectures.generator.engine import Generator
from krohn.architectures.generator.find_words import (
    run_all,
    run_sample,
)
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.verify.proof import prove

torch.set_num_threads(1)


def quiet(done: int, total: int) -> None:
    """No progress is shown."""


@cache
def built(
    name: str = "Dyck3,2",
    length: int = 24,
    pattern: str = "random",
    depth: str = "given",
    dtype: str = "float64",
    seed: int = 0,
    scale: float = 1.0,
    opening: Fraction = Fraction(1, 3),
) -> ModelFile:
    free = Freedom(pattern, depth, seed, scale)
    return compile_generator(
        name, length, free, opening=opening, dtype=dtype, proof=False
    ).file


def verdict(file: ModelFile, name: str = "Dyck3,2") -> str:
    return prove(file, zoo.machine(name)).verdict


@pytest.mark.slow
@settings(max_examples=2)
@given(
    st.sampled_from(["Dyck1,1", "Dyck1,3", "Dyck2,2", "Dyck3,1", "Dyck3,2", "Dyck5,2"]),
    st.sampled_from(["random", "symmetric", "uniform"]),
    st.sampled_from(["given", "attended"]),
    st.integers(0, 1_000),
    st.integers(1, 24),
)
def test_every_choice_of_the_free_parameters_is_proved_in_float64(
    name: str, pattern: str, depth: str, seed: int, length: int
) -> None:
    file = built(name, length, pattern, depth, seed=seed)
    found = prove(file, zoo.machine(name))
    assert found.verdict == "verified", found.reason
    assert run_sample(file, zoo.machine(name), 8, length, seed, quiet).has_passed


@pytest.mark.parametrize(
    ("pattern", "depth"),
    [("random", "given"), ("symmetric", "attended"), ("uniform", "given")],
)
def test_all_short_prefixes_get_the_law_up_to_one_rounding(
    pattern: str, depth: str
) -> None:
    machine = zoo.machine("Dyck3,2")
    found = run_all(built(pattern=pattern, depth=depth), machine, 8, quiet)
    assert found.has_passed
    law = distribution(machine, Fraction(1, 3))
    assert found.words == sum(law.count(n) for n in range(1, 9))


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("dtype", "length"), [("float64", 10_000), ("float32", 256), ("float16", 8)]
)
def test_uniform_attention_is_certified_in_narrow_formats(
    dtype: str, length: int
) -> None:
    file = built("Dyck4,2", length, "uniform", dtype=dtype)
    found = prove(file, zoo.machine("Dyck4,2"))
    assert found.verdict == "verified", found.reason
    limits = found.evidence[-1]["longest"]
    assert limits[dtype] >= length
    assert run_sample(
        file, zoo.machine("Dyck4,2"), 4, min(length, 300), 0, quiet
    ).has_passed


@pytest.mark.slow
def test_symmetric_scores_balance_exactly_and_others_up_to_rounding() -> None:
    for pattern, exactly in (("symmetric", True), ("uniform", True), ("random", False)):
        law = prove(built(length=10, pattern=pattern), zoo.machine("Dyck3,2")).evidence[
            0
        ]["law"]
        assert law["exactly balanced"] is exactly
        assert law["residual"] < 1e-9
        assert law["error"] <= 2.0**-53


@pytest.mark.slow
def test_in_real_arithmetic_only_the_constant_limits_the_length() -> None:
    steps = prove(built(pattern="symmetric"), zoo.machine("Dyck3,2")).evidence
    law, longest = steps[0]["law"], steps[-1]["longest"]["real arithmetic"]
    # The signal falls as one over the number of positions.
    assert 24 <= longest <= 25 * law["signal"] / law["constant"] * 2


def test_two_networks_of_one_function_attend_differently() -> None:
    law = distribution(zoo.machine("Dyck3,2"), Fraction(1, 3))
    words = torch.from_numpy(law.sample(np.random.default_rng(0), 4, 24))
    first, second = (Generator(built(seed=seed)) for seed in (0, 1))
    assert torch.allclose(first(words), second(words), rtol=0, atol=1e-15)
    maps = [g.attention(words)[-1] for g in (first, second)]
    assert (maps[0] - maps[1]).square().sum(dim=(1, 2)).min() > 1


def changed(file: ModelFile, name: str, value: FloatArray) -> ModelFile:
    return replace(file, tensors={**file.tensors, name: value})


@pytest.mark.slow
def test_a_score_that_breaks_the_balance_is_rejected() -> None:
    file = built(length=60)
    query = file.tensors["layers.0.attention.query"].copy()
    query[8, 0] += 0.5  # the query closes the first kind and leaves depth 2
    damaged = changed(file, "layers.0.attention.query", query)
    assert verdict(file) == "verified"
    assert verdict(damaged) == "undecided"
    machine = zoo.machine("Dyck3,2")
    assert not run_sample(damaged, machine, 200, 60, 0, quiet).has_passed


@pytest.mark.slow
def test_scores_of_other_queries_are_free() -> None:
    file = built()
    query = file.tensors["layers.0.attention.query"].copy()
    query[:7] = np.random.default_rng(5).integers(-8, 9, query[:7].shape) / 16
    assert verdict(changed(file, "layers.0.attention.query", query)) == "verified"


@pytest.mark.parametrize("constant", [2.0**-80, 0.25])
def test_a_constant_outside_noise_and_signal_is_rejected(constant: float) -> None:
    file = built(pattern="uniform", length=200)
    assert (
        verdict(changed(file, "layers.0.constant", np.array([constant]))) == "undecided"
    )


def test_without_a_constant_nothing_is_proved() -> None:
    """Erratum D8: LayerNorm with C = 0 makes unit vectors of rounding errors."""
    tiny = np.array([2.0**-200])
    file = changed(built("Dyck3,1", 12, "uniform"), "layers.0.constant", tiny)
    found = prove(file, zoo.machine("Dyck3,1"))
    assert (found.verdict, found.word) == ("undecided", None)


def test_the_claim_is_checked() -> None:
    file = built()
    for key, value in (
        ("opening", "1/2"),
        ("tolerance", -1.0),
        ("tolerance", "much"),
        ("length", 0),
        ("opening", "3"),
    ):
        claim = {**file.header["claim"], key: value}
        wrong = replace(file, header={**file.header, "claim": claim})
        assert verdict(wrong) == "undecided"
    assert verdict(file, "Dyck3,3") == "undecided"
    assert verdict(file, "Dyck2,2") == "undecided"
    assert verdict(file, "Grid4") == "undecided"


@pytest.mark.parametrize(("kinds", "depth"), [(1, 2), (2, 4), (3, 5), (4, 30)])
def test_shorter_codes_of_letters_and_depths_are_dependent(
    kinds: int, depth: int
) -> None:
    """(3.38) and (3.39) of the thesis: all tokens differ, and few are independent."""
    sizes = Sizes(kinds, depth)
    opening, level = np.divmod(np.arange(sizes.pairs), depth)
    letter = np.eye(2 * kinds)[np.append(opening, kinds + opening)]
    reached = np.append(level + 1, level)
    angle = np.arctan2(np.arange(depth + 1), depth + 2 - np.arange(depth + 1))
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    for depths, rank in (
        (np.eye(depth + 1), 2 * kinds + depth),
        (circle, 2 * kinds + 2),
    ):
        code = np.hstack([letter, depths[reached]])
        assert len(np.unique(code, axis=0)) == sizes.tokens - 1
        assert np.linalg.matrix_rank(code) == min(rank, sizes.tokens - 1)
    least = 1 - np.cos(np.diff(angle)).max()
    assert 0.2 <= least * depth**2 <= 0.5
