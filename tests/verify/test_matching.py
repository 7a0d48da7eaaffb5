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
from hypothesis import given
from hypothesis import strategies as st

from krohn.algebra.automaton import Automaton
from krohn.algebra.formats import json_format
from krohn.algebra.semiautomaton import Semiautomaton
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.transformer import describe, lower
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FLOAT32, FloatArray
from krohn.program import LatestMatch, Map, Operation, Program, Token, table
from krohn.program.errors import Refused
from krohn.program.interpreter import states
from krohn.verify.checker import sublayers
from krohn.verify.checker import transformer as checker
from krohn.verify.checker.heads import Look
from krohn.verify.proof import prove
from krohn.verify.search.conversion import model_of
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
    options = Options(FLOAT32)
    layout, features = arrange(optimise(program(length), options), options)
    network = lower(layout, features, strict=False)
    header = {
        "architecture": network.architecture,
        "machine": json_format.to_object(cells()),
        "claim": {"length": length, "dtype": "float32", "start": "11"},
        "program": describe(layout, network),
    }
    tensors = {n: FLOAT32.round(array) for n, array in network.tensors.items()}
    return ModelFile(header, tensors, FLOAT32)


def dims(file: ModelFile, name: str) -> range:
    stated = {c["name"]: c for c in file.header["program"]["channels"]}
    return range(*stated[name]["dims"])


def feature(file: ModelFile, name: str) -> int:
    return int(file.header["program"]["features"][name][0])


def verified(file: ModelFile) -> bool:
    return prove(file, cells()).verdict == "verified"


def right(file: ModelFile) -> bool:
    return exhaustive(Model(file), cells(), LENGTH).passed


Change = Callable[[ModelFile, FloatArray, FloatArray, FloatArray], None]


def sink_too_strong(
    file: ModelFile, query: FloatArray, key: FloatArray, value: FloatArray
) -> None:
    """BOS scores above early matches."""
    key[0, feature(file, "bos"), -1] *= 4


def sink_too_weak(
    file: ModelFile, query: FloatArray, key: FloatArray, value: FloatArray
) -> None:
    """BOS scores below letters that write elsewhere."""
    key[0, feature(file, "bos"), -1] = 0


def bos_matches(
    file: ModelFile, query: FloatArray, key: FloatArray, value: FloatArray
) -> None:
    """The key of BOS is the query of the first head; the sink comes on top."""
    key[0, feature(file, "bos"), 0] = 0


def recency_reversed(
    file: ModelFile, query: FloatArray, key: FloatArray, value: FloatArray
) -> None:
    """The first match wins instead of the latest."""
    key[0, feature(file, "index"), -1] = -1


def recency_lost(
    file: ModelFile, query: FloatArray, key: FloatArray, value: FloatArray
) -> None:
    """All matches weigh alike."""
    key[1, feature(file, "index"), -1] = 0


def key_lost(
    file: ModelFile, query: FloatArray, key: FloatArray, value: FloatArray
) -> None:
    """One address is never found."""
    key[1, dims(file, "address.one-hot")[1]] = 0


def keys_collide(
    file: ModelFile, query: FloatArray, key: FloatArray, value: FloatArray
) -> None:
    """A letter that writes nothing is found like one that writes."""
    address = dims(file, "address.one-hot")
    key[0, address[2]] = key[0, address[0]]


def bonus_too_small(
    file: ModelFile, query: FloatArray, key: FloatArray, value: FloatArray
) -> None:
    """A later mismatch scores above a match."""
    key[0, dims(file, "address.one-hot")[0]] = 1


def payload_leaks(
    file: ModelFile, query: FloatArray, key: FloatArray, value: FloatArray
) -> None:
    """The head adds a bit of the address to what was written."""
    value[0, dims(file, "address.one-hot")[0], 0] = 1


WRONG: list[Change] = [
    sink_too_strong,
    sink_too_weak,
    bos_matches,
    recency_reversed,
    recency_lost,
    key_lost,
    keys_collide,
    bonus_too_small,
    payload_leaks,
]


def spoilt(change: Change) -> ModelFile:
    file = compiled()
    tensors = {name: array.copy() for name, array in file.tensors.items()}
    at = "blocks.0.attention"
    change(file, *(tensors[f"{at}.{part}"] for part in ("query", "key", "value")))
    return replace(file, tensors=tensors)


def test_the_program_is_the_machine() -> None:
    every = list(product(range(5), repeat=4))
    expected = cells().semiautomaton.trace(every, 3)
    assert np.array_equal(states(program(4), every), expected)


@pytest.mark.parametrize("length", [1, 2, LENGTH, 64, 1000])
def test_matches_are_verified(length: int) -> None:
    assert prove(compiled(length), cells()).verdict == "verified"


def test_what_is_verified_here_is_right() -> None:
    assert right(compiled())


@pytest.mark.parametrize("change", WRONG)
def test_what_breaks_a_match_is_wrong_and_not_verified(change: Change) -> None:
    assert not right(spoilt(change))
    assert not verified(spoilt(change))


def test_a_query_may_depend_on_the_position() -> None:
    def change(
        file: ModelFile, query: FloatArray, key: FloatArray, value: FloatArray
    ) -> None:
        query[0, feature(file, "index"), -1] = 1

    assert right(spoilt(change))
    assert verified(spoilt(change))


def test_a_score_that_reads_what_was_written_is_refused() -> None:
    def change(
        file: ModelFile, query: FloatArray, key: FloatArray, value: FloatArray
    ) -> None:
        key[0, dims(file, "written")[0], -1] = 2.0**-20

    assert not verified(spoilt(change))


@pytest.mark.parametrize("factor", [-1.0, 1.1, 0.9])
def test_a_changed_weight_that_is_verified_does_no_harm(factor: float) -> None:
    file, survived, tried = compiled(), 0, 0
    for name, array in file.tensors.items():
        for index in np.flatnonzero(array.reshape(-1)).tolist():
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
    stream = sublayers.embedding(model, checker.stated(model, len(LETTERS)))
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
