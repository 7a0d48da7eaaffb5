"""Spectra of heads: known ones are found, biases are as predicted, GPT-2 is read."""

import numpy as np
import pytest
import torch

from krohn.algebra.errors import KrohnError
from krohn.architectures.attention_layer.engine import AttentionLayer
from krohn.instruments.compare.measures.attention_spectrum import (
    Bases,
    Head,
    expected_bias,
    of_gpt2,
    of_layer,
    of_logits,
)
from krohn.instruments.compare.models import build
from krohn.instruments.compare.models.architecture import (
    EfficientGpt,
    Gpt,
    Positions,
)
from krohn.instruments.compare.models.gpt import (
    gpt2,
    gpt_neox,
)
from krohn.kinds.attention_targets.source_sampling import SineSeries
from krohn.kinds.attention_targets.source_target import gauss_legendre

SERIES = SineSeries(1.5, 6)


def sampled(series: SineSeries, count: int, length: int) -> Head:
    inputs = np.random.default_rng(0).uniform(size=(count, length))
    return Head("", series.phi(inputs) * series.sigma, series.psi(inputs))


def bases(series: SineSeries) -> Bases:
    rule = gauss_legendre(8 * series.rank)
    at = rule.nodes[:, 0]
    return Bases(rule.weights, series.sigma, series.phi(at), series.psi(at))


def test_sixteen_positions_are_biased_as_the_formula_says() -> None:
    found = of_logits(sampled(SERIES, 1000, 16).logits, 6)
    printed = [1.057, 0.364, 0.188, 0.112, 0.065, 0.030]
    np.testing.assert_allclose(found.averaged, printed, atol=0.015)
    predicted = SERIES.sigma + expected_bias(bases(SERIES), 16)
    off = np.abs(found.averaged - predicted)
    assert np.all(off < 3 * found.deviation + 0.005)


@pytest.mark.slow
def test_the_formula_is_better_where_there_are_more_positions() -> None:
    """What it leaves is O(1/τ²)."""
    further = of_logits(sampled(SERIES, 600, 64).logits, 6)
    predicted = SERIES.sigma + expected_bias(bases(SERIES), 64)
    off = np.abs(further.averaged - predicted)
    assert np.all(off < 3 * further.deviation + 0.0005)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("scramble", [0, 7])
def test_the_jackknife_takes_most_of_the_bias_away(scramble: int) -> None:
    series = SineSeries(1.5, 6, scramble)
    found = of_logits(sampled(series, 1000, 32).logits, 6)
    before = np.abs(found.averaged - series.sigma)
    after = np.abs(found.corrected_values - series.sigma)
    assert np.all(before[3:] > 4 * found.deviation[3:])
    assert np.all(after[3:] < before[3:] / 2)
    np.testing.assert_allclose(found.corrected_values, series.sigma, atol=0.012)


@pytest.mark.slow
def test_two_thousand_positions_are_within_a_hundredth() -> None:
    found = sampled(SERIES, 3, 2000)
    values = np.linalg.svd(found.logits, compute_uv=False)[:, :6].mean(axis=0) / 2000
    np.testing.assert_allclose(values, SERIES.sigma, atol=0.01)
    pooled = sampled(SERIES, 1000, 16).pool_sequences(6)
    np.testing.assert_allclose(pooled.sigma, SERIES.sigma, rtol=0.04)


def test_a_pooled_matrix_has_the_values_and_bases_of_the_large_one() -> None:
    head = sampled(SERIES, 5, 9)
    found = head.pool_sequences(6)
    queries, keys = head.queries.reshape(45, 6), head.keys.reshape(45, 6)
    large = queries @ keys.T / 45
    exact = np.linalg.svd(large, compute_uv=False)
    np.testing.assert_allclose(found.sigma, exact[:6], atol=1e-14)
    for side in (found.left, found.right):
        gram = side.T @ (found.weights[:, None] * side)
        np.testing.assert_allclose(gram, np.eye(6), atol=1e-12)
    made = (found.left * found.sigma) @ found.right.T
    np.testing.assert_allclose(made, queries @ keys.T, atol=1e-12)


@pytest.mark.slow
def test_centred_logits_have_the_same_weights_and_a_smaller_norm() -> None:
    head = sampled(SERIES, 4, 9)
    moved = Head("", head.queries, head.keys + 3)
    for one in (head, moved):
        weights = torch.softmax(torch.from_numpy(one.logits), dim=2)
        centred = torch.softmax(torch.from_numpy(one.centred_head.logits), dim=2)
        torch.testing.assert_close(weights, centred)
    np.testing.assert_allclose(
        head.centred_head.logits, moved.centred_head.logits, atol=1e-12
    )
    assert (head.centred_head.logits**2).sum() < (head.logits**2).sum()


