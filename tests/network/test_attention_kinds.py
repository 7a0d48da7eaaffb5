"""Sparse, linear, ReLU attention: what the formulas say, in every form of the runtime."""

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from many_digits import DIGITS, ManyDigits, exact, near
from torch import Tensor
from torch.nn.utils import prune

from krohn.network import ModelFileError
from krohn.network.architecture import expected_shapes
from krohn.network.cache import Tree
from krohn.network.forward_pass import Hooks
from krohn.network.meaning import arrays
from krohn.network.meaning.attention import PROJECT, WRITE, View, pattern
from krohn.network.meaning.forward import look
from krohn.network.meaning.net import Heads
from krohn.network.meaning.tensors import FAST, points
from krohn.network.transformer import Attention, Transformer
from krohn.program.attention import Sight, Softmax, Sparse
from krohn.program.claim import first_version
from krohn.program.errors import Refused

LINEAR = {"kind": "linear"}
KINDS = {
    "linear": LINEAR,
    "relu": {"kind": "relu"},
    "window": {"kind": "sparse", "block": 3, "windows": 1, "last": 1},
    "wide": {"kind": "sparse", "block": 4, "windows": 2, "last": 2},
    "one": {"kind": "sparse", "block": 1, "windows": 3, "last": 1},
}
POSITIONS, LETTERS, D = 15, 3, 7


def architecture(*kinds: Mapping[str, Any] | None) -> dict[str, Any]:
    """A Transformer of two heads a block, with an MLP each."""
    block = {"heads": 2, "d_qk": 3, "d_v": 2, "mlp": [5]}
    blocks = [
        {**block, "attention": kind} if kind is not None else block for kind in kinds
    ]
    sizes = {"d_model": D, "vocabulary": LETTERS + 1, "positions": POSITIONS}
    stated = {"kind": "transformer", "dtype": "float64", "strict": True, "outputs": 4}
    return {**stated, **sizes, "blocks": blocks}


def network(
    *kinds: Mapping[str, Any] | None, dtype: torch.dtype = torch.float64, seed: int = 0
) -> Transformer:
    made = torch.Generator().manual_seed(seed)
    shape = architecture(*kinds)
    tensors = {
        name: (0.4 * torch.randn(size, generator=made, dtype=torch.float64)).to(dtype)
        for name, size in expected_shapes(shape).items()
    }
    return Transformer(shape, tensors).eval()


def words(count: int, length: int = POSITIONS - 1, seed: int = 0) -> Tensor:
    made = torch.Generator().manual_seed(seed)
    return torch.randint(LETTERS, (count, length), generator=made)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_whole_words_are_as_defined(kind: Mapping[str, Any]) -> None:
    """By the referee, who is held against loops (`slow_network`)."""
    net = network(kind)
    attention = net.attention[0]
    assert isinstance(attention, Attention)
    for length in (1, 5, 12, POSITIONS - 1):
        x = net.snapshots(words(2, length))[0]
        with mpmath.workdps(DIGITS):
            o, heads = ManyDigits(), attention.heads.each(lambda m: exact(m.numpy()))
            seen, read = View(o, heads, arrays.points(x)), exact(x.numpy())
            query, key, _ = o.project(heads, read)
            added, _ = look(o, seen, read)
            weights = pattern(o, heads, query, key, seen)
        for found, true in ((attention(x), added), (attention.weights(x), weights)):
            np.testing.assert_allclose(found, near(true), rtol=1e-12, atol=1e-12)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_running_states_give_what_whole_words_give(kind: Mapping[str, Any]) -> None:
    net, tokens = network(kind, None, kind), words(4)
    cache, found = net.start(len(tokens)), []
    for letters in tokens.T:
        logits, cache = net.step(letters, cache)
        found.append(logits)
    torch.testing.assert_close(
        torch.stack(found, dim=1), net(tokens), rtol=1e-12, atol=1e-12
    )


