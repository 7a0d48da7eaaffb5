"""Attention patterns of networks of one function, and the random baseline."""

from fractions import Fraction

import numpy as np
import pytest

from krohn.architectures.generator.build import Freedom
from krohn.architectures.generator.commands import compile_generator
from krohn.compilation import compile as compiled
from krohn.instruments.compare.measures.attention_variation import (
    baseline,
    function_error,
    mean_variation,
    on_top,
    probe,
    reader,
    variation,
)


def test_the_baseline_is_the_mean_variation_of_random_patterns() -> None:
    assert float(baseline(15)) == pytest.approx(2.8865, abs=1e-4)
    assert baseline(1) == 0
    rng = np.random.default_rng(0)
    patterns = []
    for _ in range(200):
        pattern = np.zeros((6, 6))
        for i in range(6):
            pattern[i, : i + 1] = rng.dirichlet(np.ones(i + 1))
        patterns.append(pattern)
    assert mean_variation(patterns) == pytest.approx(float(baseline(6)), rel=0.05)


def test_forty_networks_of_one_function_vary_more_than_random_patterns() -> None:
    """With scores of standard deviation 1; the thesis's trained networks reach 2.2."""
    free = [Freedom("random", "given", seed, 1.0) for seed in range(40)]
    files = [
        compile_generator("Dyck4,2", 60, f, dtype="float64", proof=False).file
        for f in free
    ]
    readers = [reader(f) for f in files]
    law = readers[0].law
    word = probe(law)
    assert len(word) == 15
    patterns = [r.attention(word) for r in readers]
    assert mean_variation(patterns) > float(baseline(len(word) + 1))
    words = law.sample(np.random.default_rng(0), 5, 60)
    assert function_error(readers, words) == 0


@pytest.mark.slow
def test_the_stack_like_network_reads_the_top_bracket_and_nothing_else() -> None:
    stack = reader(compiled("Dyck3,2", 24, "dyck").file)
    uniform = reader(compile_generator("Dyck3,2", 24, Freedom("uniform")).file)
    word = probe(stack.law)
    sharp, flat = stack.attention(word), uniform.attention(word)
    assert on_top(sharp, stack.law, word) == pytest.approx(1)
    assert on_top(flat, stack.law, word) < 0.2
    shares = 1 / np.arange(1, len(flat) + 1)
    assert np.allclose(flat, np.tril(np.repeat(shares[:, None], len(flat), axis=1)))
    assert variation(sharp, flat) > 8
    words = stack.law.sample(np.random.default_rng(1), 20, 24)
    assert function_error([stack, uniform], words) == 0


@pytest.mark.slow
def test_patterns_are_rows_of_weights_that_do_not_look_ahead() -> None:
    found = reader(
        compile_generator(
            "Dyck2,3", 12, Freedom("symmetric", "attended"), opening=Fraction(1, 4)
        ).file
    )
    pattern = found.attention(probe(found.law))
    assert np.allclose(pattern.sum(axis=1), 1)
    assert not np.triu(pattern, 1).any()
