"""GPT-2 as a network that answers after every letter, and its ways to know positions."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models.architecture import (
    EfficientGpt,
    Gpt,
    Specification,
)
from krohn.instruments.compare.models.network import (
    Inside,
    Network,
    recording,
)
from krohn.network.meaning.tensors import FAST
from krohn.program.attention import Linear, Sparse

BASE = 10_000.0
"""The longest wave of sinusoidal positions is 2π·10000 letters (Vaswani et al.)."""
SPREAD = 0.02
"""The standard deviation of GPT-2's weights at the start."""


def sinusoidal(count: int, width: int) -> Tensor:
    """``(count, width)``: sines in even columns, cosines in odd ones (Vaswani et al.).

    Column pair k turns by 10000^(−2k/width) at each position.
    """
    pairs = torch.arange(0, width, 2, dtype=torch.float64)
    turns = torch.arange(count, dtype=torch.float64)[:, None] * BASE ** (-pairs / width)
    both = torch.stack([turns.sin(), turns.cos()], dim=-1)
    return both.flatten(1)[:, :width].float()


def linear(count: int, width: int) -> Tensor:
    """``(count, width)``: position i is i/count along (1, −1, 1, −1, …).

    Proportional to i as in the thesis, section 3.4.5.2.4. The direction has mean zero,
    so that layer norm does not take it away.
    """
    share = torch.arange(count, dtype=torch.float64) / count
    signs = 1 - 2 * (torch.arange(width) % 2)
    return (share[:, None] * signs).float()


class Table(nn.Module):
    """Positions ``(…)`` to rows of a fixed table ``(…, width)``."""

    rows: Tensor

    def __init__(self, rows: Tensor) -> None:
        super().__init__()
        self.register_buffer("rows", rows, persistent=False)

    def forward(self, positions: Tensor) -> Tensor:
        """The rows of positions."""
        return self.rows[positions]


class NoPositions(nn.Module):
    """Positions ``(…)`` to zeros ``(…, 1)``, which add nothing to any width."""

    def forward(self, positions: Tensor) -> Tensor:
        """As many zeros as there are positions."""
        return torch.zeros((*positions.shape, 1), device=positions.device)


def slopes(heads: int) -> Tensor:
    """``(heads,)``: how much each head pays for a letter of distance (ALiBi).

    Press et al.: 2^(−8i/n) for i = 1..n if the number n of heads is a power of two;
    else those of the power of two below, and then every other one of the next.
    """
    whole = 2 ** int(math.log2(heads))
    first = [2.0 ** (-8 * i / whole) for i in range(1, whole + 1)]
    rest = [2.0 ** (-4 * i / whole) for i in range(1, 2 * whole + 1, 2)]
    return torch.tensor((first + rest)[:heads])


def penalties(heads: int, length: int, device: torch.device) -> Tensor:
    """``(1, heads, length, length)``: what ALiBi adds to scores; −∞ after the query."""
    at = torch.arange(length, device=device)
    distance = at[:, None] - at
    paid = -slopes(heads).to(device)[:, None, None] * distance
    return paid.masked_fill(distance < 0, -torch.inf)[None]


class GptNetwork(Network):
    """Blocks of Hugging Face's GPT-2 (GPT-NeoX for rotary positions) with a read-out.

    Attributes:
        body: The model of the library.
        head: The read-out.
    """

    def __init__(self, specification: Specification, architecture: Gpt) -> None:
        super().__init__(specification)
        self.body = _body(architecture, specification)
        self.head = nn.Linear(architecture.width, specification.classes)
        nn.init.normal_(self.head.weight, std=SPREAD)
        nn.init.zeros_(self.head.bias)
        self.rotary = architecture.positions == "rope"
        self.penalised = architecture.heads * (architecture.positions == "alibi")
        limited = architecture.positions in ("sinusoidal", "linear", "learned")
        self.longest = specification.longest if limited else None

    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        """Logits ``(count, length, classes)``.

        Raises:
            KrohnError: If there are no positions for words so long.
        """
        return self._forward(letters, shift, None, keep=False)[0]

    def further(
        self, letters: Tensor, memory: Any = None, shift: int = 0
    ) -> tuple[Tensor, Any]:
        """Logits for letters that follow others; memory holds keys and values.

        Raises:
            KrohnError: If there are no positions for words so long.
        """
        return self._forward(letters, shift, memory, keep=True)

    def _forward(
        self, letters: Tensor, shift: int, memory: Any, keep: bool
    ) -> tuple[Tensor, Any]:
        known = 0 if memory is None else memory.get_seq_length()
        read = known + letters.shape[1]
        self._check(shift + read)
        places = torch.arange(shift + known, shift + read, device=letters.device)[None]
        mask = None
        if self.penalised:
            mask = penalties(self.penalised, read, letters.device)[:, :, known:]
        stream = self.body(
            letters,
            position_ids=places,
            attention_mask=mask,
            past_key_values=memory,
            use_cache=keep,
        )
        logits: Tensor = self.head(stream.last_hidden_state)
        return logits, stream.past_key_values

    def _check(self, end: int) -> None:
        if self.longest is not None and end > self.longest:
            raise KrohnError(
                f"this network has positions for {self.longest} letters and is asked for "
                f"{end}; build it with a larger longest word"
            )

    def inside(self, letters: Tensor, shift: int = 0) -> Inside:
        """Logits and the states before them; in training, attention weights after dropout.

        Raises:
            KrohnError: If there are no positions for words so long.
        """
        heads = [b.attention if self.rotary else b.attn for b in self._blocks]
        with (
            _explicit(self.body),
            recording(self.layers()) as hidden,
            recording(heads) as attended,
        ):
            logits = self(letters, shift)
        return Inside(logits, tuple(hidden), tuple(weights for _, weights in attended))

    def layers(self) -> tuple[nn.Module, ...]:
        """The dropout after the embedding, and each block."""
        first = self.body.emb_dropout if self.rotary else self.body.drop
        return (first, *self._blocks)

    @property
    def _blocks(self) -> Any:
        return self.body.layers if self.rotary else self.body.h


