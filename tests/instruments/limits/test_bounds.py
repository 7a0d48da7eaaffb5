"""The limits of heads: the bounds hold, are attained, and predict failures."""

from itertools import product

import numpy as np
import pytest
import torch
from enclosed_words import enclosed
from foreign import FLIP_FLOP, ONE, PLACE, flip_flop, head_of
from hypothesis import given, settings, strategies as st
from torch import nn

import krohn
from krohn.algebra import zoo
from krohn.instruments.limits.dilution import (
    holds_among,
    kept_apart,
    last_at_least,
    rank_of,
    sharpest,
    spread_of_norms,
)
from krohn.instruments.limits.head_limits import (
    HeadBounds,
    LinearHead,
    head_bounds,
    head_boxes,
    line_of,
    linear_head,
)
from krohn.instruments.limits.layer_norm import module_bounds
from krohn.network.meaning.net import Net
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.network.transformer import Attention, Transformer
from krohn.verify.testing.counterexample import pair
from krohn.verify.testing.sampling import sample
from krohn.verify.testing.shortest_failing import run_all


def largest_weight(spread: float, positions: int) -> float:
    """The most weight that one of so many positions can have.

    Args:
        spread: No two scores of a query differ by more.
        positions: How many the query sees.
    """
    return float(1.0 / (1.0 + (positions - 1) * np.exp(-spread)))


def softmax(scores: FloatArray) -> FloatArray:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


