"""The border to Hugging Face's Transformers, which nothing else imports."""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from krohn.algebra.errors import KrohnError
from krohn.compare.models.architecture import EfficientGpt, Gpt
from krohn.network.attention_kind import Sparse
from krohn.network.mixing import phi
from krohn.program.user_input import install

GELU = "gelu_pytorch_tanh"
"""GPT-2's approximation of GELU by tanh, as one kernel."""
OWN = "krohn-"
"""How attention is called that is not the library's."""
THETA = 10_000.0
"""The base of rotary frequencies (Su et al.)."""


def gpt2(architecture: Gpt, letters: int, rows: int) -> Any:
    """A `GPT2Model` with fresh weights and a learned table of so many positions.

    Raises:
        KrohnError: If the library is not installed.
    """
    try:
        from transformers import AttentionInterface, GPT2Config, GPT2Model
    except ImportError as error:
        raise _missing() from error
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

    Raises:
        KrohnError: If the library is not installed.
    """
    try:
        from transformers import GPTNeoXConfig, GPTNeoXModel
    except ImportError as error:
        raise _missing() from error
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


def _missing() -> KrohnError:
    return KrohnError(
        "networks like GPT-2 need Hugging Face's Transformers; install it with "
        f"{install('compare')}"
    )


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
        found = (phi(query) @ phi(key).transpose(-1, -2)).masked_fill(j > i, 0.0)
        return found / found.sum(dim=-1, keepdim=True)
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    seen: Tensor = Sparse(architecture.block, 1, 1).sees(i, j)
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
