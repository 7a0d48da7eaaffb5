"""How far the law of the next letter of a cut grammar is from that of the whole one."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.sources.grammars.grammar import Grammar
from krohn.sources.grammars.words import Words, floats
from krohn.sources.hidden_markov.model import HiddenMarkovModel

MOST_WORDS = 50_000
SMALL = 1e-14
"""A prefix that is less likely comes of rounding alone: no sentence begins so."""


class Row(NamedTuple):
    """Prefixes of one length of a sentence.

    Attributes:
        length: How many letters.
        prefixes: How many there are.
        reached: How likely a sentence of the grammar has so many letters or more.
        beyond: Of these, the part that begins as no sentence within the depth does.
        variation: The mean total variation between the two laws of the next letter, over
            prefixes of the grammar; 1 for those that the cut never says.
        divergence: What letters of this length add to D(cut ‖ grammar), in nats: the mean
            over prefixes of the cut.
    """

    length: int
    prefixes: int
    reached: float
    beyond: float
    variation: float
    divergence: float


@dataclass(frozen=True)
class _Level:
    """All prefixes of one length, ``(prefixes, length)``, and how likely they are."""

    words: IntArray
    own: FloatArray
    cut: FloatArray


def compared(grammar: Grammar, model: HiddenMarkovModel, length: int) -> list[Row]:
    """The two laws after all prefixes of up to some length.

    Args:
        grammar: The whole grammar.
        model: The same, `cut`.
        length: The longest prefixes.

    Raises:
        Refused: If there are too many prefixes.
    """
    asked, rows = Words(grammar), list[Row]()
    level = _Level(np.zeros((1, 0), np.int64), np.ones(1), np.ones(1))
    for at in range(length + 1):
        own = floats(asked.following(level.words))
        cut = _following(model, level.words)
        law = own / own.sum(axis=1, keepdims=True)
        said = cut.sum(axis=1) > 0
        apart = np.where(said, np.abs(law - cut).sum(axis=1) / 2, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(cut > 0, cut * np.log(cut / law), 0.0).sum(axis=1)
        reached = float(level.own.sum())
        beyond = float(level.own[~said].sum())
        rows.append(
            Row(
                at,
                len(level.words),
                reached,
                beyond / reached,
                float(level.own @ apart) / reached,
                float(level.cut @ gain),
            )
        )
        level = _longer(level, own, cut)
        if not len(level.words):
            break
        demand(
            len(level.words) <= MOST_WORDS or at == length,
            f"there are more than {MOST_WORDS:,} prefixes of {at + 1} letters; ask for "
            f"{at} letters",
        )
    return rows


def _following(model: HiddenMarkovModel, words: IntArray) -> FloatArray:
    """``(words, letters)``: the law of the next letter; 0 after what it never says."""
    if not words.shape[1]:
        return np.tile(model.predict(model.start), (len(words), 1))
    beliefs = model.filter(words)[0][:, -1]
    return np.nan_to_num(model.predict(beliefs))


def _longer(level: _Level, own: FloatArray, cut: FloatArray) -> _Level:
    """All prefixes with one more letter."""
    row, letter = np.nonzero(own[:, :-1] > SMALL)
    words = np.hstack([level.words[row], letter[:, None]])
    return _Level(words, own[row, letter], level.cut[row] * cut[row, letter])
