"""Decoding: an output becomes the next input, as a token or as a vector."""

import torch
from torch import Tensor

from krohn.network.forward_pass import in_full, threads
from krohn.network.transformer import Transformer

BLANK = -1
"""The token where the network is to write, or where it gave no answer."""


@threads(1)
@in_full
def decode(
    network: Transformer,
    texts: Tensor,
    first: int = 0,
    end: int | None = None,
    room: int | None = None,
) -> Tensor:
    """Texts, their blanks filled in by the token of the largest logit, with a cache.

    Each row has its blanks where it likes: prompts need not be of one length.

    Args:
        network: Class c is written as the token ``first + c``.
        texts: ``(batch, length)`` tokens, or `BLANK`; the first is none.
        first: The token of the first class.
        end: The token after which nothing is asked any more.
        room: How many tokens are read at once; then it begins anew with the last one.

    Returns:
        ``(batch, length)``; `BLANK` is left after the end, and from the first place on
        where two logits are the largest, or one is not finite.
    """
    found, cache = [texts[:, 0]], network.start(len(texts))
    going = torch.ones(len(texts), dtype=torch.bool).to(texts.device)
    token = texts[:, 0]
    for at, given in enumerate(texts.T[1:], start=1):
        if room is not None and at % room == 0:
            cache = network.start(len(texts))
        logits, cache = network.step(token, cache)
        top, asked = logits.topk(2, dim=-1).values, given == BLANK
        sure = logits.isfinite().all(dim=-1) & (top[:, 0] > top[:, 1])
        going = going & (sure | ~asked)
        token = torch.where(asked, first + logits.argmax(dim=-1), given)
        found.append(torch.where(asked & ~going, BLANK, token))
        if end is not None:
            going = going & ~(asked & (token == end))
        if not going.any():
            break
    return torch.cat([torch.stack(found, dim=1), texts[:, len(found) :]], dim=1)


@threads(1)
@in_full
def fed_back(network: Transformer, texts: Tensor, dims: range, factor: float) -> Tensor:
    """The outputs of a network after each token, if they are written into the blanks.

    Args:
        network: Its outputs are numbers. A blank is its last token before BOS.
        texts: ``(batch, length)`` tokens, or `BLANK`; the first is none.
        dims: To which dimensions of the embedding of a blank the outputs before it are
            added, as many as there are, the first ones first.
        factor: By what they are multiplied; a power of 2.

    Returns:
        ``(batch, length, outputs)``; at blanks what is said after they were filled in.
    """
    said, cache = list[Tensor](), network.start(len(texts))
    for given in texts.T:
        written = given == BLANK
        added = torch.zeros(
            len(texts), network.token.shape[1], dtype=network.token.dtype
        )
        if said:
            added[:, dims] = factor * said[-1][:, : len(dims)] * written[:, None]
        token = torch.where(written, len(network.token) - 2, given)
        outputs, cache = network.step(token, cache, added)
        said.append(outputs)
    return torch.stack(said, dim=1)
