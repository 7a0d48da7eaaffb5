"""Networks that learn in context do T_0 steps of gradient descent, and nothing else."""

import numpy as np
import pytest
import torch
from context_networks import NAMES, descended, of

from krohn.compiler.transformer import Network
from krohn.kinds.in_context.build import (
    Rows,
    in_context,
    limit,
)
from krohn.kinds.in_context.source import (
    InContext,
    Prompt,
    exactly,
    regression,
)
from krohn.network.precision import FLOAT32, FLOAT64, FloatArray, Precision
from krohn.network.transformer import Transformer


def runner(network: Network, precision: Precision = FLOAT64) -> Transformer:
    dtype = getattr(torch, precision.name)
    held = {
        name: torch.tensor(precision.round(tensor)).to(dtype)
        for name, tensor in network.tensors.items()
    }
    return Transformer(network.architecture, held).eval()


def laws(network: Transformer, source: InContext, prompts: list[Prompt]) -> FloatArray:
    """``(prompts, p^M)``: what is said at the last position."""
    tokens = torch.tensor(source.laid_out(prompts))
    found: FloatArray = network(tokens)[:, -1].double().numpy()
    return found


def stream(
    network: Transformer, source: InContext, prompts: list[Prompt]
) -> list[FloatArray]:
    """After each block: ``(prompts, N + 1, d)``."""
    seen = network.snapshots(torch.tensor(source.laid_out(prompts)))
    return [x.numpy() for x in seen[::2]]


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", NAMES)
def test_the_network_is_gradient_descent(name: str) -> None:
    """Ladder of the specification, 10: to 1e-14; here against exact fractions as well."""
    source = of(name)
    prompts = source.sample_prompts(24, np.random.default_rng(0))
    found = laws(runner(in_context(source, FLOAT64)), source, prompts)
    assert np.abs(found - descended(source, prompts)).max() < 1e-14
    for row, prompt in zip(found[:4], prompts, strict=False):
        assert np.abs(row - [float(x) for x in exactly(source, prompt)]).max() < 1e-14


def test_without_the_flag_windows_of_the_test_leak_into_the_regression() -> None:
    """The specification's first version: error .03 to .11 and more."""
    source = of("InContext3,2:demonstrations=13")
    prompts = source.sample_prompts(24, np.random.default_rng(0))
    leaky = runner(in_context(source, FLOAT64, flagged=False))
    off = np.abs(laws(leaky, source, prompts) - descended(source, prompts)).max(axis=1)
    assert np.median(off) > 0.03


@pytest.mark.parametrize("name", NAMES)
def test_it_has_the_layers_and_heads_of_the_theorems(name: str) -> None:
    """L + M + T_0 blocks: one less than the theorems, as a window has the own letter."""
    source = of(name)
    shape = in_context(source, FLOAT64).architecture
    assert len(shape["blocks"]) == source.window + source.ahead + source.steps
    heads = [block["heads"] for block in shape["blocks"]]
    features = source.window - 1 + source.ahead
    assert heads == [1] * features + [2 * source.targets] * (source.steps + 1)
    around = (source.window + source.ahead) * (source.count + 1)
    rows = around + 5 + source.targets * (source.features + 1)
    assert shape["d_model"] == rows + source.targets * (source.ahead > 1)


