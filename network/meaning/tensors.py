"""The engine of torch: its operations, and kernels that take their place.

Where numbers are not finite, kernels that give hidden points the weight 0 are wrong:
0 · ∞ is no number. So a pass is made once by these kernels, and once more with care if a
logit is not finite (`whole`): what a hook, or a graph that is being traced, sees only once
is made with care at once.
"""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from krohn.network.meaning.attention import (
    PROJECT,
    SCORES,
    Points,
    View,
    attend,
    pattern,
)
from krohn.network.meaning.engine import Engine, operation
from krohn.network.meaning.net import Heads, Net
from krohn.program.attention import Linear, Softmax, Sparse

Both = tuple[Tensor, Tensor]
"""Keys and values."""


class Tensors(Engine):
    """Tensors of torch, in the format that they have.

    Args:
        careful: Whether numbers that are not finite spoil those alone who see them.
    """

    who = "Krohn's runtime"
    relu, sine, gelu = (operation(f) for f in (torch.relu, torch.sin, F.gelu))
    sigmoid, tanh = operation(torch.sigmoid), operation(torch.tanh)

    def __init__(self, careful: bool = False) -> None:
        self.careful = careful

    def gather(self, table: Tensor, index: Any) -> Tensor:
        """Rows of a table."""
        return table[index]

    def contract(self, axes: str, x: Tensor, y: Tensor) -> Tensor:
        """A sum of products."""
        if axes == SCORES:
            return x @ y.transpose(-1, -2)
        if torch.is_grad_enabled() and (x.requires_grad or y.requires_grad):
            return torch.einsum(axes, x, y)  # gradients are added up in its order
        # What torch.einsum makes of the axes, without the reading of a text.
        if axes == PROJECT:
            (words, count, d), (heads, _, k) = x.shape, y.shape
            rows = x.reshape(1, words * count, d)
            if heads == 1 < k:
                return torch.bmm(rows, y).view(words, 1, count, k)
            matrix = y.transpose(0, 1).reshape(1, d, heads * k)
            made = torch.bmm(rows, matrix)
            if k == 1:  # with the strides of einsum: kernels are chosen by these
                strides = count * heads, 1, heads, heads
                return made.as_strided((words, heads, count, 1), strides)
            return made.view(words, count, heads, k).permute(0, 2, 1, 3)
        words, heads, count, v = x.shape
        rows = x.transpose(1, 2).reshape(1, words * count, heads * v)
        d = y.shape[2]
        made = torch.bmm(rows, y.reshape(1, heads * v, d))
        return made.view(words, count, d)

    def combine(self, weights: Tensor, values: Tensor, seen: Tensor) -> Tensor:
        """With care, values that are not finite spoil what sees them."""
        if not self.careful or known_finite(values):
            return weights @ values
        return mix_with_care(lambda v: weights @ v, values, not_finite(values), seen)

    def keep_seen(self, x: Tensor, seen: Tensor) -> Tensor:
        """``x`` where it is seen, and 0 elsewhere."""
        return x.masked_fill(~seen, 0.0)

    def softmax(self, scores: Tensor, seen: Tensor) -> Tensor:
        """By torch's own; nothing is masked where all is known to be seen."""
        if is_traced() or not seen.is_cpu or not seen.all():
            scores = scores.masked_fill(~seen, -torch.inf)
        return scores.softmax(dim=-1)

    def total(self, x: Tensor) -> Tensor:
        """The sum over j."""
        return x.sum(dim=-1, keepdim=True)

    def phi(self, x: Tensor) -> Tensor:
        """elu(x) + 1."""
        return F.elu(x) + 1

    def split(self, x: Tensor, sizes: Sequence[int]) -> Sequence[Tensor]:
        """Parts of the last axis."""
        return torch.split(x, list(sizes), dim=-1)

    def parts(self, x: Tensor, count: int) -> Sequence[Tensor]:
        """Equal parts of the last axis."""
        return torch.chunk(x, count, dim=-1)

    def join(self, parts: Sequence[Tensor]) -> Tensor:
        """Parts of a last axis, put together."""
        return torch.cat(list(parts), dim=-1)

    def append(self, before: Tensor, new: Tensor) -> Tensor:
        """Keys or values, and more of them."""
        batch = max(len(before), len(new))
        both = (x.expand(batch, -1, -1, -1) for x in (before, new))
        return torch.cat(list(both), dim=2)

    def flags(self, bits: Sequence[bool], like: Any) -> Tensor:
        """``(h, 1, 1)``: truth values, where such positions are."""
        return torch.tensor(list(bits), device=like.device)[:, None, None]

    def stack(self, parts: Sequence[Tensor]) -> Tensor:
        """``(batch, n, …)`` of n times ``(batch, …)``."""
        return torch.stack(list(parts), dim=1)

    def one_hot(self, index: Tensor, count: int, like: Tensor) -> Tensor:
        """By torch's own."""
        units: Tensor = F.one_hot(index, count)
        return units.to(like.dtype)

    def roll(self, x: Tensor, by: int) -> Tensor:
        """The last axis turned."""
        return x.roll(by, -1)

    def spread(self, x: Tensor, like: Tensor) -> Tensor:
        """``x`` for each word of ``like``."""
        return x.expand(like.shape[0], *x.shape)

    def layer_norm(self, x: Tensor, constant: Tensor) -> Tensor:
        """LN_C, at least in float32."""
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        centred = wide - wide.mean(dim=-1, keepdim=True)
        length = torch.linalg.vector_norm(centred, dim=-1, keepdim=True)
        return (centred / torch.maximum(length, constant.to(wide.dtype))).to(x.dtype)

    # Kernels of whole words, each held against the definition by a test.

    def attend(
        self,
        heads: Heads[Tensor],
        query: Tensor,
        key: Tensor,
        value: Tensor,
        view: View,
    ) -> Tensor:
        """``(b, h, i, v)``: by a kernel of whole words where there is one."""
        kernel = KERNELS.get(type(heads.kind))
        if kernel is None or view.points.remembered:
            return super().attend(heads, query, key, value, view)
        finite = known_finite(key) if self.careful else True
        if finite and (not self.careful or known_finite(value)):
            return kernel(self, query, key, value, view)
        if finite is False:
            return super().attend(heads, query, key, value, view)
        wrong = not_finite(value) | not_finite(key)
        key = key.masked_fill(wrong[..., None], 0.0)
        return mix_with_care(
            lambda v: kernel(self, query, key, v, view), value, wrong, view.visibility
        )

    def remember(
        self, heads: Heads[Tensor], before: Any, key: Tensor, value: Tensor
    ) -> tuple[Tensor, Tensor, Both]:
        """Keys and values; linear heads need no more than sums of them later.

        These are Σ φ(k_j) v_jᵀ, row by row, and Σ φ(k_j): ``(batch, heads, 1, k·v)`` and
        ``(batch, heads, 1, k)`` (Katharopoulos et al. 2020).
        """
        if type(heads.kind) is not Linear:
            return super().remember(heads, before, key, value)
        features = self.phi(key)
        mixed = (features.transpose(-1, -2) @ value).flatten(2)[:, :, None]
        return key, value, (mixed, features.sum(dim=2, keepdim=True))


