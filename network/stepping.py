"""Networks of torch that read token by token, and outputs that become inputs."""

from functools import cache, partial

import numpy as np
import torch
from torch import Tensor

from krohn.network.cache import ONE, Tree
from krohn.network.forward_pass import in_full, threads
from krohn.network.reading import AT_ONCE, Array, Begin, IntArray
from krohn.network.recurrent import Stepping
from krohn.network.transformer import Transformer
from krohn.program.word_texts import BLANK


class _Steps:
    """Texts that a network of torch reads (`krohn.network.reading.Reading`)."""

    def __init__(self, network: Transformer | Stepping, batch: int) -> None:
        self.network, self.cache = network, network.start(batch)
        self.device = next(network.parameters()).device

    @threads(1)
    def read(self, tokens: IntArray) -> Array:
        """One more token of every text."""
        with torch.no_grad():
            given = torch.from_numpy(tokens).to(self.device)
            logits, self.cache = self.network.step(given, self.cache)
        return _array(logits)

    @threads(1)
    def read_on(self, words: IntArray) -> Array:
        """More tokens of every text, some of them in one pass."""
        starts = range(0, words.shape[1], AT_ONCE)
        parts = (words[:, at : at + AT_ONCE] for at in starts)
        logits = [self._together(part, _chain(part.shape[1])) for part in parts]
        return (
            np.concatenate(logits, axis=1) if logits else np.empty((len(words), 0, 1))
        )

    def _together(self, words: IntArray, chain: Tree) -> Array:
        with torch.no_grad():
            given = torch.from_numpy(words).to(self.device)
            logits, grow = self.network.branch(given, self.cache, chain)
            self.cache = grow(0, len(words))
        return _array(logits)


def _array(logits: Tensor) -> Array:
    array: Array = logits.double().cpu().numpy()
    return array


@cache
def _chain(size: int) -> Tree:
    """One letter after the other."""
    return ONE if size == 1 else Tree(1, size)


def stepping(network: Transformer | Stepping) -> Begin:
    """The reading of texts by a network of torch."""
    return partial(_Steps, network)


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
    all_outputs, cache = list[Tensor](), network.start(len(texts))
    for given in texts.T:
        written = given == BLANK
        added = network.token.new_zeros(len(texts), network.token.shape[1])
        if all_outputs:
            added[:, dims] = factor * all_outputs[-1][:, : len(dims)] * written[:, None]
        token = torch.where(written, len(network.token) - 2, given)
        outputs, cache = network.step(token, cache, added)
        all_outputs.append(outputs)
    return torch.stack(all_outputs, dim=1)
