"""GPT-2 with sparse and linear heads: what each position sees, and how much it takes."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models import (
    EfficientGpt,
    Gpt,
    build,
    load,
    save,
)
from krohn.instruments.compare.models.cost import flops
from krohn.instruments.compare.models.gpt import attention_weights
from krohn.network.meaning.attention import View, pattern
from krohn.network.meaning.net import Heads
from krohn.network.meaning.tensors import FAST, points
from krohn.program.attention import Linear, Sight, Sparse

pytest.importorskip("transformers")

SMALL = {"depth": 2, "width": 16, "heads": 2, "inner": 32}
KINDS = {
    "linear": EfficientGpt(**SMALL),
    "sparse": EfficientGpt(**SMALL, attention="sparse", block=3),
}
each = pytest.mark.parametrize("name", KINDS)


def heads(seed: int) -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(seed)
    query, key = (torch.randn((2, 2, 11, 4), generator=rng) for _ in range(2))
    return query, key


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_those_of_compiled_networks(seed: int) -> None:
    """But for BOS, which a compiled network sees from everywhere, and the scale."""
    query, key = heads(seed)
    own = attention_weights(KINDS["linear"], query, key)
    compiled = Heads(Linear(), (Sight.CAUSAL,) * 2, query, key, key, key)
    view = View(FAST, compiled, points(torch.zeros((2, 11))))
    wanted = pattern(FAST, compiled, query, key, view)
    assert torch.allclose(own, wanted, atol=1e-6)
    own = attention_weights(KINDS["sparse"], query, key)
    kind = Sparse(3, 1, 1)
    for i in range(1, 12):
        seen = [j for j in range(1, 12) if own[0, 0, i - 1, j - 1] > 0]
        assert seen == [j for j in range(1, 12) if kind.sees(i, j)]
        assert seen == [j for j in range(1, i + 1) if i - j < 3 or j % 3 == 0]


@each
def test_weights_add_up_to_one_and_see_nothing_later(name: str) -> None:
    weights = attention_weights(KINDS[name], *heads(1))
    assert torch.allclose(weights.sum(dim=-1), torch.ones(()))
    assert (weights.triu(1) == 0).all()


@pytest.mark.sample(1)
@each
@pytest.mark.parametrize("parts", [(1, 2, 2, 3), (1,) * 8])
def test_texts_can_be_read_in_parts(name: str, parts: tuple[int, ...]) -> None:
    built, memory, found = build(KINDS[name], 3, 4, 12, 0).eval(), None, []
    words = torch.randint(3, (3, 8), generator=torch.Generator().manual_seed(0))
    for part in words.split(parts, dim=1):
        logits, memory = built.further(part, memory)
        found.append(logits)
    assert torch.allclose(torch.cat(found, dim=1), built(words), atol=1e-5)
    shown = built.inside(words)
    assert torch.allclose(shown.logits, built(words), atol=1e-5)
    assert [w.shape for w in shown.attention] == [(3, 2, 8, 8)] * 2


@each
def test_kinds_of_attention_are_other_networks_of_as_many_weights(name: str) -> None:
    usual, other = (build(a, 3, 4, 12, 0).eval() for a in (Gpt(**SMALL), KINDS[name]))
    alike = zip(usual.state_dict().items(), other.state_dict().items(), strict=True)
    assert all(a == b and torch.equal(x, y) for (a, x), (b, y) in alike)
    words = torch.arange(8)[None] % 3
    assert torch.allclose(usual(words)[:, 0], other(words)[:, 0], atol=1e-7)
    assert not torch.allclose(usual(words)[:, -1], other(words)[:, -1], atol=1e-5)


@each
def test_they_have_files(name: str, tmp_path: Path) -> None:
    built = build(KINDS[name], 3, 4, 12, 0).eval()
    save(built, tmp_path / "network")
    words = torch.arange(8)[None] % 3
    assert torch.equal(load(tmp_path / "network")(words), built(words))


def test_operations_grow_as_their_kind_does() -> None:
    """Twice the text: twice the work of linear heads, four times that of standard ones."""
    wide = {"depth": 1, "width": 8, "heads": 2, "inner": 8}

    def meeting(architecture: Gpt, length: int) -> int:
        network = build(architecture, 2, 2, 600, 0)
        found = flops(network, length)
        assert found is not None
        return found - 2 * length * (8 * (4 * 8 + 2 * 8) + 8 * 2)

    short, long = (meeting(Gpt(**wide), n) for n in (256, 512))
    assert long == 4 * short
    short, long = (meeting(EfficientGpt(**wide), n) for n in (256, 512))
    assert long == 2 * short
    found = EfficientGpt(**wide, attention="sparse", block=16)
    assert meeting(found, 256) == 2 * 256 * 2 * 8 * (16 + 256 // 16)


def test_what_makes_no_sense() -> None:
    with pytest.raises(KrohnError, match="linear or sparse"):
        EfficientGpt(attention="softmax")  # type: ignore[arg-type]
    with pytest.raises(KrohnError, match="added to letters, not rope"):
        EfficientGpt(positions="rope")
    with pytest.raises(KrohnError, match="block"):
        EfficientGpt(block=0)
