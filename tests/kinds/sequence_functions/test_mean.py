"""Heads that take the mean of what suits: proved, and what breaks them is refused."""

import operator
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from model_files import place, stated, with_entries

import krohn
from krohn.compiler import CompileError
from krohn.kinds.sequence_functions.commands import SequenceFunctions
from krohn.kinds.sequence_functions.source import (
    ProgramError,
    SequenceFunction,
    program,
)
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FLOAT32
from krohn.program.errors import Refused
from krohn.program.operations.mean import Mean, fractions
from krohn.program.statement import parse
from krohn.report import silent
from krohn.verify.checker import sublayers
from krohn.verify.checker.transformer import read_program
from krohn.verify.search.find import model_of

LENGTH = 4
SIZE = {"": 1, "a": 2, "b": 0, "c": -1}
Suits = Callable[[Any, Any], Any] | str


def taken(suits: Suits = "<", most: object = None) -> SequenceFunction:
    """The mean size of the letters so far that are before the letter here."""
    p = program("abc")
    x = p.token()
    mean = p.mean(p.map(SIZE.__getitem__, x), x, x, suits)
    p.output(mean if most is None else mean > most)
    return p


@cache
def compiled(length: int = LENGTH) -> ModelFile:
    return krohn.compile(taken(), length=length).file


def expected(word: str, suits: Callable[[str, str], Any]) -> list[Fraction]:
    """By adding up all that suits."""
    found = (
        [SIZE[k] for k in word[: t + 1] if suits(k, word[t])] for t in range(len(word))
    )
    return [Fraction(sum(x), len(x)) if x else Fraction(SIZE[""]) for x in found]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("suits", "test"),
    [
        ("==", operator.eq),
        ("<=", operator.le),
        (lambda k, q: k == "a" or q == "b", lambda k, q: k == "a" or q == "b"),
    ],
)
def test_a_mean_is_that_of_what_suits(suits: Suits, test: Any) -> None:
    p, every = taken(suits), program("abc")
    every.output(every.mean(every.map(SIZE.__getitem__, every.token())))
    for word in map("".join, product("abc", repeat=LENGTH)):
        assert p.run(word) == expected(word, test), word
        assert every.run(word) == expected(word, lambda k, q: True), word


def verified(file: ModelFile) -> bool:
    return krohn.verify(file).verdict == "verified"


def right(file: ModelFile) -> bool:
    return bool(SequenceFunctions().every(file, LENGTH, silent).has_passed)


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [1, 2, LENGTH, 12])
def test_means_are_verified(length: int) -> None:
    assert verified(compiled(length))


@pytest.mark.slow
def test_comparisons_are_verified_where_means_are_too_near_to_each_other() -> None:
    model = krohn.compile(taken(most=Fraction(1, 3)), length=200)
    assert model.file.claim.dtype == "float32"
    word = "".join(np.random.default_rng(0).choice(list("abc"), 200))
    meant = [int(mean > Fraction(1, 3)) for mean in expected(word, operator.lt)]
    letters = torch.tensor([["abc".index(a) for a in word]])
    assert Model(model.file)(letters).argmax(-1)[0].tolist() == meant


def test_what_is_verified_here_is_right() -> None:
    assert right(compiled())


