"""The tensors of Proposition 3: right as far as the thesis says, and no further."""

from itertools import product

import numpy as np
import pytest
import torch
from printed_flip_flop import answers, row, stored, wrong

from krohn.algebra.automaton import IntArray
from krohn.algebra.zoo.samplers import READ, VALUES, WRITE

IGNORE = 2


def every(length: int) -> IntArray:
    """All words of the language: a write first, a read last."""
    pairs = [(WRITE, 3), (WRITE, 4), (IGNORE, 3), (IGNORE, 4), (READ, 0)]
    middle = product(pairs, repeat=length // 2 - 2)
    words = [
        np.concatenate([first, *rest, (READ, 0)])
        for first, rest in product(pairs[:2], middle)
    ]
    found = np.array(words)
    reads = np.insert(found == READ, 0, False, axis=1)[:, :-1]
    return np.where(reads, stored(found) + VALUES, found)


def test_all_words_of_fourteen_letters_are_read_right() -> None:
    words = every(14)
    assert len(words) == 2 * 5**5
    read = answers(words, 2.5 * 14, 14, torch.float64)
    assert wrong(words, read) == 0


def test_a_score_that_is_too_small_reads_wrong() -> None:
    """2.39 T is the least that the thresholds of its tables allow."""
    words = every(14)
    assert wrong(words, answers(words, 1.5 * 14, 14, torch.float64)) > 0


def test_reads_and_ignores_are_one_letter_to_it() -> None:
    words = every(10)
    other = np.where(words == READ, IGNORE, words)
    both = (answers(w, 30.0, 10, torch.float64) for w in (words, other))
    assert torch.equal(*both)


@pytest.mark.parametrize(("span", "right"), [(64, False), (128, True)])
def test_it_reads_no_further_back_than_the_constant(span: int, right: bool) -> None:
    """A write of 1, then zeros that are ignored, then a read: 98 positions away."""
    word = np.array([[WRITE, 4, *[IGNORE, 3] * 48, READ, 4]])
    assert (wrong(word, answers(word, 3.0 * span, span, torch.float64)) == 0) == right


def test_bfloat16_blurs_the_printed_scores_and_not_the_proved_ones() -> None:
    found = row("bfloat16", 128)
    assert found["c = 3T"] > 0
    assert found["c = 2T log 8T"] > 0
    assert found["window, proved"] == 0
