"""Heads that match values: the worst case is bounded, and what breaks them is refused.

The machine is two cells of one bit, written by address: the simplest that needs a key.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from model_files import lowered, place, stated, with_entries

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FLOAT32, FloatArray
from krohn.program import LatestMatch, Map, Operation, Program, Token, table
from krohn.program.errors import Refused
from krohn.program.interpreter import states
from krohn.verify.checker import sublayers, transformer as checker
from krohn.verify.checker.heads import Look
from krohn.verify.proof import prove
from krohn.verify.search.find import model_of
from krohn.verify.testing.exhaustive import exhaustive

torch.set_num_threads(1)

LENGTH = 3
LETTERS = ("0=0", "0=1", "1=0", "1=1", "keep")


def embedded(*values: int) -> Map:
    return Map(table({(a,): v for a, v in enumerate(values)}), ("token",))


def cells() -> Automaton:
    """Two cells of a bit, state 2a + b, both 1 at the start."""
    table = [[q & 1, 2 | q & 1, q & 2, q & 2 | 1, q] for q in range(4)]
    names = LETTERS, ("00", "01", "10", "11")
    return Automaton(Semiautomaton(np.array(table).T, *names), 3, name="cells")


def program(length: int = LENGTH) -> Program:
    """Each cell is what was written at its address; BOS, whose key is 0, wrote 1."""
    operations: dict[str, Operation] = {
        "token": Token(),
        "address": embedded(0, 0, 1, 1, 2, 0),
        "written": embedded(0, 1, 0, 1, 0, 1),
        "first": embedded(*[0] * 6),
        "second": embedded(*[1] * 6),
        "a": LatestMatch("written", "address", "first"),
        "b": LatestMatch("written", "address", "second"),
    }
    decode = {(q // 2, q % 2): q for q in range(4)}
    return Program(LETTERS, 4, length, operations, ("a", "b"), decode)


@cache
def compiled(length: int = LENGTH) -> ModelFile:
    return lowered(program(length), cells())


def dims(file: ModelFile, name: str) -> range:
    return range(*stated(file, name)["dims"])


def verified(file: ModelFile) -> bool:
    return prove(file, cells()).verdict == "verified"


def right(file: ModelFile) -> bool:
    return exhaustive(Model(file), cells(), LENGTH).has_passed


Entry = tuple[str, int, int, int | slice]
"""A part of the head's matrices, the head, the row and the column."""
BOS, INDEX = place(compiled(), "bos"), place(compiled(), "index")
ADDRESS = dims(compiled(), "address.one-hot")
WRONG: dict[str, tuple[Entry, Callable[[FloatArray], FloatArray | float]]] = {
    "BOS scores above early matches": (("key", 0, BOS, -1), lambda sink: 4 * sink),
    "BOS scores below what writes elsewhere": (("key", 0, BOS, -1), lambda _: 0),
    "BOS matches, and is a sink on top": (("key", 0, BOS, 0), lambda _: 0),
    "the first match wins": (("key", 0, INDEX, -1), lambda _: -1),
    "all matches weigh alike": (("key", 1, INDEX, -1), lambda _: 0),
    "one address is never found": (
        ("key", 1, ADDRESS[1], slice(None)),
        lambda _: 0,
    ),
    "what writes nothing is found": (
        ("key", 0, ADDRESS[2], slice(None)),
        lambda _: compiled().tensors["blocks.0.attention.key"][0, ADDRESS[0]],
    ),
    "a later mismatch wins": (("key", 0, ADDRESS[0], slice(None)), lambda _: 1),
    "a bit of the address is added": (("value", 0, ADDRESS[0], 0), lambda _: 1),
}


def spoilt(
    entry: Entry, change: Callable[[FloatArray], FloatArray | float]
) -> ModelFile:
    part, *at = entry
    return with_entries(compiled(), f"blocks.0.attention.{part}", tuple(at), change)


def test_the_program_is_the_machine() -> None:
    every = list(product(range(5), repeat=4))
    expected = cells().semiautomaton.trace(every, 3)
    assert np.array_equal(states(program(4), every), expected)


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [1, 2, LENGTH, 64, 1000])
def test_matches_are_verified(length: int) -> None:
    assert prove(compiled(length), cells()).verdict == "verified"


def test_what_is_verified_here_is_right() -> None:
    assert right(compiled())


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", WRONG)
def test_what_breaks_a_match_is_wrong_and_not_verified(name: str) -> None:
    wrong = spoilt(*WRONG[name])
    assert not right(wrong)
    assert not verified(wrong)


def test_a_query_may_depend_on_the_position() -> None:
    file = spoilt(("query", 0, INDEX, -1), lambda _: 1)
    assert right(file)
    assert verified(file)


def test_a_score_that_reads_what_was_written_is_refused() -> None:
    written = dims(compiled(), "written")[0]
    assert not verified(spoilt(("key", 0, written, -1), lambda _: 2.0**-20))


@pytest.mark.slow
@pytest.mark.parametrize("factor", [-1.0, 1.1])
def test_a_changed_weight_that_is_verified_does_no_harm(factor: float) -> None:
    file, survived, tried = compiled(), 0, 0
    for name, array in file.tensors.items():
        for index in np.flatnonzero(array.reshape(-1))[::3].tolist():
            changed = array.copy()
            changed.reshape(-1)[index] *= factor
            mutant = replace(
                file, tensors={**file.tensors, name: FLOAT32.round(changed)}
            )
            tried += 1
            if verified(mutant):
                survived += 1
                assert right(mutant), (name, index)
    assert 0 < survived < tried / 2


def attention(noise: dict[str, float]) -> Look:
    """Where the first head looks, with noise on what it reads."""
    model = model_of(compiled())
    stream = sublayers.embedding(model, checker.read_program(model, len(LETTERS)))
    noisy = {n: np.full_like(x, noise.get(n, 0.0)) for n, x in stream.noise.items()}
    return sublayers.attention(model, replace(stream, noise=noisy), 0)[1]["a"]


@pytest.mark.parametrize("name", ["address.one-hot", "first.one-hot"])
def test_noise_of_keys_and_queries_counts(name: str) -> None:
    clean, noisy = attention({}).error, attention({name: 1e-3}).error
    # A match is worth 32·8 in the score.
    assert noisy >= clean + 0.256
    with pytest.raises(Refused, match="may read wrong positions"):
        attention({name: 0.1})


@given(st.integers(0, 999), st.sampled_from([1e-6, 1e-4, 1e-3]))
def test_true_scores_stay_within_the_stated_error(seed: int, noise: float) -> None:
    look = attention({"address.one-hot": noise, "first.one-hot": noise})
    rng, tensors = np.random.default_rng(seed), compiled().tensors
    query, key = (tensors[f"blocks.0.attention.{n}"][0] for n in ("query", "key"))
    keys, asked = (dims(compiled(), f"{n}.one-hot") for n in ("address", "first"))
    x, y = tensors["embed.position"][2].copy(), tensors["embed.position"][1].copy()
    x[keys[0]] = y[asked[0]] = 1.0
    exact = (y @ query) @ (x @ key)
    x[list(keys)] += rng.uniform(-noise, noise, len(keys))
    y[list(asked)] += rng.uniform(-noise, noise, len(asked))
    assert abs((y @ query) @ (x @ key) - exact) <= look.error