def not_finite(x: Tensor) -> Tensor:
    """``(b, h, j)``: points with numbers that are not finite."""
    return ~x.isfinite().all(dim=-1)


def is_traced() -> bool:
    """Whether a graph is made of the pass, in which no number is known yet.

    Nor is one in transformed functions, as of `torch.vmap`.
    """
    transforms: Any = torch._C._functorch
    if torch.compiler.is_compiling() or transforms.maybe_current_level() is not None:
        return True
    cuda: Any = torch.cuda
    if cuda.is_initialized() and cuda.is_current_stream_capturing():
        return True
    jit: Any = torch.jit
    return jit.is_tracing()


def known_finite(x: Tensor) -> bool | None:
    """Whether all numbers are finite, or not surely; None before a graph runs."""
    if is_traced():
        return None
    dtype = x.dtype if x.dtype.itemsize >= 4 else torch.float32
    try:
        # One pass over the numbers. What adds up to infinity only costs time.
        return isfinite(x.sum(dtype=dtype).item())
    except RuntimeError:  # on a device that has no numbers
        return None


def mix_with_care(
    mix: Callable[[Tensor], Tensor], values: Tensor, wrong: Tensor, seen: Tensor
) -> Tensor:
    """A mixture of values, no number where it is of wrong ones ``(b, h, j)``, too."""
    mixed = mix(values.masked_fill(wrong[..., None], 0.0))
    spoilt = (seen & wrong[..., None, :]).any(dim=-1, keepdim=True)
    return mixed.masked_fill(spoilt, torch.nan)


