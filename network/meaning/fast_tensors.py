"""The engine of torch for whole words that nobody watches: `Tensors`, made faster."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import functional as F

from krohn.network.meaning.attention import WRITE, Points, View
from krohn.network.meaning.forward import read_out, through
from krohn.network.meaning.net import Affine, Heads, Net
from krohn.network.meaning.tensors import (
    CAREFUL,
    FAST,
    Tensors,
    is_traced,
    known_finite,
    points,
    with_bos,
)
from krohn.program.attention import Sight, Softmax


class Copy(NamedTuple):
    """The softmax heads of a block, each of which copies what one position holds.

    Attributes:
        query: The queries of which this is known.
        key: The keys.
        features: The dimensions of the stream that they read.
        embedded: ``(n, features)``: what stands there, whatever the word is.
        rows: ``(n · heads,)``: from which row of ``(n · heads, v)`` values each copies.
        largest: The largest value that is lost where it is not copied.
    """

    query: Tensor
    key: Tensor
    features: slice
    embedded: Tensor
    rows: Tensor
    largest: float

    def holds(self, heads: Heads[Tensor], x: Tensor) -> bool:
        """Whether heads on a stream ``(batch, n, d)`` are those of which this is known."""
        start, width = self.features.start, self.embedded.shape[1]
        read = x.narrow(2, start, width)
        return (
            type(heads.kind) is Softmax
            and heads.sights.count(Sight.CAUSAL) == len(heads.sights)
            and heads.divisor == 1
            and heads.query.dtype == self.query.dtype
            and torch.equal(heads.query, self.query)
            and torch.equal(heads.key, self.key)
            and torch.equal(read, self.embedded.expand_as(read))
        )

    def carries(self, values: Tensor) -> bool:
        """Whether what is not copied of values ``(batch · n, heads · v)`` is lost."""
        if not values.numel():
            return True
        low, high = values.aminmax()  # no numbers where a value is none
        return -self.largest <= low.item() and high.item() <= self.largest


class FastTensors(Tensors):
    """Whole words by fewer operations of torch, each on more numbers.

    The stream is ``(batch · n, d)``. What is done otherwise than by `Tensors` are
    assumptions, each with a test: one product makes queries, keys and values, of one width
    where a fused kernel wants it; sums and ReLUs are stored in place; heads that copy by
    position gather.

    Args:
        batch: How many words there are.
        count: How many positions each has, BOS included.
        copies: For each block with heads what is known of its copies, if anything.
    """

    def __init__(self, batch: int, count: int, copies: Iterable[Copy | None]) -> None:
        super().__init__()
        self.batch, self.count, self.copies = batch, count, iter(copies)
        self.copy: Copy | None = None

    def embed(self, net: Net[Tensor], points: Points) -> Tensor:
        """Rows of both tables."""
        token = torch.embedding(net.token, points.tokens)
        return (token + net.position.narrow(0, 0, self.count)).flatten(0, 1)

    def words(self, x: Tensor) -> Tensor:
        """Rows as ``(batch, n, …)``."""
        return x.view(self.batch, self.count, x.shape[1])

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """In place: nobody else needs what is added to the stream."""
        return y.add_(x)

    def affine(self, x: Tensor, layer: Affine[Tensor]) -> Tensor:
        """The bias added in place, to a product that is there."""
        return torch.mm(x, layer.weight).add_(layer.bias)

    def relu(self, x: Tensor) -> Tensor:
        """In place."""
        return torch.relu_(x)

    def project(self, heads: Heads[Tensor], x: Tensor) -> Sequence[Any]:
        """By one product; values alone where heads copy by position."""
        count, _, k = heads.query.shape
        v, self.copy = heads.value.shape[2], next(self.copies, None)
        if self.copy is not None:
            if self.copy.holds(heads, self.words(x)):
                values = x @ _side_by_side(heads.value)
                if self.copy.carries(values):
                    return None, None, values
            self.copy = None
        sides, widths = [heads.query, heads.key, heads.value], [k, k, v]
        if k != v and x.is_cpu and type(heads.kind) is Softmax:
            # A fused kernel wants one width.
            widths = [max(k, v)] * 3
            sides = [F.pad(side, (0, widths[0] - side.shape[2])) for side in sides]
        made = x @ _side_by_side(torch.cat(sides, dim=2))
        made = made.view(self.batch, self.count, count, sum(widths)).transpose(1, 2)
        return made.split_with_sizes(widths, dim=3)

    def remember(
        self, heads: Heads[Tensor], before: Any, key: Any, value: Any
    ) -> tuple[Any, Any, Any]:
        """Nothing: the words are whole."""
        return key, value, None

    def attend(
        self, heads: Heads[Tensor], query: Any, key: Any, value: Tensor, view: View
    ) -> Tensor:
        """By a gather where heads copy by position, else by a kernel of whole words."""
        count, _, v = heads.value.shape
        if self.copy is not None:
            values = value.view(self.batch, self.count * count, v)
            return values.index_select(1, self.copy.rows).view(len(value), count * v)
        taken = super().attend(heads, query, key, value, view)
        if taken.shape[3] > v:
            taken = taken.narrow(3, 0, v)
        rows = self.batch * self.count
        return taken.transpose(1, 2).reshape(rows, count * v)

    def contract(self, axes: str, x: Tensor, y: Tensor) -> Tensor:
        """What heads write, by one product of rows."""
        if axes != WRITE:
            return super().contract(axes, x, y)
        return x @ y.flatten(0, 1)


def _side_by_side(matrices: Tensor) -> Tensor:
    """``(h, d, k)`` as one matrix ``(d, h · k)``."""
    heads, d, k = matrices.shape
    return (matrices if heads == 1 else matrices.transpose(0, 1)).reshape(d, heads * k)


def whole(
    net: Net[Tensor],
    words: Tensor,
    copies: Callable[[Tensor], Iterable[Copy | None]] = lambda _: (),
) -> Tensor:
    """Logits ``(batch, time, classes)`` of words ``(batch, time)``, read at once.

    With care if they are not finite else, or a graph is made of the pass; gradients are
    those of `Tensors`.

    Args:
        net: The network.
        words: The words.
        copies: Says of words ``(batch, n)``, BOS included, for each block with heads what
            is known of its copies, if anything.
    """
    given = points(with_bos(net, words))
    if not is_traced():
        logits = _run_plainly(net, given) if _has_gradients(net) else None
        if logits is None:
            batch, count = given.tokens.shape
            o = FastTensors(batch, count, copies(given.tokens))
            x = o.words(through(net, o, given)[0]).narrow(1, 1, count - 1)
            logits = read_out(net, o, x.flatten(0, 1))
            logits = logits.view(batch, count - 1, logits.shape[1])
        if known_finite(logits):
            return logits
    return _run_plainly(net, given, CAREFUL)


def _run_plainly(net: Net[Tensor], given: Points, o: Tensors = FAST) -> Tensor:
    return torch.as_tensor(read_out(net, o, through(net, o, given)[0][:, 1:]))


def _has_gradients(net: Net[Tensor]) -> bool:
    """Whether gradients of some tensor are asked for, backwards or forwards."""
    if forward_ad._current_level >= 0:
        return True
    return torch.is_grad_enabled() and any(t.requires_grad for t in net_tensors(net))


def net_tensors(net: Net[Tensor]) -> Iterator[Tensor]:
    """All tensors that a network is made of."""
    yield from (net.token, net.position, net.out.weight, net.out.bias)
    for block in net.blocks:
        if (heads := block.heads) is not None:
            yield from (heads.query, heads.key, heads.value, heads.out)
        if block.mask is not None:
            yield block.mask
        for layer in block.layers:
            yield from (layer.weight, layer.bias)