Entry = tuple[str, int, int, int]
BOS, ONE = (place(compiled(), n) for n in ("bos", "one"))
HEAD = stated(compiled(), "mean1.taken")
KEY, QUERY, SOURCE = (
    stated(compiled(), HEAD[n])["dims"][0] for n in ("key", "query", "source")
)
WRONG: dict[str, tuple[Entry, Callable[[Any], Any]]] = {
    "BOS counts": (("key", 0, BOS, -1), lambda sink: 2 * sink),
    "BOS is not found where nothing else counts": (("key", 0, BOS, -1), lambda _: -1),
    "its own key is left in": (("key", 0, BOS, 0), lambda _: 1),
    "one key counts for more": (("key", 0, KEY, 0), lambda w: 1.01 * w),
    "one key counts for less": (("key", 0, KEY + 1, 1), lambda w: 0.99 * w),
    "a key is never counted": (("key", 0, KEY + 1, 1), lambda _: 0),
    "what does not suit counts": (("query", 0, QUERY, 0), lambda _: 64),
    "what does not suit counts a little": (("query", 0, QUERY, 0), lambda _: 31),
    "twice the mean": (("out", 0, 0, HEAD["dims"][0]), lambda _: 2),
    "what stands here is added": (("value", 0, KEY, 0), lambda _: 1),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", WRONG)
def test_what_breaks_a_mean_is_wrong_and_not_verified(name: str) -> None:
    (part, *at), change = WRONG[name]
    tensor = f"blocks.0.attention.{part}"
    wrong = with_entries(compiled(), tensor, tuple(at), change)
    assert not right(wrong)
    assert not verified(wrong)


def taken_by_hand(file: ModelFile, words: Any) -> Any:
    """What the head writes at each letter of words, in float32."""
    x = file.tensors["embed.token"][np.insert(words, 0, 3, axis=1)]
    x = (x + file.tensors["embed.position"][: x.shape[1]]).astype(np.float32)
    query, key, value = (
        x @ file.tensors[f"blocks.0.attention.{n}"][0].astype(np.float32)
        for n in ("query", "key", "value")
    )
    scores = query @ key.swapaxes(1, 2)
    scores[:, *np.triu_indices(x.shape[1], 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (weights @ value / weights.sum(axis=-1, keepdims=True))[:, 1:, 0]


@pytest.mark.slow
def test_means_stay_within_their_bounds_whatever_the_weights() -> None:
    """Queries that are too short let in what does not suit, and BOS."""
    words = np.array(list(product(range(3), repeat=LENGTH)))
    named = ["".join("abc"[i] for i in word) for word in words.tolist()]
    meant = np.array([expected(word, operator.lt) for word in named]).astype(float) + 1
    at = np.searchsorted(fractions(3, LENGTH), meant - 1e-9)
    name, most = "blocks.0.attention.query", list[float]()
    for factor in (1.0, 0.5, 0.25, 0.2, 0.15):
        file = compiled()
        query = FLOAT32.round(factor * file.tensors[name])
        file = replace(file, tensors={**file.tensors, name: query})
        model = model_of(file)
        stream = sublayers.embedding(model, read_program(model, 3))
        after, _ = sublayers.attention(model, stream, 0)
        off = np.abs(taken_by_hand(file, words) - meant)
        allowed = after.noise["mean1.taken"][at]
        assert (off <= allowed).all()
        most.append(float((off / allowed).max()))
    assert max(most) > 0.1


@pytest.mark.parametrize("change", [{"longest": 3}, {"largest": 2}, {"pairs": [0]}])
def test_fractions_that_are_not_listed_are_refused(change: dict[str, Any]) -> None:
    said = compiled().header["source"]["program"]
    channels = [{**c, **change} if c["op"] == "mean" else c for c in said["channels"]]
    assert parse(said, 3, LENGTH)
    with pytest.raises(Refused, match=r"a mean of|without its query"):
        parse({**said, "channels": channels}, 3, LENGTH)


def test_only_tables_read_a_mean() -> None:
    said = compiled().header["source"]["program"]
    name = next(c["name"] for c in said["channels"] if c["op"] == "mean")
    domain = next(c["domain"] for c in said["channels"] if c["op"] == "mean")
    more = {"name": "more", "op": "shift", "source": name, "by": 1, "domain": domain}
    with pytest.raises(Refused, match="reads a mean, which only tables do"):
        parse({**said, "channels": [*said["channels"], more]}, 3, LENGTH)


def test_what_a_format_cannot_tell_apart_is_refused() -> None:
    with pytest.raises(CompileError, match="bfloat16 cannot tell means apart"):
        krohn.compile(taken(), length=4, dtype="bfloat16")
    p = program("ab")
    p.output(p.mean(p.map(lambda a: 10**6 * (a == "a"), p.token())))
    with pytest.raises(CompileError, match="a mean has too many values"):
        krohn.compile(p, length=8)
    with pytest.raises(ProgramError, match="a key and a query, or neither"):
        p.mean(p.position(), p.token())


def test_fractions_are_all_that_there_are() -> None:
    every = {Fraction(a, b) for b in range(1, 8) for a in range(3 * b + 1)}
    assert fractions(3, 7).tolist() == [float(x) for x in sorted(every)]
    assert Mean("x", "k", "q", (), 3, 7).numbers is fractions(3, 7)
    with pytest.raises(Refused, match="too many values"):
        fractions(0, 2**31)
