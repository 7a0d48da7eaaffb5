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

from algebra.automaton import Automaton
from algebra.formats import json_format
from algebra.semiautomaton import Semiautomaton
from compiler.pipeline import Options, arrange, optimise
from compiler.transformer import describe, lower
from network.model import Model
from network.modelfile import ModelFile
from network.precision import FLOAT32, FloatArray
from program import LatestMatch, Map, Operation, Program, Token, table
from program.interpreter import states
from verify import transformer
from verify.errors import Rejected
from verify.exhaustive import exhaustive
from verify.heads import Attention
from verify.proof import prove
from verify.rivals import leak_latest
from verify.statement import check_domains, parse

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


def test_a_query_that_depends_on_the_position_is_refused() -> None:
    def change(
        file: ModelFile, query: FloatArray, key: FloatArray, value: FloatArray
    ) -> None:
        query[0, feature(file, "index"), -1] = 1

    assert not verified(spoilt(change))


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


def attention(noise: dict[str, float]) -> Attention:
    """The heads of the compiled network, with noise on what they read."""
    file = compiled()
    statement = parse(file.header["program"], len(LETTERS), LENGTH)
    tensors = transformer.Tensors(file, statement, check_domains(statement))
    stream, _ = transformer._embedding(tensors)
    bounds = {
        name: np.full_like(old, noise.get(name, 0.0))
        for name, old in stream.noise.items()
    }
    return transformer._heads(tensors, replace(stream, noise=bounds), 0)


@pytest.mark.parametrize("name", ["address.one-hot", "first.one-hot"])
def test_noise_of_keys_and_queries_counts(name: str) -> None:
    channel = attention({}).statement.channels["a"]
    clean = attention({}).look(channel).score_error
    noisy = attention({name: 1e-3}).look(channel).score_error
    # A match is worth 32·8 in the score.
    assert noisy >= clean + 0.256
    with pytest.raises(Rejected, match="may look elsewhere"):
        attention({name: 0.1}).look(channel)


@given(st.data())
def test_true_scores_stay_within_the_stated_error(data: st.DataObject) -> None:
    noise = data.draw(st.sampled_from([1e-6, 1e-4, 1e-3]))
    known = attention({"address.one-hot": noise, "first.one-hot": noise})
    look = known.look(known.statement.channels["a"])
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    key, query = dims(compiled(), "address.one-hot"), dims(compiled(), "first.one-hot")
    x, y = known.positions[2].copy(), known.positions[1].copy()
    x[key[0]] = y[query[0]] = 1.0
    exact = (y @ known.query[0]) @ (x @ known.key[0])
    x[list(key)] += rng.uniform(-noise, noise, len(key))
    y[list(query)] += rng.uniform(-noise, noise, len(query))
    off = (y @ known.query[0]) @ (x @ known.key[0])
    assert abs(off - exact) <= look.score_error


SCORE = st.integers(-6, 6).map(float)


@given(st.data(), st.integers(1, 4))
def test_no_word_leaks_more_than_the_worst_case(
    data: st.DataObject, length: int
) -> None:
    row = st.lists(SCORE, min_size=length + 1, max_size=length + 1)
    unmatched, matched = (np.array(data.draw(row)) for _ in range(2))
    matched[0] = unmatched[0]
    leak, gap = leak_latest(np.stack([unmatched, matched]))
    for word in product([False, True], repeat=length):
        flags = np.array([True, *word])
        scores = np.where(flags, matched, unmatched)
        right = int(np.flatnonzero(flags)[-1])
        others = np.delete(scores, right)
        assert np.exp(others - scores[right]).sum() <= leak * (1 + 1e-12)
        assert scores[right] - others.max() >= gap


@given(st.lists(SCORE, min_size=2, max_size=5))
def test_a_query_without_key_finds_bos(scores: list[float]) -> None:
    mismatches = np.array(scores)
    matches = np.array([scores[0], *[-np.inf] * (len(scores) - 1)])
    leak, gap = leak_latest(np.stack([mismatches, matches]), only_bos=True)
    assert np.isclose(leak, np.exp(mismatches[1:] - mismatches[0]).sum())
    assert gap == mismatches[0] - mismatches[1:].max()