def test_the_state_of_linear_attention_does_not_grow() -> None:
    net = network(LINEAR)
    cache = net.start()
    sizes = [part.shape for part in cache.parts]
    for letters in words(1).T:
        _, cache = net.step(letters, cache)
        assert [part.shape for part in cache.parts] == sizes


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("same", [True, False])
def test_trees_of_words_give_what_whole_words_give(
    kind: Mapping[str, Any], same: bool
) -> None:
    net, tree, begun = network(kind, kind), Tree(LETTERS, 3), words(2, 4)
    cache = net.start(len(begun))
    for letters in begun.T:
        _, cache = net.step(letters, cache)
    tokens = torch.arange(LETTERS)
    every = tokens if same else tokens[tree.last].expand(len(begun), -1)
    logits, grow = net.branch(every, cache, tree)
    leaves = tree.sizes[-1]
    for w, leaf in np.ndindex(len(begun), leaves):
        path = tree.paths[leaf]
        word = torch.cat([begun[w], tree.last[path]])
        expected = net(word[None])[0, -tree.generations :]
        torch.testing.assert_close(logits[w, path], expected, rtol=1e-12, atol=1e-12)
        one = w * leaves + leaf
        after, _ = net.step(torch.tensor([1]), grow(one, one + 1))
        longer = net(torch.cat([word, torch.tensor([1])])[None])[:, -1]
        torch.testing.assert_close(after, longer, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_other_formats_run(kind: Mapping[str, Any], dtype: torch.dtype) -> None:
    tokens = words(3)
    exact, found = (network(kind, dtype=t)(tokens) for t in (torch.float64, dtype))
    assert found.dtype == dtype
    far = (found.double() - exact).abs().max() / exact.abs().max()
    assert far < (1e-4 if dtype == torch.float32 else 0.3)


def view(kind: Softmax | Sparse, count: int, device: str = "cpu") -> View:
    """What one causal head sees on a whole word."""
    none = torch.empty(0)
    heads = Heads(kind, (Sight.CAUSAL,), none, none, none, none)
    return View(FAST, heads, points(torch.zeros((1, count), device=device)))


@pytest.mark.parametrize("last", [1, 2])
def test_bos_is_seen_from_everywhere(last: int) -> None:
    seen = view(Sparse(4, 1, last), 20).visibility
    assert seen[:, 0].all()
    assert seen.diagonal().all()
    assert not seen.triu(1).any()
    assert seen[19].nonzero()[:, 0].tolist() == sorted(
        {j for j in range(20) if j % 4 == 0 or (last == 2 and j % 4 == 3)}
        | {16, 17, 18, 19}
    )


@pytest.mark.parametrize(
    "attention",
    [
        {"kind": "cubic"},
        {"kind": ["linear"]},
        {},
        "linear",
        {"kind": "linear", "block": 3},
        {"kind": "relu", "last": 1},
        {"kind": "sparse", "block": 3, "windows": 1},
        {"kind": "sparse", "block": 3, "windows": 1, "last": 0},
        {"kind": "sparse", "block": 3, "windows": 1, "last": 4},
        {"kind": "sparse", "block": 3, "windows": 1.0, "last": 1},
        {"kind": "sparse", "block": True, "windows": 1, "last": 1},
    ],
)
def test_other_kinds_are_refused(attention: Any) -> None:
    with pytest.raises(ModelFileError, match="is damaged"):
        expected_shapes(architecture(attention))


@pytest.mark.parametrize("kind", [KINDS["linear"], KINDS["wide"]])
def test_neither_linear_nor_sparse_attention_sees_the_whole_word(
    kind: Mapping[str, Any],
) -> None:
    shape = architecture(kind)
    assert first_version({"architecture": shape}) == 5
    shape["blocks"][0]["causal"] = [True, False]
    with pytest.raises(ModelFileError, match="sees the whole word"):
        expected_shapes(shape)


def test_relus_add_up_what_comes_later_too() -> None:
    shape = architecture({"kind": "relu"})
    shape["blocks"][0]["causal"] = [True, False]
    made = torch.Generator().manual_seed(3)
    tensors = {
        name: torch.randn(size, generator=made, dtype=torch.float64)
        for name, size in expected_shapes(shape).items()
    }
    net = Transformer(shape, tensors).eval()
    attention, tokens = net.attention[0], words(2)
    assert isinstance(attention, Attention)
    x = net.snapshots(tokens)[0]
    scores = [
        (x @ q) @ (x @ k).transpose(1, 2)
        for q, k in zip(attention.query, attention.key, strict=True)
    ]
    weights = torch.stack([scores[0].tril(), scores[1]], dim=1).relu()
    weights[:, 1, 0, 1:] = 0  # from BOS only BOS is seen
    torch.testing.assert_close(attention.weights(x), weights, rtol=1e-12, atol=1e-12)
    with pytest.raises(ModelFileError, match="reads a word as a whole"):
        net.start()


@pytest.mark.parametrize(
    "device", ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
)
def test_scores_of_float32_have_all_their_digits(device: str) -> None:
    """2049² = 2049·2048 + 2049, which a sum of parts of 11 digits does not say."""
    wide = torch.zeros((3, 1, 1, 2, 4), device=device)
    query, key, value = wide
    query[..., 0], query[..., 1] = 2049, 1
    key[0, 0, 0, 0] = 2049
    key[0, 0, 1, :2] = torch.tensor([2048, 2049])
    value[0, 0, 1, 0] = 1 + 2.0**-23
    seen = view(Softmax(), 2, device)
    mixed = FAST.attend(seen.heads, query, key, value, seen)
    assert mixed[0, 0, 1, 0] == 0.5 * (1 + 2.0**-23)


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_products_of_heads_have_the_bits_and_strides_of_einsum(
    dtype: torch.dtype,
) -> None:
    made = torch.Generator().manual_seed(0)
    for sizes in torch.randint(1, 9, (200, 5), generator=made).tolist():
        b, t, h, k, d = *sizes[:4], sizes[4] + 1  # a stream of one number is no case
        x, matrix, out = (
            torch.randn(shape, generator=made).to(dtype)
            for shape in ((b, t, d), (h, d, k), (h, k, d))
        )
        query = FAST.contract(PROJECT, x, matrix)
        right = torch.einsum(PROJECT, x, matrix)
        assert torch.equal(query, right)
        assert query.stride(-1) == right.stride(-1)
        assert torch.equal(
            FAST.contract(WRITE, query, out), torch.einsum(WRITE, right, out)
        )


def test_hooks_of_torch_on_parts_are_called() -> None:
    tokens = words(3)
    for kind in (None, *KINDS.values()):
        net = network(kind, kind)
        seen, right = list[Tensor](), net.snapshots(tokens)
        wanted = net(tokens)

        def watch(_: Any, args: Any, out: Tensor, seen: list[Tensor] = seen) -> None:
            seen.extend([*args, out])

        for part in (net.attention[1], net.mlp[1]):
            part.register_forward_hook(watch)
        torch.testing.assert_close(net(tokens), wanted, rtol=1e-12, atol=1e-12)
        before, added, after, last = seen
        assert torch.equal(before, right[2])
        assert torch.equal(before + added, right[3])
        assert torch.equal(after, right[3])
        assert torch.equal(last, right[4])
        net.mlp[0].register_forward_hook(lambda _, args, out: 2 * out)
        doubled = net.run_with_hooks(tokens, Hooks({"stream.2": [lambda x: 2 * x]}))
        torch.testing.assert_close(net(tokens), doubled, rtol=1e-12, atol=1e-12)


def test_what_is_pruned_is_made_anew_before_each_pass() -> None:
    net, tokens = network(None, None), words(3)
    other = network(None, None)
    heads = net.attention[0]
    prune.random_unstructured(heads, "query", 0.5)
    with torch.no_grad():
        heads.query_orig *= 2
        other.attention[0].query.copy_(heads.query_orig * heads.query_mask)
    torch.testing.assert_close(net(tokens), other(tokens), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("place", ["mlp", "attention"])
def test_parts_of_other_classes_are_refused(place: str) -> None:
    net = network(None)
    getattr(net, place)[0] = torch.nn.Linear(D, D, dtype=torch.float64)
    with pytest.raises(ModelFileError, match="replaced by a Linear, which it does not"):
        net(words(2))


def test_a_sight_that_nobody_knows_takes_no_fast_path() -> None:
    """It is neither taken for the past nor for all there is: it is refused by name."""
    toy: Any = "toy"
    none = torch.empty(0)
    heads = Heads(Softmax(), (toy,), none, none, none, none)
    strange = View(FAST, heads, points(torch.zeros((1, 1))))
    assert not strange.past
    assert not strange.everything
    with pytest.raises(Refused, match="toy"):
        _ = strange.visibility