class TestDilution:
    @given(st.lists(st.floats(-20, 20), min_size=1, max_size=30), st.floats(0.01, 0.99))
    def test_no_weight_exceeds_the_bound(
        self, scores: list[float], weight: float
    ) -> None:
        given_scores = np.array(scores)
        spread, top = np.ptp(given_scores), softmax(given_scores).max()
        assert top <= largest_weight(spread, len(scores)) * (1 + 1e-12)
        assert top < weight or len(scores) <= holds_among(spread + 1e-9, weight)

    def test_the_bound_is_attained(self) -> None:
        for spread, n in product((0.5, 3.0, 9.0), (2, 17, 400)):
            scores = np.append(spread, np.zeros(n - 1))
            assert softmax(scores).max() == pytest.approx(largest_weight(spread, n))

    @given(st.integers(0, 10_000))
    def test_norms_bound_the_spread(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        query, key = rng.normal(size=(2, 5, 3))
        x = rng.normal(size=(8, 5))
        norm = float(np.linalg.norm(x, axis=1).max())
        scores = x @ query @ key.T @ x.T
        assert np.ptp(scores, axis=1).max() <= spread_of_norms(query, key, norm)

    @settings(max_examples=20)
    @given(st.integers(0, 10_000))
    def test_the_sharpest_word_is_the_sharpest_of_all(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        query, key = rng.normal(size=(2, 4, 2))
        tokens, positions = rng.normal(size=(4, 4)), rng.normal(size=(6, 4))
        best = sharpest(query, key, tokens, positions)
        for t in range(1, 6):
            words = np.array([(3, *w) for w in product(range(3), repeat=t)])
            x = tokens[words] + positions[: t + 1]
            weights = softmax(np.einsum("nd,njd->nj", x[:, -1] @ query @ key.T, x))
            assert best.first[t - 1] == pytest.approx(weights[:, 1].max())
            earlier = weights[:, 1:-1].max(initial=0.0)
            assert best.earlier[t - 1] == pytest.approx(earlier)

    def test_scores_far_apart_do_no_harm(self) -> None:
        best = sharpest(*head_of(flip_flop(80, 900.0)))
        assert np.allclose(best.first, 1.0)


class TestBoxes:
    @pytest.mark.sample(1)
    @pytest.mark.parametrize("noise", [0.0, 0.3])
    @pytest.mark.parametrize(
        ("name", "how"), [("Grid4", "gridworld"), ("C3", "scan"), ("C2", "counter")]
    )
    def test_scores_of_words_lie_in_the_box(
        self, name: str, how: str, noise: float
    ) -> None:
        machine, length = zoo.machine(name), 9
        made = krohn.compile(machine, length, how, dtype="float64").file
        rng = np.random.default_rng(0)
        file = ModelFile(
            made.header,
            {n: a + noise * rng.normal(size=a.shape) for n, a in made.tensors.items()},
            made.precision,
        )
        network = Model(file).network
        assert isinstance(network, Transformer)
        words = torch.from_numpy(rng.integers(len(machine.letters), size=(40, length)))
        stream = network.snapshots(words)
        for box in head_boxes(file):
            x = stream[2 * box.block].numpy()
            assert isinstance(network.attention[box.block], Attention)
            query, key = x @ box.query, x @ box.key
            for known, y in ((box.queries, query), (box.keys, key)):
                slack = 1e-9 * known.size.max()
                assert (y >= known.low - slack).all()
                assert (y <= known.high + slack).all()
            scores = query @ key.transpose(0, 2, 1)
            assert np.ptp(scores, axis=2).max() <= box.spread * (1 + 1e-9)

    def test_a_head_may_read_what_another_adds_up(self) -> None:
        """That is no mean of letters: it grows with their number."""
        file, length = flip_flop(6, 1.0), 6
        shape, tensors = file.header["architecture"], dict(file.tensors)
        for name in ("query", "key", "value", "out"):
            at = f"attention.{name}"
            tensors[f"blocks.1.{at}"] = tensors[f"blocks.0.{at}"]
            tensors[f"blocks.0.{at}"] = np.zeros_like(tensors[f"blocks.1.{at}"])
        for name in ("query", "key", "value"):
            tensors[f"blocks.0.attention.{name}"][0, ONE, 0] = 1.0
        tensors["blocks.0.attention.out"][0, 0, PLACE] = 1.0
        (block,) = shape["blocks"]
        blocks = [{**block, "attention": {"kind": "relu"}}, block]
        header = {**file.header, "architecture": {**shape, "blocks": blocks}}
        file = ModelFile(header, tensors, file.precision)
        (box,) = head_boxes(file)
        words = np.zeros((1, length), dtype=np.int64)
        boxes = enclosed(Net.of(file.architecture, file.tensors), words)
        assert box.keys.high[1] >= boxes["blocks.1.attention.key"].low[0, 0, -1, 1] > 7


class TestLayerNorm:
    @settings(max_examples=12)
    @given(st.integers(0, 10_000), st.booleans(), st.floats(0.01, 100.0))
    def test_scores_behind_it_are_as_close_as_said(
        self, seed: int, bias: bool, scale: float
    ) -> None:
        torch.manual_seed(seed)
        layer = nn.TransformerEncoderLayer(
            8, 2, 8, 0.0, batch_first=True, norm_first=True, bias=bias
        ).double()
        for parameter in layer.parameters():
            nn.init.normal_(parameter)
        u = layer.norm1(torch.randn(20, 8, dtype=torch.float64) * scale).detach()
        projected = nn.functional.linear(
            u, layer.self_attn.in_proj_weight, layer.self_attn.in_proj_bias
        )
        queries, keys, _ = (
            projected.detach().numpy().reshape(20, 3, 2, 4).swapaxes(0, 1)
        )
        bounds = module_bounds(nn.Sequential(layer), 20)
        assert len(bounds) == 2
        for h, bound in enumerate(bounds):
            scores = queries[:, h] @ keys[:, h].T / 2.0
            assert np.ptp(scores, axis=1).max() <= bound.spread

    def test_a_head_of_small_weights_cannot_be_sharp(self) -> None:
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(8, 2, 8, norm_first=True)
        with torch.no_grad():
            layer.self_attn.in_proj_weight *= 0.1
        bound = module_bounds(layer, 50)[0]
        assert bound.among == np.floor(1 + np.exp(bound.spread)) < 50  # half of it
        assert f"on one position beyond T = {bound.among:.6g}" in bound.summary()

    def test_other_modules_have_no_bounds(self) -> None:
        assert module_bounds(nn.LSTM(3, 4), 9) == ()
        assert module_bounds(nn.TransformerEncoderLayer(8, 2, 8), 9) == ()
        assert module_bounds(lambda words: words, 9) == ()


class TestPacking:
    @settings(max_examples=12)
    @given(st.integers(0, 10_000), st.integers(1, 3), st.floats(0.55, 0.95))
    def test_no_more_positions_get_a_weight(
        self, seed: int, rank: int, weight: float
    ) -> None:
        rng = np.random.default_rng(seed)
        keys = rng.normal(size=(40, rank)) * rng.choice([1, 4])
        # Queries point at one key each, which is the best that they can do.
        queries = keys * rng.choice([0.3, 1.0, 3.0])
        won = np.unique(np.argwhere(softmax(queries @ keys.T) >= weight)[:, 1])
        longest = (np.linalg.norm(m, axis=1).max() for m in (queries, keys))
        assert len(won) <= kept_apart(*map(float, longest), rank, weight)

    def test_the_rank_is_that_of_the_scores(self) -> None:
        rng = np.random.default_rng(0)
        thin = rng.normal(size=(6, 1)) @ rng.normal(size=(1, 4))
        assert rank_of(rng.normal(size=(6, 4)), thin) == 1


class TestLinear:
    @pytest.mark.parametrize("kappa", [0.0, 0.05, -0.05, 1.0])
    def test_coefficients_give_the_scores(self, kappa: float) -> None:
        query, key, tokens, positions = head_of(flip_flop(12, 1.0, kappa))
        line = line_of(positions)
        assert line is not None
        head = linear_head(query, key, tokens[:-1], line, tokens[-1] + positions[0])
        for a, b, i, j in product(range(3), range(3), (1, 5, 12), (1, 4, 12)):
            x, y = tokens[a] + positions[i], tokens[b] + positions[j]
            found = head.constant[a, b] + head.of_key[a] * j + head.of_query[b] * i
            assert (x @ query) @ (y @ key) == pytest.approx(
                found + head.product * i * j, abs=1e-9
            )
        assert head.product == pytest.approx(kappa / 64)

    @pytest.mark.parametrize(("kappa", "first"), [(0.05, 37), (0.0, None)])
    def test_a_positive_product_loses_old_writes(
        self, kappa: float, first: int | None
    ) -> None:
        # p_n·p_1 + … : kappa·n² ≥ 64 + kappa·n, from n = 37 on.
        found = self.head(kappa)
        assert found.lost_at(2, 0, 100_000) == first
        assert found.overtaken_at(1, 2, 0, 100_000) is None

    def test_a_negative_product_loses_new_writes(self) -> None:
        # Positions count for less from n = 64/0.05 on (thesis, Proposition 5, case 2).
        found = self.head(-0.05)
        assert found.overtaken_at(1, 2, 0, 100_000) == 1280
        assert found.lost_at(2, 0, 1000) is None

    @staticmethod
    def head(kappa: float) -> LinearHead:
        query, key, tokens, positions = head_of(flip_flop(12, 1.0, kappa))
        line = line_of(positions)
        assert line is not None
        return linear_head(query, key, tokens[:-1], line, tokens[-1] + positions[0])

    def test_codes_are_no_line(self) -> None:
        file = krohn.compile("C2", 16, "scan").file
        assert line_of(file.tensors["embed.position"]) is None


def only(file: ModelFile) -> HeadBounds:
    (found,) = head_bounds(file, FLIP_FLOP)
    return found


class TestPredictions:
    """The only head of a network that reads by weights above one half."""

    @pytest.mark.sample(1)
    @pytest.mark.parametrize("sharpness", [0.9625, 0.9624, 0.962, 0.95, 0.5])
    def test_it_fails_when_the_weight_must_be_below_one_half(
        self, sharpness: float
    ) -> None:
        length = 64
        file = flip_flop(length, sharpness)
        bounds = only(file)
        found = sample(Model(file), FLIP_FLOP, 400, length, 0).counterexample
        assert bounds.first is not None
        # Rivals are BOS, one step below, and all keeping letters: x + x + x² + … = 1.
        if np.exp(-sharpness) < (3 - np.sqrt(5)) / 2:
            assert bounds.first == length
            assert found is None
            return
        assert f"on the first letter beyond T = {bounds.first};" in bounds.summary()
        assert found is not None
        assert len(found.word) <= bounds.first + 1

    def test_an_old_write_is_lost_where_it_is_predicted(self) -> None:
        # Sharp enough for every wrong answer to be one of hard attention.
        file = flip_flop(64, 12.0, kappa=0.05)
        lost = only(file).lost
        assert lost == (37, "1 ⊥ …")
        judge = pair(Model(file), FLIP_FLOP, 64)
        word = np.zeros((1, 64), dtype=np.int64)
        word[0, 0] = 2
        assert judge.good(word)[0] in (35, 36)
        found = sample(Model(file), FLIP_FLOP, 400, 64, 0).counterexample
        assert found is not None
        assert len(found.word) <= 37

    def test_all_short_words_may_be_right_all_the_same(self) -> None:
        assert run_all(Model(flip_flop(64, 12.0, kappa=0.05)), FLIP_FLOP, 8).has_passed

    @pytest.mark.slow
    def test_a_head_without_product_is_right_at_every_length(self) -> None:
        file = flip_flop(300, 12.0)
        assert only(file).lost is None
        assert sample(Model(file), FLIP_FLOP, 300, 300, 0).has_passed

    def test_what_is_said_can_be_written_down(self) -> None:
        stated = only(flip_flop(20, 900.0)).to_object()
        assert stated["half among"] is None
        assert stated["half on the first letter"] == 20
        assert (
            "can put half of its weight on the first letter at T = 20"
            in only(flip_flop(20, 9.0)).summary()
        )

    def test_other_networks_have_no_heads(self) -> None:
        rnn = krohn.compile("C2", arch="rnn").file
        assert head_bounds(rnn, zoo.machine("C2")) == ()


def test_the_last_length_at_which_a_weight_is_reached() -> None:
    assert last_at_least(np.array([0.9, 0.4, 0.6, 0.1]), 0.5) == 3
    assert last_at_least(np.array([0.1]), 0.5) == 0