Kernel = Callable[[Tensors, Tensor, Tensor, Tensor, View], Tensor]


def _softmax(
    o: Tensors, query: Tensor, key: Tensor, value: Tensor, view: View
) -> Tensor:
    """By a fused kernel, but of float32 on a GPU, and where scores may overflow on a CPU.

    There it would multiply parts of 11 digits and drop the least product: of 2049² the
    last digit (A1 of docs/soundness.md). And here it gives 0 where a score is no number.
    """
    if query.is_cuda and query.dtype == torch.float32:
        return pattern(o, view.heads, query, key, view) @ value
    if query.is_cpu and not (is_traced() or _have_finite_scores(query, key)):
        return attend(o, view.heads, query, key, value, view)
    seen = None if view.backward else view.visibility
    return F.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=seen,
        is_causal=seen is None,
        scale=1 / view.heads.divisor,
    )


def _have_finite_scores(query: Tensor, key: Tensor) -> bool:
    """Whether no product of a query and a key overflows, or not surely."""
    wide = torch.promote_types(query.dtype, torch.float32)
    both = [torch.linalg.vector_norm(x, dtype=wide).item() for x in (query, key)]
    return both[0] * both[1] < torch.finfo(wide).max / 4


def _sparse(
    o: Tensors, query: Tensor, key: Tensor, value: Tensor, view: View
) -> Tensor:
    """Block by block: a block of rows beside its window, and what is seen from far away.

    The scores are as many as the sparse mask leaves, up to a factor of (k + 1)/k.
    """
    kind = view.heads.kind
    assert isinstance(kind, Sparse)
    count, size, window = query.shape[2], kind.block, kind.window
    over = -count % size
    t = torch.arange(count + over, device=query.device).reshape(-1, size, 1)
    ends = torch.arange(count, device=query.device)
    ends = ends[view.sees(ends[-1] + window, ends)]
    near = t[:, :1] - window + torch.arange(window + size, device=query.device)
    scores: list[Tensor] = []
    values: list[Tensor] = []
    rows = F.pad(query, (0, 0, 0, over)).reshape(
        *query.shape[:2], len(t), size, query.shape[3]
    )
    for part, known in ((key, scores), (value, values)):
        wide = F.pad(part, (0, 0, window, over)).unfold(2, window + size, size)
        far = part[:, :, ends][:, :, None].transpose(-1, -2)
        known += [wide, far.expand(*wide.shape[:3], -1, -1)]
    products = rows @ torch.cat(scores, dim=-1)
    if view.heads.divisor != 1:
        products = products / view.heads.divisor
    # What is seen is looked at once: in the window, or at the ends before it.
    seen = [
        view.sees(t, near) & (near >= 0) & (t - near < window),
        view.sees(t, ends) & (t - ends >= window),
    ]
    hidden = ~torch.cat([each.expand(-1, size, -1) for each in seen], dim=-1)
    weights = products.masked_fill(hidden, -torch.inf).softmax(dim=-1)
    mixed = weights @ torch.cat(values, dim=-1).transpose(-1, -2)
    return mixed.flatten(2, 3)[:, :, :count]


KERNELS: dict[type[Any], Kernel] = {Softmax: _softmax, Sparse: _sparse}
"""Kernels of whole words, by the kind of attention."""
FAST, CAREFUL = Tensors(), Tensors(careful=True)


# Whole words.


def points(tokens: Tensor, path: Callable[[], Tensor] | None = None) -> Points:
    """``(batch, n)`` tokens from position 0 on."""
    count, device = tokens.shape[1], tokens.device

    def places() -> tuple[Tensor, Tensor]:
        t = torch.arange(count, device=device)
        return t[:, None], t

    return Points(tokens, slice(count), places, single=count == 1, path=path)


def with_bos(net: Net[Tensor], words: Tensor) -> Tensor:
    """``(batch, time)`` letters to ``(batch, time + 1)`` tokens: BOS in front."""
    return torch.constant_pad_nd(words, (1, 0), net.token.shape[0] - 1)


def with_care(run: Callable[[Tensors], Tensor]) -> Tensor:
    """What a pass gives by an engine: with care, if it is not finite without."""
    if not is_traced():
        result = run(FAST)
        if known_finite(result):
            return result
    return run(CAREFUL)
