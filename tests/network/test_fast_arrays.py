"""The ways in which texts are read faster come to what the definitions say."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from random_networks import random_transformer

from krohn.network.meaning.arrays import Arrays, points, whole
from krohn.network.meaning.attention import SCORES, WEIGH, WRITE, View
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.fast_arrays import FastArrays, pack_network
from krohn.network.meaning.forward import look
from krohn.network.meaning.net import Affine, Block, Heads, Net
from krohn.network.reading import Texts
from krohn.program.attention import HeadKind, Linear, Rectified, Sight, Softmax, Sparse
from krohn.program.domains import FloatArray, IntArray

BATCH, D, K, V, LENGTH = 3, 6, 2, 4, 40
WINDOW = Sparse(block=3, windows=1, last=1)
KINDS = pytest.mark.parametrize("kind", [Softmax(), Linear(), Rectified(), WINDOW])
PARTS = (1, 5, 1, 1, 20, 12)
"""How many positions are read at once; those of the fifth outgrow the room."""
DEFINITION = Arrays()


def numbers(*shape: int) -> FloatArray:
    return np.random.default_rng(sum(shape)).normal(size=shape)


def net_of(kind: HeadKind, divisor: float = 1.0) -> Net[FloatArray]:
    """One block of two heads."""
    sides = numbers(2, D, K), 2 * numbers(2, D, K), numbers(2, D, V), numbers(2, V, D)
    heads = Heads[Any](kind, (Sight.CAUSAL,) * 2, *sides, divisor)  # type: ignore[arg-type]
    first = Affine(numbers(D, 5), numbers(5), (("relu", 5),))
    layers = first, Affine(numbers(5, D), numbers(D))
    block = Block(heads, numbers(D), layers)
    out = Affine(numbers(D, 3), numbers(3))
    return Net(numbers(4, D), numbers(LENGTH + 1, D), (block,), out)


def words(length: int = LENGTH) -> IntArray:
    return np.random.default_rng(0).integers(3, size=(BATCH, length))


def close(found: Any, right: Any) -> None:
    np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-9)


@pytest.mark.sample(1)
@pytest.mark.parametrize("part", range(4))
def test_texts_are_as_the_definition_says(part: int) -> None:
    """In pieces, and letter by letter."""
    for seed in range(10 * part, 10 * part + 10):
        given = random_transformer(seed, ahead=False, longest=150)
        right = whole(given.net, DEFINITION, given.words)
        texts = Texts(pack_network(given.net), len(given.words))
        first = [texts.read(letters) for letters in given.words[:, :10].T]
        close(np.stack(first, axis=1), right[:, :10])
        close(texts.read_on(given.words[:, 10:]), right[:, 10:])


@KINDS
@pytest.mark.parametrize("divisor", [1.0, 4.0])
def test_heads_take_and_remember_what_the_definition_says(
    kind: HeadKind, divisor: float
) -> None:
    net, at = net_of(kind, divisor), 0
    given, o = pack_network(net), FastArrays(net, BATCH)
    heads, fast = net.blocks[0].heads, given.blocks[0].heads
    assert heads is not None
    assert fast is not None
    memory: Any = None
    known: Any = None
    for n in PARTS:
        x, new = numbers(BATCH, n, D), points(words(n), at)
        right, memory = look(DEFINITION, View(DEFINITION, heads, new), x, memory)
        rows = x.reshape(-1, D)
        found, known = look(o, View(o, fast, new), rows, known)
        close(found.reshape(right.shape), right)
        close(rows.reshape(x.shape), x)  # nothing is done to the stream
        at += n


@pytest.mark.parametrize("n", [1, 7])
def test_rows_are_as_the_definition_says(n: int) -> None:
    """Embeddings, sums, affine maps, units, and what heads write."""
    net = net_of(Softmax())
    given, o, tokens = pack_network(net), FastArrays(net, BATCH), words(n)
    x = DEFINITION.gather(net.token, tokens)
    rows = o.gather(given.token, tokens.reshape(-1))
    close(rows.reshape(x.shape), x)
    at = slice(2, 2 + n)
    x = DEFINITION.add(x, DEFINITION.gather(net.position, at))
    rows = o.add(rows, o.gather(given.position, at))
    close(rows.reshape(x.shape), x)
    x = DEFINITION.affine(x, net.blocks[0].layers[0])
    rows = o.affine(rows, given.blocks[0].layers[0])
    close(rows.reshape(x.shape), x)
    close(o.relu(rows).reshape(x.shape), DEFINITION.relu(x))
    taken, heads, fast = (
        numbers(BATCH, 2, n, V),
        net.blocks[0].heads,
        given.blocks[0].heads,
    )
    assert heads is not None
    assert fast is not None
    right = DEFINITION.contract(WRITE, taken, heads.out)
    close(o.contract(WRITE, taken, fast.out).reshape(right.shape), right)
    close(net.token, numbers(4, D))  # nothing is done to the network
    close(net.position, numbers(LENGTH + 1, D))


@KINDS
@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("side", ["key", "value"])
def test_what_is_hidden_is_absent(kind: HeadKind, odd: float, side: str) -> None:
    """Numbers that are not finite change nothing where they are not seen."""
    net, at, n = net_of(kind), 3, 5
    heads = net.blocks[0].heads
    assert heads is not None
    new = points(words(n), at)
    q, k, v = numbers(BATCH, 2, n, K), numbers(BATCH, 2, 8, K), numbers(BATCH, 2, 8, V)
    if isinstance(kind, Linear):
        q, k = DEFINITION.phi(q), DEFINITION.phi(k)
    o = FastArrays(net, BATCH)
    view = View(o, heads, new)
    hidden = ~np.broadcast_to(view.visibility, (n, 8))
    plain = o.attend(heads, q, k.swapaxes(2, 3), v, view)
    for j in (2, 5, 7):
        spoilt = {"key": k.copy(), "value": v.copy()}
        spoilt[side][1, 0, j, 1] = odd
        with np.errstate(all="ignore"):
            keys, values = spoilt["key"].swapaxes(2, 3), spoilt["value"]
            found = o.attend(heads, q, keys, values, view)
        close(found[:, :, hidden[:, j]], plain[:, :, hidden[:, j]])
        if side == "value":
            with np.errstate(all="ignore"):
                right = by_itself(kind, q, k, values, view.visibility)
            close(found, right)


def by_itself(
    kind: HeadKind, q: FloatArray, k: FloatArray, v: FloatArray, shown: Any
) -> FloatArray:
    """Sums of what each point sees alone, point by point."""
    found = np.empty((*q.shape[:3], v.shape[3]))
    for i in range(q.shape[2]):
        seen = np.flatnonzero(shown[i])
        scores = q[:, :, i : i + 1] @ k[:, :, seen].swapaxes(2, 3)
        weights = np.exp(scores) if isinstance(kind, Softmax | Sparse) else scores
        weights = np.maximum(weights, 0)
        taken = (weights[..., None] * v[:, :, None, seen]).sum(axis=3)
        total = 1 if isinstance(kind, Rectified) else weights.sum(axis=3, keepdims=True)
        found[:, :, i] = (taken / total)[:, :, 0]
    return found


@dataclass(frozen=True)
class Even(HeadKind):
    """All that is seen, once: as a test defines it."""

    kind: str = "even"


def test_other_kinds_are_read_by_their_definition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def weigh(o: Engine, heads: Heads[Any], q: Any, k: Any, view: View) -> Any:
        del heads
        return o.keep_seen(1 + 0 * o.contract(SCORES, q, k), view.visibility), None

    monkeypatch.setitem(WEIGH, Even, weigh)
    net = net_of(Even())
    right = whole(net, DEFINITION, words())
    texts = Texts(pack_network(net), BATCH)
    close(texts.read_on(words()), right)
    letters = Texts(pack_network(net), BATCH)
    close(np.stack([letters.read(w) for w in words().T], axis=1), right)


def test_masks_of_ones_are_left_out() -> None:
    net = net_of(Softmax())
    (block,) = net.blocks
    ones = replace(net, blocks=(replace(block, mask=np.ones(D)),))
    assert pack_network(ones).blocks[0].mask is None
    assert pack_network(net).blocks[0].mask is not None
    close(
        Texts(pack_network(ones), BATCH).read_on(words()),
        whole(ones, DEFINITION, words()),
    )


def of_positions(kind: HeadKind) -> Net[FloatArray]:
    """Two blocks whose queries and keys read dimensions of positions; then one of all."""
    net = net_of(kind)
    (block,), token = net.blocks, net.token.copy()
    assert block.heads is not None
    token[:, :2] = token[0, :2]  # of letters as of BOS
    first = block.heads.each(np.copy)
    first.query[:, 2:], first.key[:, 2:], first.out[..., :2] = 0, 0, 0
    layers = block.layers[0], block.layers[1].each(np.copy)
    layers[1].weight[:, :2] = 0
    one = replace(block, heads=first, layers=layers)
    return replace(net, token=token, blocks=(one, one, block))


def alike(packed: Net[FloatArray]) -> list[bool]:
    """Whether the heads of each block score positions alone."""
    return [bool(getattr(block.heads, "alike", False)) for block in packed.blocks]


@KINDS
def test_scores_of_positions_are_made_once_for_all_texts(kind: HeadKind) -> None:
    net = of_positions(kind)
    packed = pack_network(net)
    assert alike(packed) == [True, True, False]
    right, texts = whole(net, DEFINITION, words()), Texts(packed, BATCH)
    first = [texts.read(letters) for letters in words()[:, :5].T]
    close(np.stack(first, axis=1), right[:, :5])
    close(texts.read_on(words()[:, 5:]), right[:, 5:])
    assert [len(room.keys) for room in texts.memory] == [1, 1, BATCH]
    written = net.blocks[0].heads
    assert written is not None
    written.out[0, 0, 1] = 1  # the first block writes what the second one reads
    assert alike(pack_network(net)) == [True, False, False]


def test_of_numbers_that_are_not_finite_every_text_has_its_own_scores() -> None:
    """0 · ∞ is no number."""
    net, o = of_positions(Softmax()), FastArrays(of_positions(Softmax()), BATCH)
    heads, fast = net.blocks[0].heads, pack_network(net).blocks[0].heads
    assert heads is not None
    assert fast is not None
    memory: Any = None
    known: Any = None
    for at, odd in enumerate([0.0, np.inf, 0.0]):
        x, new = numbers(BATCH, 1, D), points(words(1), at)
        x[..., :2], x[1, 0, 3] = x[:1, :, :2], x[1, 0, 3] + odd
        with np.errstate(all="ignore"):
            right, memory = look(DEFINITION, View(DEFINITION, heads, new), x, memory)
            found, known = look(o, View(o, fast, new), x.reshape(-1, D), known)
        close(found.reshape(right.shape), right)
