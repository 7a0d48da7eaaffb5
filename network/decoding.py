"""Greedy decoding: an output becomes the next input."""

import torch
from torch import Tensor

from network.transformer import Transformer

BLANK = -1
"""What stands in a text where the network is to write, or gave no answer."""


def decode(network: Transformer, texts: Tensor, first: int = 0) -> Tensor:
    """Texts, their blanks filled in by the token of the largest logit, with a cache.

    Args:
        network: Class c is written as the token ``first + c``.
        texts: ``(batch, length)`` tokens, or `BLANK`; the first is none.
        first: The token of the first class.

    Returns:
        ``(batch, length)``; `BLANK` is left from the first place on where two logits are
        the largest, or one is not finite.
    """
    found, cache = [texts[:, 0]], network.start(len(texts))
    going = torch.ones(len(texts), dtype=torch.bool).to(texts.device)
    token = texts[:, 0]
    for given in texts.T[1:]:
        logits, cache = network.step(token, cache)
        top, asked = logits.topk(2, dim=-1).values, given == BLANK
        sure = logits.isfinite().all(dim=-1) & (top[:, 0] > top[:, 1])
        going = going & (sure | ~asked)
        token = torch.where(asked, first + logits.argmax(dim=-1), given)
        found.append(torch.where(asked & ~going, BLANK, token))
    return torch.stack(found, dim=1)
