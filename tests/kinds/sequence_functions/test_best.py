"""Heads that fetch the best-rated match: proved, and what breaks them is refused."""

import operator
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from model_files import place, stated, with_entries

import krohn
from krohn.compiler import CompileError
from krohn.kinds.sequence_functions.commands import SequenceFunctions
from krohn.kinds.sequence_functions.source import (
    ProgramError,
    SequenceFunction,
    program,
)
from krohn.network.modelfile import ModelFile
from krohn.program import Best
from krohn.program.domains import Values
from krohn.program.errors import Refused
from krohn.program.operations.base import Frame
from krohn.report import silent
from krohn.verify.checker.scores import NEVER, worst_rated_leak

LENGTH = 4
RATED = {"": 0, "a": 2, "b": 0, "c": 2, "d": -1}
Suits = Callable[[Any, Any], Any] | str


def below(suits: Suits = "<") -> SequenceFunction:
    """The position of the best letter so far that is before the letter here."""
    p = program("abcd")
    x = p.token()
    p.output(p.best(p.position(), x, x, p.map(RATED.__getitem__, x), suits))
    return p


@cache
def compiled(length: int = LENGTH) -> ModelFile:
    return krohn.compile(below(), length=length).file


def expected(word: str, suits: Callable[[str, str], Any]) -> list[int]:
    """By trying all positions."""
    places = range(1, len(word) + 1)
    found = (
        [(RATED[word[j - 1]], j) for j in places[:t] if suits(word[j - 1], word[t - 1])]
        for t in places
    )
    return [max(each)[1] if each else 0 for each in found]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("suits", "test"),
    [
        ("==", operator.eq),
        ("!=", operator.ne),
        ("<", operator.lt),
        ("<=", operator.le),
        (">", operator.gt),
        (">=", operator.ge),
        (lambda k, q: k == "a" or q == "b", lambda k, q: k == "a" or q == "b"),
    ],
)
def test_the_best_of_what_suits_is_fetched(suits: Suits, test: Any) -> None:
    p = below(suits)
    for word in map("".join, product("abcd", repeat=LENGTH)):
        assert p.run(word) == expected(word, test), word


def verified(file: ModelFile) -> bool:
    return krohn.verify(file).verdict == "verified"


def right(file: ModelFile) -> bool:
    return bool(SequenceFunctions().every(file, LENGTH, silent).has_passed)


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [1, 2, LENGTH, 40])
def test_matches_are_verified(length: int) -> None:
    assert verified(compiled(length))


def test_what_is_verified_here_is_right() -> None:
    assert right(compiled())


Entry = tuple[str, int, int, int]
BOS, INDEX, ONE = (place(compiled(), n) for n in ("bos", "index", "one"))
HEAD = stated(compiled(), "best1")
KEY, QUERY, RATING = (
    stated(compiled(), HEAD[n])["dims"][0] for n in ("key", "query", "rating")
)
WRONG: dict[str, tuple[Entry, Callable[[Any], Any]]] = {
    "BOS scores above matches": (("key", 0, BOS, -1), lambda sink: 8 * sink),
    "BOS scores below what does not suit": (("key", 0, BOS, -1), lambda _: 0),
    "the worst rating wins": (("key", 0, RATING, -1), lambda weight: -weight),
    "ratings do not count": (("key", 0, RATING, -1), lambda _: 0),
    "ratings count less than positions": (("key", 0, RATING, -1), lambda _: 1),
    "the first of equal ratings wins": (("key", 0, INDEX, -1), lambda _: -1),
    "equal ratings weigh alike": (("key", 0, INDEX, -1), lambda _: 0),
    "a rating is worth more than a match": (("key", 0, RATING, -1), lambda w: 64 * w),
    "a key is never found": (("key", 0, KEY, 0), lambda _: 0),
    "one of several keys is never found": (("key", 0, KEY + 1, 1), lambda _: 0),
    "one of several keys is found last": (("key", 0, KEY + 2, 2), lambda w: 0.9 * w),
    "a query finds what does not suit": (("query", 0, QUERY, 0), lambda _: 32),
    "what stands here is added": (("value", 0, RATING, 0), lambda _: 1),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", WRONG)
def test_what_breaks_it_is_wrong_and_not_verified(name: str) -> None:
    (part, *at), change = WRONG[name]
    tensor = f"blocks.0.attention.{part}"
    wrong = with_entries(compiled(), tensor, tuple(at), change)
    assert not right(wrong)
    assert not verified(wrong)


def worst(on: Any, off: Any, t: int) -> float:
    """Over all that positions 1 to t can say: nothing that suits, or a rating."""
    leaks = []
    for said in product(range(-1, len(on)), repeat=t):
        scores = [off[j] if r < 0 else on[r][j] for j, r in enumerate(said, 1)]
        scores = [on[0][0], *scores]
        best = max((r, j) for j, r in [(0, -0.5), *enumerate(said, 1)])[1]
        others = np.delete(scores, best)
        leaks.append(np.logaddexp.reduce(others) - scores[best])
    return float(max(leaks))


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(20))
def test_the_leak_is_that_of_the_worst_that_can_be_said(seed: int) -> None:
    """On scores that nobody ordered; those of BOS are the same for each rating."""
    on, off = np.split(3 * np.random.default_rng(seed).normal(size=(4, 5)), [3])
    on[:, 0] = on[0, 0]
    for t in range(1, 5):
        hidden = np.arange(5) > t
        ways = [np.where(hidden, NEVER, x)[None] for x in on]
        rest = np.where(hidden | (np.arange(5) == 0), NEVER, off)
        inside = (~hidden & (np.arange(5) > 0))[None]
        found = worst_rated_leak(ways, rest, inside, True, False)
        assert found == pytest.approx(worst(on, off[0], t), abs=1e-12)


def test_ratings_that_a_format_cannot_hold_are_refused() -> None:
    p = program("ab")
    x = p.token()
    p.output(p.best(x, x, x, p.map(lambda a: 10**7 * (a == "a"), x)))
    with pytest.raises(CompileError, match="float32 cannot order"):
        krohn.compile(p, length=8, dtype="float32")
    assert krohn.compile(p, length=8, dtype="float64").proof is not None


def test_ratings_are_numbers_and_ways_to_suit_are_known() -> None:
    with pytest.raises(ProgramError, match="'~' is no way to suit"):
        below("~").run("ab")
    p = program("ab")
    x = p.token()
    p.output(p.best(x, x, x, x))
    with pytest.raises(ProgramError, match="holds no numbers"):
        p.run("ab")


def test_a_key_without_its_query_is_refused() -> None:
    wire = {"source": "x", "key": "k", "query": "q", "rating": "r", "pairs": [1]}
    read, frame = [Values(0, np.arange(2**20))] * 4, Frame(2, 4)
    with pytest.raises(Refused, match="without its query"):
        Best.from_wire(wire).infer(read, frame)
    with pytest.raises(Refused, match="too many keys and queries"):
        Best.from_wire({**wire, "pairs": [0] * 2**10}).infer(read, frame)
