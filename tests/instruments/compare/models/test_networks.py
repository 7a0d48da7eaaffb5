"""Properties of every network that is built: GPT-2 with all positions, and the LSTM."""

import math
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
from hypothesis import given, strategies as st
from torch import Tensor, nn

import krohn
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models import (
    Architecture,
    Gpt,
    Lstm,
    Network,
    build,
    wrap_compiled,
)
from krohn.instruments.compare.models.architecture import (
    KINDS,
    Positions,
    from_object,
    to_object,
)
from krohn.instruments.compare.models.gpt import (
    linear,
    penalties,
    sinusoidal,
    slopes,
)

pytest.importorskip("transformers")

LETTERS, CLASSES, LONGEST = 3, 4, 12
SMALL: dict[str, Architecture] = {
    name: Gpt(depth=2, width=16, heads=2, inner=32, positions=name)
    for name in get_args(Positions)
} | {"lstm": Lstm(8, 16), "lstm in layers": Lstm(8, 16, layers=2)}
LIMITED = ("sinusoidal", "linear", "learned")

COMPILED: dict[str, dict[str, Any]] = {
    "compiled": {"length": LONGEST},
    "compiled to an RNN": {"arch": "rnn"},
}
each = pytest.mark.parametrize("name", SMALL)
every = pytest.mark.parametrize("name", [*SMALL, *COMPILED])


def network(name: str, seed: int = 0) -> Network:
    if name in COMPILED:
        return wrap_compiled(krohn.compile("C3", **COMPILED[name]).file)
    return build(SMALL[name], LETTERS, CLASSES, LONGEST, seed).eval()


kept = cache(network)


def words(count: int = 3, length: int = 8, seed: int = 0) -> Tensor:
    rng = torch.Generator().manual_seed(seed)
    return torch.randint(LETTERS, (count, length), generator=rng)


def close(left: Tensor, right: Tensor) -> bool:
    return torch.allclose(left, right, atol=1e-5, rtol=1e-4)


@pytest.mark.sample(3)
@each
def test_logits_of_all_classes_come_after_every_letter(name: str) -> None:
    assert network(name)(words(5, 7)).shape == (5, 7, CLASSES)


@pytest.mark.sample(2)
@each
@pytest.mark.parametrize("parts", [(1, 2, 2, 3), (8,), (1,) * 8])
def test_words_can_be_read_in_parts(name: str, parts: tuple[int, ...]) -> None:
    built, memory, found = kept(name), None, []
    for part in words().split(parts, dim=1):
        logits, memory = built.further(part, memory, shift=2)
        found.append(logits)
    assert close(torch.cat(found, dim=1), built(words(), shift=2))


@pytest.mark.parametrize("name", LIMITED)
def test_parts_cannot_go_beyond_the_positions(name: str) -> None:
    _, memory = kept(name).further(words(3, LONGEST))
    with pytest.raises(KrohnError, match=f"positions for {LONGEST} .* asked for 13"):
        kept(name).further(words(3, 1), memory)


@pytest.mark.sample(2)
@every
def test_the_inside_belongs_to_the_same_logits(name: str) -> None:
    built = network(name)
    shown = built.inside(words())
    assert close(shown.logits, built(words()))
    assert len(shown.hidden) == len(built.layers())
    assert all(h.shape[:2] == (3, 8) for h in shown.hidden)


@pytest.mark.sample(2)
@every
def test_looking_inside_leaves_no_trace(name: str) -> None:
    built = network(name)
    before = built(words())
    built.inside(words())
    assert torch.equal(built(words()), before)
    assert not any(module._forward_hooks for module in built.modules())


@pytest.mark.parametrize("name", get_args(Positions))
def test_attention_is_a_distribution_over_the_letters_so_far(name: str) -> None:
    weights = network(name).inside(words()).attention
    assert [w.shape for w in weights] == [(3, 2, 8, 8)] * 2
    for layer in weights:
        assert close(layer.sum(dim=-1), torch.ones(3, 2, 8))
        assert bool((layer.triu(1) == 0).all())


@pytest.mark.sample(1)
@each
@given(at=st.integers(0, 7), seed=st.integers(0, 50))
def test_a_letter_changes_nothing_before_it(name: str, at: int, seed: int) -> None:
    built, word = kept(name), words(seed=seed)
    other = word.clone()
    other[:, at] = (other[:, at] + 1) % LETTERS
    left, right = built(word), built(other)
    assert close(left[:, :at], right[:, :at])
    assert not torch.equal(left[:, at], right[:, at])


