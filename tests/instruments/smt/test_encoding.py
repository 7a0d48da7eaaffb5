"""Every run of an ideal network is a model of what the solver is given of it."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import z3
from random_networks import RandomNetwork, random_transformer
from slow_network import slow_logits

from krohn.instruments.smt.encoding import (
    Words,
    encode,
)
from krohn.instruments.smt.gadgets import number
from krohn.network.meaning.attention import places_of
from krohn.network.meaning.rationals import Looking, exact


def of_small_numbers(seed: int) -> RandomNetwork:
    """A network that the solver is about; scores are equal here and there."""
    given = random_transformer(
        seed, kinds=("softmax", "sparse"), units=("relu",), longest=4
    )
    rounded = {name: np.rint(2 * t) / 2 for name, t in given.tensors.items()}
    return replace(given, tensors=rounded)


def run_by_chance(
    given: RandomNetwork, word: list[int], seed: int
) -> tuple[Any, dict[Looking, int]]:
    """Logits by plain loops, and the positions that heads took, any of the largest."""
    rng, taken = np.random.default_rng(seed), dict[Looking, int]()

    def choose(block: int, head: int, i: int, scores: dict[int, Fraction]) -> int:
        best = [j for j, score in scores.items() if score == max(scores.values())]
        where = Looking(places_of(block).pattern, head, i)
        return taken.setdefault(where, int(rng.choice(best)))

    said = slow_logits(given.architecture, given.tensors, word, Fraction, choose)
    return said, taken


def holds(words: Words, letters: Any, word: list[int], run: Any) -> None:
    """All conditions are true in a run, and terms are its numbers."""
    said, taken = run
    known = [
        (there, z3.BoolVal(a == word[t]))
        for t, options in enumerate(letters[: len(word)])
        for a, there in enumerate(options)
    ]
    for looking, options in words.choices.items():
        if looking.point <= len(word):
            each = ((c, z3.BoolVal(j == taken[looking])) for j, c in options.items())
            known += each
    for condition in words.assumed:
        assert z3.is_true(z3.simplify(z3.substitute(condition, *known)))
    for t, logits in words.logits.items():
        for y, right in zip(logits, said[t - 1], strict=True):
            assert y.low <= right <= y.high
            assert number(z3.simplify(z3.substitute(y.expression, *known))) == right


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(60))
def test_terms_are_what_plain_loops_say(seed: int) -> None:
    given = of_small_numbers(seed)
    length, count = given.words.shape[1], given.architecture["vocabulary"] - 1
    letters = [[z3.Bool(f"{t} is {a}") for a in range(count)] for t in range(length)]
    encoded = encode(exact(given.net, length), letters)
    for word in given.words.tolist():
        for n, words in enumerate(encoded, start=1):
            holds(words, letters, word[:n], run_by_chance(given, word[:n], seed))
            assert max(words.logits) == n
            assert len(words.logits) == (1 if given.net.causal else n)