def test_a_layer_is_read_as_it_attends() -> None:
    shape = {
        **{"kind": "attention-layer", "dtype": "float32", "length": 7, "inputs": 2},
        **{"codes": 0, "features": 4, "features_units": [5], "d_qk": 3, "d_v": 3},
        **{"memory": 0, "causal": False, "output_units": [], "outputs": 1},
    }
    random = torch.Generator().manual_seed(0)
    sizes = {
        "features.0.weight": (2, 5),
        "features.0.bias": (5,),
        "features.1.weight": (5, 4),
        "features.1.bias": (4,),
        **{f"attention.{part}": (4, 3) for part in ("query", "key", "value")},
        "output.0.weight": (3, 1),
        "output.0.bias": (1,),
    }
    held = {n: torch.randn(s, generator=random) for n, s in sizes.items()}
    layer = AttentionLayer(shape, held)
    inputs = torch.randn(6, 7, 2, generator=random)
    head = of_layer(layer, inputs)
    weights = torch.softmax(torch.from_numpy(head.logits), dim=2).float()
    torch.testing.assert_close(weights, layer.weights(layer.encode_inputs(inputs)))
    assert of_logits(head.logits, 2).averaged.shape == (2,)


@pytest.mark.slow
def test_heads_of_gpt2_are_those_that_attend() -> None:
    torch.manual_seed(0)
    body = gpt2(Gpt(width=24, depth=2, heads=3), letters=11, rows=10).eval()
    tokens = torch.randint(11, (4, 10))
    heads = of_gpt2(body, tokens)
    assert [h.title for h in heads][:4] == [
        *(f"head {i} of layer 1" for i in range(3)),
        "head 0 of layer 2",
    ]
    body.set_attn_implementation("eager")
    seen = body(tokens, output_attentions=True).attentions
    later = torch.ones(10, 10).triu(1).bool()
    for i, head in enumerate(heads):
        logits = torch.from_numpy(head.logits).masked_fill(later, -torch.inf)
        torch.testing.assert_close(
            torch.softmax(logits, dim=2).float(), seen[i // 3][:, i % 3]
        )
    assert (np.diff(heads[0].pool_sequences(8).sigma) <= 0).all()


@pytest.mark.sample(1)
@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "none"])
def test_networks_that_are_compared_are_read_through_their_bodies(
    positions: Positions,
) -> None:
    shape = Gpt(depth=2, width=16, heads=2, inner=32, positions=positions)
    network = build(shape, letters=3, classes=4, longest=12, seed=0).eval()
    letters = torch.randint(3, (5, 12))
    seen = network.inside(letters).attention
    later = torch.ones(12, 12).triu(1).bool()
    for i, head in enumerate(of_gpt2(network.body, letters)):
        logits = torch.from_numpy(head.logits).masked_fill(later, -torch.inf)
        weights = torch.softmax(logits, dim=2).float()
        torch.testing.assert_close(weights, seen[i // 2][:, i % 2])
        found = of_logits(head.centred_head.logits, 3)
        assert found.corrected_values.shape == (3,)
        assert expected_bias(
            head.centred_head.pool_sequences(3), found.length
        ).shape == (3,)


def test_linear_attention_has_no_logits() -> None:
    shape = EfficientGpt(depth=1, width=8, heads=1, attention="linear")
    network = build(shape, letters=3, classes=2, longest=6, seed=0)
    with pytest.raises(KrohnError, match="no logits"):
        of_gpt2(network.body, torch.zeros(1, 4, dtype=torch.int64))


def test_what_has_no_spectrum_is_refused() -> None:
    logits = sampled(SERIES, 3, 9).logits
    for bad, terms in ((logits[:1], 2), (logits[:, :5], 2), (logits, 9), (logits, 0)):
        with pytest.raises(KrohnError, match="spectrum"):
            of_logits(bad, terms)
    with pytest.raises(KrohnError, match="GPT-2"):
        of_gpt2(gpt_neox(Gpt(width=8, depth=1, heads=2), letters=3), torch.zeros(1, 4))
    same = bases(SERIES)
    with pytest.raises(KrohnError, match="distinct"):
        expected_bias(Bases(same.weights, same.sigma * 0 + 1, same.left, same.right), 9)