@pytest.mark.sample(1)
@every
def test_a_word_is_answered_alike_in_any_company(name: str) -> None:
    built, all_words = network(name), words(6)
    assert close(built(all_words)[4:5], built(all_words[4:5]))


@pytest.mark.sample(2)
@each
def test_the_seed_alone_decides_the_weights(name: str) -> None:
    torch.manual_seed(1)
    first = network(name, 5).state_dict()
    torch.manual_seed(2)
    second, other = network(name, 5).state_dict(), network(name, 6).state_dict()
    assert all(torch.equal(first[key], second[key]) for key in first)
    assert not all(torch.equal(first[key], other[key]) for key in first)


@each
def test_building_draws_nothing_from_the_generator_of_others(name: str) -> None:
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    network(name)
    assert torch.equal(torch.rand(4), expected)


@pytest.mark.sample(3)
@every
def test_a_hidden_layer_replaced_by_itself_changes_nothing(name: str) -> None:
    built = network(name)
    shown = built.inside(words())
    for layer, hidden in zip(built.layers(), shown.hidden, strict=True):
        with replaced(layer, hidden):
            assert close(built(words()), shown.logits)


@pytest.mark.sample(3)
@every
def test_a_hidden_layer_of_other_words_leads_to_what_follows_there(name: str) -> None:
    built = network(name)
    other = built.inside(words(seed=9))
    for i, layer in enumerate(built.layers()):
        with replaced(layer, other.hidden[i]):
            found = built.inside(words())
        assert close(found.logits, other.logits)
        assert all(map(close, found.hidden[i:], other.hidden[i:]))


class replaced:
    """A module gives something else."""

    def __init__(self, module: nn.Module, output: Tensor) -> None:
        self.module, self.output = module, output

    def __enter__(self) -> None:
        self.hook = self.module.register_forward_hook(lambda *_: self.output)

    def __exit__(self, *_: object) -> None:
        self.hook.remove()


@pytest.mark.parametrize("name", LIMITED)
def test_shifted_words_have_the_positions_of_the_end_of_longer_ones(name: str) -> None:
    """One letter attends to itself only: its place is all that it knows."""
    built = network(name)
    alone, shifted = built(words(1, 1)), built(words(1, 1), 3)
    assert not close(alone, shifted)
    first = built.inside(words(1, 9)).hidden[0][:, 3:]
    assert close(built.inside(words(1, 9)[:, 3:], 3).hidden[0], first)


@pytest.mark.parametrize("name", ["none", "alibi", "rope", "lstm"])
def test_a_shift_changes_nothing_where_only_distance_counts(name: str) -> None:
    assert close(network(name)(words()), network(name)(words(), 400))


@pytest.mark.parametrize("name", LIMITED)
def test_words_beyond_the_positions_are_refused(name: str) -> None:
    built = network(name)
    assert built.longest == LONGEST
    built(words(1, LONGEST))
    with pytest.raises(
        KrohnError, match="positions for 12 letters and is asked for 13"
    ):
        built(words(1, 10), 3)


@pytest.mark.parametrize("name", ["none", "alibi", "rope", "lstm"])
def test_networks_without_a_table_read_words_of_any_length(name: str) -> None:
    built = network(name)
    assert built.longest is None
    assert built(words(1, 4 * LONGEST)).isfinite().all()


@pytest.mark.sample(2)
@each
def test_a_gradient_reaches_every_weight(name: str) -> None:
    built = network(name).train()
    # Two powers, so that no class' weight is answered by another's.
    (built(words()).square() + built(words())).sum().backward()
    for key, weight in built.named_parameters():
        assert weight.grad is not None, key


@pytest.mark.parametrize("name", ["sinusoidal", "rope"])
def test_dropout_is_for_training_only(name: str) -> None:
    noisy = Gpt(2, 16, 2, 32, positions=name, dropout=0.5, embedding_dropout=0.5)
    built = build(noisy, LETTERS, CLASSES, LONGEST, 0)
    assert not close(built(words()), built(words()))
    built.eval()
    assert torch.equal(built(words()), built(words()))


