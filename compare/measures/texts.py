"""How often networks write the right text, and the right answer, by greedy decoding."""

from dataclasses import dataclass

import numpy as np
import torch

from krohn.algebra.semiautomaton import IntArray
from krohn.compare.models.network import Network
from krohn.compare.tasks.texts import TextTask

BLANK = -1
"""Where the network is to write."""


@dataclass(frozen=True)
class TextScores:
    """How many of some prompts a network continued rightly.

    Attributes:
        prompts: How many there were.
        texts: How many were continued rightly, token for token.
        answers: After how many the last token before the end was right, the measure of
            Yang et al. (2024). A wrong step may be followed by the right answer.
    """

    prompts: int
    texts: int
    answers: int


def greedy(network: Network, texts: IntArray) -> IntArray:
    """Texts ``(count, length)``, each `BLANK` filled in by the token of the largest logit.

    Blanks stand at the end. The first token is none.
    """
    found, memory = torch.tensor(texts), None
    device = next(network.parameters()).device
    read = texts.shape[1] - int((texts == BLANK).sum(axis=1).max())
    begin = 0
    with torch.no_grad():
        for t in range(read, texts.shape[1]):
            part = found[:, begin:t].to(device)
            logits, memory = network.further(part, memory)
            said, begin = logits[:, -1].argmax(dim=-1).cpu(), t
            found[:, t] = torch.where(found[:, t] == BLANK, said, found[:, t])
    return found.numpy()


def text_scores(
    network: Network, task: TextTask, rng: np.random.Generator, count: int
) -> TextScores:
    """How many of so many fresh prompts are continued rightly."""
    texts = task.texts.draw(rng, count)
    asked = task.in_continuation(texts)
    # After the right end nothing counts, but an end that comes late is none.
    blank = np.cumsum(asked, axis=1) > 0
    said = greedy(network, np.where(blank, BLANK, texts))
    right = ((said == texts) | ~asked).all(axis=1)
    answers = task.answers(said) == task.answers(texts)
    return TextScores(count, int(right.sum()), int(answers.sum()))