def _body(architecture: Gpt, specification: Specification) -> Any:
    """The model of the library, with the positions that are asked for."""
    letters, longest = specification.letters, specification.longest
    if architecture.positions == "rope":
        return gpt_neox(architecture, letters)
    if architecture.positions == "learned":
        return gpt2(architecture, letters, longest)
    body = gpt2(architecture, letters, 1)
    tables = {"sinusoidal": sinusoidal, "linear": linear}
    table = tables.get(architecture.positions)
    width = architecture.width
    made = None if table is None else Table(architecture.scale * table(longest, width))
    body.wpe = made or NoPositions()
    return body


@contextmanager
def _explicit(body: Any) -> Iterator[None]:
    """Attention whose weights are formed, instead of the fused kernel."""
    usual = body.config._attn_implementation
    if usual.startswith(OWN):  # these form their weights anyway
        yield
        return
    body.set_attn_implementation("eager")
    try:
        yield
    finally:
        body.set_attn_implementation(usual)


# The border to Hugging Face's Transformers, which nothing else imports.

GELU = "gelu_pytorch_tanh"
"""GPT-2's approximation of GELU by tanh, as one kernel."""
OWN = "krohn-"
"""How attention is called that is not the library's."""
THETA = 10_000.0
"""The base of rotary frequencies (Su et al.)."""


def gpt2(architecture: Gpt, letters: int, rows: int) -> Any:
    """A `GPT2Model` with fresh weights and a learned table of so many positions."""
    from transformers import AttentionInterface, GPT2Config, GPT2Model

    body: Any = GPT2Model(
        GPT2Config(
            vocab_size=letters,
            n_positions=rows,
            n_embd=architecture.width,
            n_layer=architecture.depth,
            n_head=architecture.heads,
            n_inner=architecture.inner,
            activation_function=GELU,
            resid_pdrop=architecture.dropout,
            attn_pdrop=architecture.dropout,
            embd_pdrop=architecture.embedding_dropout,
            bos_token_id=None,
            eos_token_id=None,
            use_cache=False,
        )
    )
    if isinstance(architecture, EfficientGpt):
        # The library passes no mask to attention whose name it does not know.
        heads = f"{OWN}{architecture.attention}-{architecture.block}"
        AttentionInterface.register(heads, partial(_attend, architecture))
        body.set_attn_implementation(heads)
    return body


def _attend(
    architecture: EfficientGpt,
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    _mask: Tensor | None,
    *,
    dropout: float = 0.0,
    **_: Any,
) -> tuple[Tensor, Tensor]:
    """Heads as the library calls them, with their outputs ``(batch, time, heads, v)``."""
    weights = attention_weights(architecture, query, key)
    kept = nn.functional.dropout(weights, p=dropout, training=module.training)
    return (kept @ value).transpose(1, 2), weights


def gpt_neox(architecture: Gpt, letters: int) -> Any:
    """A `GPTNeoXModel` that is GPT-2 but for rotary positions, with fresh weights.

    Residual connections one after the other, all of a head rotates, and the maps into
    the residual stream start smaller by √(2·depth), as in GPT-2.
    """
    from transformers import GPTNeoXConfig, GPTNeoXModel

    rotary = {
        "rope_type": "default",
        "rope_theta": THETA,
        "partial_rotary_factor": 1.0,
    }
    config = GPTNeoXConfig(
        vocab_size=letters,
        hidden_size=architecture.width,
        num_hidden_layers=architecture.depth,
        num_attention_heads=architecture.heads,
        intermediate_size=architecture.inner,
        hidden_act=GELU,
        attention_dropout=architecture.dropout,
        hidden_dropout=architecture.dropout,
        use_parallel_residual=False,
        rope_parameters=rotary,
        bos_token_id=None,
        eos_token_id=None,
        use_cache=False,
    )
    body: Any = GPTNeoXModel(config)
    body.emb_dropout = nn.Dropout(architecture.embedding_dropout)
    for layer in body.layers:
        for writes in (layer.attention.dense, layer.mlp.dense_4h_to_h):
            writes.weight.data /= math.sqrt(2 * architecture.depth)
    return body


def attention_weights(architecture: EfficientGpt, query: Tensor, key: Tensor) -> Tensor:
    """``(batch, heads, queries, keys)``: how much each query takes of each position.

    All pairs are formed: for the short texts of a training run that is quickest.

    Args:
        architecture: Says how positions are weighed.
        query: ``(batch, heads, queries, k)``: of the last positions.
        key: ``(batch, heads, keys, k)``: of all of them.
    """
    count, asked = key.shape[2], query.shape[2]
    j = torch.arange(1, count + 1, device=key.device)
    i = j[count - asked :, None]
    if architecture.attention == "linear":
        products = FAST.phi(query) @ FAST.phi(key).transpose(-1, -2)
        weights: Tensor = FAST.keep_seen(products, Linear().sees(i, j))
        return weights / weights.sum(dim=-1, keepdim=True)
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    seen = Sparse(architecture.block, 1, 1).sees(i, j)
    return torch.as_tensor(FAST.softmax(scores, seen))
