"""Texts in blocks, with the states that are written in them."""

import numpy as np

from krohn.kinds.blocks.statement import (
    Blocks,
    passes,
)
from krohn.program.domains import IntArray
from krohn.program.word_texts import BLANK


def blanks(words: IntArray, block: int) -> IntArray:
    """The texts ``(batch, T + ⌈T/b⌉)`` of words ``(batch, T)``, blank where is written."""
    batch, letters = words.shape
    text = np.full((batch, letters + passes(letters, block)), BLANK)
    at = np.arange(letters)
    text[:, at + at // block] = words
    return text


def states_after(source: Blocks, texts: IntArray) -> IntArray:
    """The state after each token, from the start state on: ``(batch, N)``."""
    state, states = np.full(len(texts), source.start), np.empty_like(texts)
    for t, tokens in enumerate(texts.T):
        blank = tokens == BLANK
        state = np.where(blank, state, source.resets[tokens, state])
        states[:, t] = state
    return states


def completed_texts(source: Blocks, words: IntArray) -> IntArray:
    """The whole texts of words: the right state is filled in at every blank."""
    texts = blanks(words, source.block)
    states = states_after(source, texts)
    return np.where(texts == BLANK, len(source.letters) + states, texts)
