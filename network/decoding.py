"""Greedy decoding: an output becomes the next input."""

import torch
from torch import Tensor

from network.transformer import Transformer

NO_ANSWER = -1


def decode(network: Transformer, prompts: Tensor, count: int) -> Tensor:
    """Texts continued by the token of the largest logit, with a cache.

    Args:
        network: Its classes are its letters.
        prompts: ``(batch, prompt)`` tokens, at least one each.
        count: How many tokens to add.

    Returns:
        ``(batch, prompt + count)``; `NO_ANSWER` from the first place on where two logits
        are the largest, or one is not finite.
    """
    cache = network.start(len(prompts))
    logits = prompts.new_zeros(0)
    for token in prompts.T:
        logits, cache = network.step(token, cache)
    text, going = [prompts], torch.ones(len(prompts), dtype=torch.bool).to(prompts)
    for i in range(count):
        top = logits.topk(2, dim=-1).values
        sure = logits.isfinite().all(dim=-1) & (top[:, 0] > top[:, 1])
        going = going * sure
        token = logits.argmax(dim=-1)
        text.append(torch.where(going > 0, token, NO_ANSWER)[:, None])
        if i + 1 < count:
            logits, cache = network.step(token, cache)
    return torch.cat(text, dim=1)