@pytest.mark.slow
def test_the_library_is_loaded_when_such_a_network_is_built() -> None:
    script = (
        "import sys; from krohn.instruments.compare.models import Gpt, Lstm, build; "
        "build(Lstm(), 2, 2, 8, 0); assert 'transformers' not in sys.modules; "
        "build(Gpt(), 2, 2, 8, 0); assert 'transformers' in sys.modules"
    )
    root = Path(__file__).parents[4]
    subprocess.run([sys.executable, "-W", "error", "-c", script], cwd=root, check=True)


@pytest.mark.parametrize("name", ["sinusoidal", "linear"])
def test_fixed_positions_are_scaled(name: str) -> None:
    """One letter at all places: what differs is the table."""
    wide, narrow = (
        Gpt(depth=1, width=16, heads=2, inner=32, positions=name, scale=scale)
        for scale in (1.0, 0.25)
    )
    same = torch.zeros(1, LONGEST, dtype=torch.long)
    spread = [
        build(a, LETTERS, CLASSES, LONGEST, 0).inside(same).hidden[0].diff(dim=1)
        for a in (wide, narrow)
    ]
    assert close(0.25 * spread[0], spread[1])


@pytest.mark.slow
def test_building_and_running_opens_no_connection(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a connection is opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for name in SMALL:
        network(name).inside(words())
    said = capfd.readouterr()
    assert said.out == said.err == ""


@each
def test_an_architecture_survives_json(name: str) -> None:
    assert from_object(to_object(SMALL[name])) == SMALL[name]


def test_every_kind_is_tested() -> None:
    assert {a.kind for a in SMALL.values()} <= set(KINDS)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"kind": "gru"}, "no architecture of the kind 'gru'"),
        ({"kind": "gpt", "layers": 3}, "malformed"),
        ({"kind": "gpt", "heads": 3}, "3 heads do not divide"),
        ({"kind": "gpt", "scale": 0}, "scale above 0"),
        ({"kind": "gpt", "depth": 0}, "depth must be a whole number"),
        ({"kind": "gpt", "dropout": 1.0}, "dropout must be in"),
        ({"kind": "gpt", "positions": "polar"}, "positions= takes sinusoidal"),
        ({"kind": "gpt", "positions": "rope", "width": 12}, "even width"),
        ({"kind": "lstm", "hidden": -1}, "hidden must be"),
    ],
)
def test_senseless_architectures_are_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(KrohnError, match=told):
        from_object(wrong)


@given(place=st.integers(0, 99), pair=st.integers(0, 7))
def test_sinusoidal_positions_are_those_of_vaswani(place: int, pair: int) -> None:
    angle = place / 10_000 ** (2 * pair / 16)
    row = sinusoidal(100, 16)[place]
    assert row[2 * pair] == pytest.approx(math.sin(angle), abs=1e-6)
    assert row[2 * pair + 1] == pytest.approx(math.cos(angle), abs=1e-6)


@given(by=st.integers(0, 40))
def test_a_shift_of_sinusoidal_positions_is_a_rotation(by: int) -> None:
    table = sinusoidal(100, 16).double()
    products = (table[by:] * table[: 100 - by]).sum(dim=1)
    assert torch.allclose(products, products[0].expand_as(products), atol=1e-6)


def test_linear_positions_are_proportional_and_survive_layer_norm() -> None:
    table = linear(50, 16)
    assert torch.allclose(table[40], 4 * table[10])
    assert torch.allclose(table.mean(dim=1), torch.zeros(50))
    assert table.abs().max() < 1


def test_slopes_are_those_of_press() -> None:
    assert slopes(8).tolist() == [2.0**-i for i in range(1, 9)]
    assert slopes(4).tolist() == [2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8]
    # Six heads: those of four, then the first and third of eight.
    assert slopes(6).tolist() == [*slopes(4).tolist(), 2.0**-1, 2.0**-3]
    assert slopes(1).tolist() == [2.0**-8]


@given(heads=st.integers(1, 20))
def test_every_head_has_a_slope_of_its_own(heads: int) -> None:
    found = slopes(heads).tolist()
    assert len(set(found)) == heads
    assert all(0 < slope < 1 for slope in found)


@given(heads=st.integers(1, 6), length=st.integers(1, 12))
def test_penalties_grow_with_distance_and_forbid_what_follows(
    heads: int, length: int
) -> None:
    found = penalties(heads, length, torch.device("cpu"))[0]
    for head, slope in enumerate(slopes(heads).tolist()):
        for query in range(length):
            for key in range(length):
                paid = -slope * (query - key) if key <= query else -math.inf
                assert found[head, query, key].item() == pytest.approx(paid)
