"""Hidden means absent: an infinite position spoils no letter before it, in any way."""

import warnings
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor

from krohn.network.architecture import expected_shapes
from krohn.network.cache import Tree
from krohn.network.forward_pass import Hooks
from krohn.network.transformer import Transformer

KINDS: dict[str, dict[str, Any]] = {
    "softmax": {"kind": "softmax"},
    "linear": {"kind": "linear"},
    "relu": {"kind": "relu"},
    "sparse": {"kind": "sparse", "block": 3, "windows": 1, "last": 1},
}
LETTERS, POSITIONS, WRONG = 3, 12, 8


def network(kind: Mapping[str, Any]) -> Transformer:
    """Two blocks, and a position with an infinite number."""
    block = {"heads": 2, "d_qk": 3, "d_v": 2, "mlp": [5], "attention": kind}
    sizes = {"d_model": 7, "vocabulary": LETTERS + 1, "positions": POSITIONS}
    stated = {"kind": "transformer", "dtype": "float64", "strict": True, "outputs": 4}
    shape = {**stated, **sizes, "blocks": [block, block]}
    made = torch.Generator().manual_seed(0)
    tensors = {
        name: 0.4 * torch.randn(size, generator=made, dtype=torch.float64)
        for name, size in expected_shapes(shape).items()
    }
    tensors["embed.position"][WRONG, 0] = torch.inf
    return Transformer(shape, tensors).eval()


def words() -> Tensor:
    made = torch.Generator().manual_seed(1)
    return torch.randint(LETTERS, (2, POSITIONS - 1), generator=made)


def stepwise(net: Transformer, tokens: Tensor) -> Tensor:
    cache, found = net.start(len(tokens)), []
    for letters in tokens.T:
        logits, cache = net.step(letters, cache)
        found.append(logits)
    return torch.stack(found, dim=1)


def in_a_branch(net: Transformer, tokens: Tensor) -> Tensor:
    """All letters as a chain below the empty word."""
    return net.branch(tokens, net.start(len(tokens)), Tree(1, tokens.shape[1]))[0]


def watched(net: Transformer, tokens: Tensor) -> Tensor:
    """With hooks, each of which is called once."""
    called: list[str] = []
    places = net.hook_places()
    hooks = {place: [lambda _, p=place: called.append(p)] for place in places}
    found = net.run_with_hooks(tokens, Hooks(hooks))
    assert called == places
    return found


def in_calls(net: Transformer, tokens: Tensor) -> Tensor:
    """With torch's own hooks on the parts, each of which is called once."""
    called: list[str] = []
    parts = (*net.attention, *net.mlp)
    hooks = [
        part.register_forward_hook(lambda *_: called.append("a part")) for part in parts
    ]
    found: Tensor = net(tokens)
    for hook in hooks:
        hook.remove()
    assert len(called) == len(parts)
    return found


def traced(net: Transformer, tokens: Tensor) -> Tensor:
    compiled = torch.compile(net, backend="eager", fullgraph=True)
    found: Tensor = compiled(tokens)
    return found


def mapped(net: Transformer, tokens: Tensor) -> Tensor:
    return torch.vmap(lambda word: net(word[None])[0])(tokens)


def recorded(net: Transformer, tokens: Tensor) -> Tensor:
    """By the operations that one word met, on more of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = torch.jit.trace(net, (tokens[:1],), check_trace=False)
    found: Tensor = made(tokens)
    return found


SLOW = pytest.param(traced, marks=pytest.mark.slow)
WAYS = (stepwise, in_a_branch, watched, in_calls, SLOW, recorded, mapped)


@pytest.mark.sample(6)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_letters_before_an_infinite_position_are_right(
    kind: Mapping[str, Any], way: Any
) -> None:
    net, tokens = network(kind), words()
    found, wanted = way(net, tokens), net(tokens)
    finite = wanted.isfinite().all(dim=2)
    # Letter t stands at position t + 1.
    assert finite[:, : WRONG - 1].all()
    assert not finite[:, WRONG - 1].any()
    assert torch.equal(found.isfinite().all(dim=2), finite)
    near = found[finite], wanted[finite]
    torch.testing.assert_close(*near, rtol=1e-12, atol=1e-12)
    short = net(tokens[:, : WRONG - 1])
    torch.testing.assert_close(wanted[:, : WRONG - 1], short, rtol=1e-12, atol=1e-12)


def test_siblings_do_not_spoil_one_another() -> None:
    """A letter whose embedding is infinite is a branch of its own."""
    for kind in KINDS.values():
        net = network(kind)
        with torch.no_grad():
            net.position[WRONG, 0] = 0.0
            net.token[1, 0] = torch.inf
        tree = Tree(LETTERS, 2)
        found = net.branch(torch.arange(LETTERS), net.start(2), tree)[0]
        names = [(tree.last[path]).tolist() for path in tree.paths]
        for leaf, word in enumerate(names):
            finite = found[:, tree.paths[leaf, -1]].isfinite().all()
            assert bool(finite) is (1 not in word)