def test_a_letter_is_decodable_from_its_layer_on_and_not_before() -> None:
    """o_{i−k} is there exactly after block k: before, nothing depends on it at all."""
    source = of("InContext3,4:demonstrations=4,steps=1")
    net, rows = runner(in_context(source, FLOAT64)), Rows.of(source)
    random = np.random.default_rng(1)
    tokens = random.integers(3, size=(32, source.length))
    seen = [x.numpy() for x in net.snapshots(torch.tensor(tokens))[::2]]
    i = 20
    for k in range(1, source.window):
        block = seen[k][:, i, rows.past[k - 1]]
        assert (block == np.eye(4)[tokens[:, i - 1 - k]]).all()
        other = tokens.copy()
        other[:, i - 1 - k] = (other[:, i - 1 - k] + 1) % 3
        after = [x.numpy() for x in net.snapshots(torch.tensor(other))[::2]]
        for before in range(k):
            assert np.array_equal(seen[before][:, i], after[before][:, i])
        assert (seen[k][:, i] != after[k][:, i]).any(axis=1).all()


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", NAMES)
def test_features_are_exact(name: str) -> None:
    """All weights but one are below the least number, so that windows are copies."""
    source = of(name)
    net, rows = runner(in_context(source, FLOAT64)), Rows.of(source)
    prompts = source.sample_prompts(8, np.random.default_rng(2))
    x = stream(net, source, prompts)[source.window - 1 + source.ahead]
    problem = regression(source, prompts)
    at = np.arange(source.demonstrations) * (source.segment + 1) + source.window
    there = problem.targets.any(axis=2)
    windows, targets = x[:, at][:, :, rows.windows], x[:, at][:, :, rows.target]
    assert np.array_equal(windows[there], problem.windows[there])
    assert np.array_equal(targets[there], problem.targets[there])
    invalid = x[:, :, rows.delimiters].sum(axis=2) + x[:, :, rows.test]
    valid = np.zeros_like(invalid, dtype=bool)
    valid[:, at] = there
    assert (invalid[valid] == 0).all()
    assert (invalid[~valid] >= 1).all()


def test_permuting_demonstrations_leaves_the_weights_as_they_are() -> None:
    """Scores do not depend on positions; sums of dyadic numbers are not rounded."""
    source = of("InContext3,2:demonstrations=8,steps=4")
    net, rows = runner(in_context(source, FLOAT64)), Rows.of(source)
    random = np.random.default_rng(3)
    (shown, test), *_ = source.sample_prompts(1, random)
    orders = [random.permutation(8) for _ in range(6)]
    prompts = [Prompt(tuple(shown[k] for k in order), test) for order in orders]
    weights = stream(net, source, prompts)[-1][:, -1, rows.weights]
    assert np.abs(weights).max() > 0
    assert (weights == weights[0]).all()


def test_scores_of_descent_read_no_positions() -> None:
    source = of("InContext3,2")
    network, rows = in_context(source, FLOAT64), Rows.of(source)
    for block in range(source.segment - 1, len(network.architecture["blocks"])):
        for matrix in ("query", "key", "value"):
            read = network.tensors[f"blocks.{block}.attention.{matrix}"]
            assert not read[:, rows.position].any()


def test_the_limit_is_above_every_score_and_half_of_it_need_not_be() -> None:
    """|w z| ≤ √T_0, and a target is 1: R = 2^⌈log₂(⌊√T_0⌋ + 3)⌉."""
    assert [
        limit(of(f"InContext3,2:steps={t}")) for t in (1, 2, 8, 9, 25, 26, 169)
    ] == [
        4,
        4,
        8,
        8,
        8,
        8,
        16,
    ]


def test_float32_runs_too() -> None:
    source = of("InContext3,2:demonstrations=13")
    prompts = source.sample_prompts(24, np.random.default_rng(0))
    found = laws(runner(in_context(source, FLOAT32), FLOAT32), source, prompts)
    assert np.abs(found - descended(source, prompts)).max() < 1e-6


def test_more_letters_than_states_are_predicted_at_once() -> None:
    """Theorem 2: with M = 2 the law of a pair, whose first letter has the 1-step law."""
    pair, single = (
        of(f"InContext3,2:demonstrations=12,steps=6,ahead={m}") for m in (2, 1)
    )
    prompts = pair.sample_prompts(12, np.random.default_rng(4))
    short = [
        Prompt(tuple(s[:-1] for s in p.demonstrations), p.history) for p in prompts
    ]
    joint = laws(runner(in_context(pair, FLOAT64)), pair, prompts)
    alone = laws(runner(in_context(single, FLOAT64)), single, short)
    assert np.abs(joint.reshape(12, 3, 3).sum(axis=2) - alone).max() < 1e-14
