"""The declared order of positions leads to the position that an operation fetches."""

import numpy as np
import pytest

from krohn.program import (
    At,
    AtAnywhere,
    Best,
    Earliest,
    Final,
    Latest,
    LatestMatch,
    LookBack,
    MatchAnywhere,
    Operation,
    Shift,
    ShiftBy,
    SiblingLatest,
)
from krohn.program.domains import IntArray
from krohn.program.operations.base import Match

LENGTH = 9
DIGITS = ("a", "b", "c", "d")
OPERATIONS: list[LookBack] = [
    Shift("x", 1),
    Shift("x", 3),
    ShiftBy("x", "by"),
    Latest("x", "w"),
    Earliest("x", "w"),
    *(SiblingLatest("x", "w", level) for level in range(4)),
    LatestMatch("x", "k", "q"),
    MatchAnywhere("x", "k", "q"),
    Best("x", "k", "q", "r", (0, 0, 1, 0, 2, 1, 0, 3)),
    Best("x", "k", "q", "k", (0, 0, 1, 0, 2, 0)),
    At("x", DIGITS),
    AtAnywhere("x", DIGITS),
    Final("x"),
]


def test_every_operation_that_fetches_is_here() -> None:
    every = {x for x in Operation.named.values() if issubclass(x, LookBack)}
    assert every - {type(o) for o in OPERATIONS} == set()


def values(name: str, rng: np.random.Generator) -> IntArray:
    """``(LENGTH + 1,)``: of a distance up to the length, of keys, or of flags."""
    high = {"by": LENGTH + 2, "k": 3, "q": 4}.get(name, 2)
    return rng.integers(high, size=LENGTH + 1)


@pytest.mark.sample(5)
@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_the_right_candidate_is_the_position_that_is_fetched(
    operation: LookBack,
) -> None:
    rng, t = np.random.default_rng(0), np.arange(LENGTH + 1)
    for _ in range(200):
        read = {name: values(name, rng) for name in dict.fromkeys(operation.reads[1:])}
        if "w" in read:
            read["w"][0] = getattr(operation, "at_bos", 0)
        given = [read[name][None] for name in operation.reads[1:]]
        fetched = np.broadcast_to(operation.position(given, t), (1, len(t)))[0]
        end = t if operation.causal else np.full(len(t), LENGTH)
        asked = [read[name] for name in operation.asks]
        low, high, default = operation.candidates(end, asked)
        right = (low[:, None] <= t) & (t <= high[:, None])
        if operation.compared_channel is not None:
            shown = read[operation.compared_channel]
            wanted = asked[0] if isinstance(operation, Match) else np.ones_like(t)
            each = [operation.suits(shown, c) for c in wanted.tolist()]
            right &= np.array(each)
        if operation.rated_channel is not None:
            ratings = np.where(right, read[operation.rated_channel], -1)
            right &= ratings == ratings.max(axis=1, keepdims=True)
        some = right.any(axis=1)
        assert default or some[1:].all()
        last = len(t) - 1 - right[:, ::-1].argmax(axis=1)
        found = np.where(some, right.argmax(axis=1) if operation.first else last, 0)
        assert (found == fetched)[1:].all()


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_candidates_grow_where_that_is_said(operation: LookBack) -> None:
    """Those of a longer word are those of a shorter one, and others behind them."""
    t = np.arange(1, LENGTH + 1)
    for value in range(2):
        asked = [np.full(len(t), value) for _ in operation.asks]
        low, high, _ = operation.candidates(t, asked)
        j = np.arange(LENGTH + 1)
        inside = (low[:, None] <= j) & (j <= high[:, None])
        grows = all(
            (after[:end] == before[:end]).all()
            for end, before, after in zip(t + 1, inside, inside[1:], strict=False)
        )
        assert grows or not operation.grows
