"""Probes of compiled networks have exact curves, which follow from the construction."""

import numpy as np
import pytest
import torch
from hidden_markov_mixture import part_probes

from krohn.compilation import compile as compile_source
from krohn.instruments.compare.models import (
    Compiled,
    Rnn,
    build,
    wrap_compiled,
)
from krohn.instruments.compare.probes.beliefs import (
    attention_moved,
    layer_probes,
    read_beliefs,
)
from krohn.instruments.compare.tasks.beliefs import BeliefTask
from krohn.kinds.linear_systems.source import find_by_name

LENGTH = 8


@pytest.fixture(scope="module")
def task() -> BeliefTask:
    system = find_by_name("Cyclic-DET5,3@1")
    assert system is not None
    return BeliefTask(system)


@pytest.fixture(scope="module")
def network(task: BeliefTask) -> Compiled:
    return wrap_compiled(compile_source(task.source, LENGTH).file)


@pytest.mark.slow
def test_after_l_blocks_a_scan_knows_products_of_two_to_the_l_letters(
    network: Compiled, task: BeliefTask
) -> None:
    """b_t is read exactly at t ≤ 2^l, and nothing is known of it at t = 8 before."""
    words = task.batch(np.random.default_rng(0), 300, LENGTH)
    with torch.no_grad():
        hidden = network.inside(torch.tensor(words.letters)).hidden
    for blocks in range(4):
        stream = hidden[2 * blocks].double().numpy()
        for t in range(1, LENGTH + 1):
            states = np.concatenate([stream[:, t - 1], np.ones((300, 1))], axis=1)
            truth = words.truth[:, t - 1]
            fit = np.linalg.lstsq(states, truth, rcond=1e-9)[0]
            off = np.abs(states @ fit - truth).max()
            assert (off < 1e-6) == (t <= 2**blocks)


def test_probes_find_the_belief_after_the_last_block_only(
    network: Compiled, task: BeliefTask
) -> None:
    probes = layer_probes(network, task, LENGTH, 3)
    beliefs = [p.belief for p in probes[::2]]
    assert beliefs[0] < 0.1
    assert beliefs[2] < 0.75
    assert beliefs[3] == pytest.approx(1, abs=1e-6)
    assert probes[-1].state == 1
    assert [p.letters[0] for p in probes[:1]] == [1.0]
    assert max(probes[0].letters[1:]) < 0.5  # a guess of three letters


def test_heads_of_a_scan_do_not_look_at_letters(
    network: Compiled, task: BeliefTask
) -> None:
    assert attention_moved(network, task, LENGTH, 0) == pytest.approx([0] * 3, abs=1e-9)
    assert attention_moved(build(Rnn(4), 3, 5, LENGTH, 0), task, LENGTH, 0) == ()


@pytest.mark.slow
def test_beliefs_that_are_read_are_those_of_words_that_nothing_was_fitted_on(
    network: Compiled, task: BeliefTask
) -> None:
    exact, read = read_beliefs(network, task, LENGTH, 5)
    assert exact.shape == read.shape == (100 * LENGTH, 5)
    assert np.abs(exact - read).max() < 1e-6
    _, early = read_beliefs(network, task, LENGTH, 5, layer=0)
    assert np.abs(exact - early).max() > 0.5


@pytest.mark.slow
def test_parts_of_the_belief_are_read_where_it_is(
    network: Compiled, task: BeliefTask
) -> None:
    """Whether the state is one of two: after all blocks of a scan, and not before."""
    shares = part_probes(network, task, np.array([0, 0, 1, 1, 1]), LENGTH, 4)
    assert shares[-1] == 1
    assert shares[0] < 0.75
