"""The reference semantics: each operation is what its definition says."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.algebra.automaton import IntArray
from krohn.program import (
    Latest,
    LatestMatch,
    Map,
    Operation,
    PrefixSum,
    Program,
    Refused,
    Select,
    Shift,
    Token,
    table,
)
from krohn.program.interpreter import Held, evaluate_operation, interpret, states

LETTERS = 3
WORDS = st.lists(st.integers(0, LETTERS - 1), max_size=9).map(lambda w: np.array([w]))
IDENTITY = Map(table({(a,): a for a in range(LETTERS + 1)}), ("token",))


def program(operations: Mapping[str, Operation], output: str = "x") -> Program:
    return Program(
        letters=("a", "b", "c"),
        states=2,
        length=9,
        operations={"token": Token(), "letter": IDENTITY, **operations},
        outputs=(output,),
        decode={(0,): 0, (1,): 1},
    )


def value(operations: Mapping[str, Operation], word: IntArray) -> list[int]:
    return interpret(program(operations), word)["x"][0].tolist()  # type: ignore[no-any-return]


def embedded(*images: int) -> Map:
    return Map(table({(a,): v for a, v in enumerate(images)}), ("token",))


@given(WORDS)
def test_tokens_are_the_word_after_one_bos(word: IntArray) -> None:
    found = interpret(program({"x": Token()}), word)["x"][0]
    assert found.tolist() == [LETTERS, *word[0].tolist()]


@given(WORDS, st.integers(0, 12))
def test_shifts_stop_at_bos(word: IntArray, by: int) -> None:
    tokens = [LETTERS, *word[0].tolist()]
    found = value({"x": Shift("letter", by)}, word)
    assert found == [tokens[max(t - by, 0)] for t in range(len(tokens))]


@given(WORDS)
def test_prefix_sums_count_from_bos(word: IntArray) -> None:
    found = value({"step": embedded(0, 1, 5, 0), "x": PrefixSum("step")}, word)
    steps = [0, *([0, 1, 5][a] for a in word[0])]
    assert found == np.cumsum(steps).tolist()


@given(WORDS)
def test_latest_fetches_the_last_marked_position(word: IntArray) -> None:
    flag = embedded(0, 1, 0, 1)
    found = value({"flag": flag, "x": Latest("letter", "flag")}, word)
    tokens = [LETTERS, *word[0].tolist()]
    marked = [j for j, a in enumerate(tokens) if a in (1, LETTERS)]
    expected = [tokens[max(j for j in marked if j <= t)] for t in range(len(tokens))]
    assert found == expected


@given(WORDS, st.integers(0, 3))
def test_a_latest_match_fetches_the_last_equal_key(word: IntArray, bos: int) -> None:
    keys, queries = (0, 1, 2, bos), (2, 0, 1, 3)
    found = value(
        {
            "key": embedded(*keys),
            "query": embedded(*queries),
            "x": LatestMatch("letter", "key", "query"),
        },
        word,
    )
    tokens = [LETTERS, *word[0].tolist()]
    for t, a in enumerate(tokens):
        equal = [j for j in range(1, t + 1) if keys[tokens[j]] == queries[a]]
        assert found[t] == tokens[equal[-1] if equal else 0]


@given(WORDS)
def test_selection_takes_the_value_with_the_index(word: IntArray) -> None:
    channels: dict[str, Operation] = {
        "index": embedded(0, 1, 2, 1),
        "p": embedded(7, 7, 7, 7),
        "q": Shift("letter", 1),
        "r": embedded(9, 9, 9, 9),
        "x": Map(Select(), ("index", "p", "q", "r")),
    }
    found = interpret(program(channels), word)
    picked = [found[n] for n in "pqr"]
    index = found["index"][0]
    assert found["x"][0].tolist() == [picked[i][0, t] for t, i in enumerate(index)]


@given(WORDS)
def test_tables_are_applied_at_every_position(word: IntArray) -> None:
    rows = {(a, b): 10 * a + b for a in range(4) for b in range(4)}
    channels: dict[str, Operation] = {
        "before": Shift("letter", 1),
        "x": Map(table(rows), ("before", "letter")),
    }
    found = interpret(program(channels), word)
    assert np.array_equal(found["x"], 10 * found["before"] + found["letter"])


def test_values_of_a_prefix_do_not_depend_on_what_follows() -> None:
    channels: dict[str, Operation] = {
        "back": Shift("letter", 2),
        "flag": embedded(0, 1, 0, 1),
        "x": Latest("back", "flag"),
    }
    whole = interpret(program(channels), [[0, 1, 2, 1, 0, 2, 2]])
    for cut in range(7):
        part = interpret(program(channels), [[0, 1, 2, 1, 0, 2, 2][:cut]])
        for name, values in part.items():
            assert np.array_equal(values, whole[name][:, : cut + 1])


def test_a_missing_row_is_named() -> None:
    channels = {"x": Map(table({(0,): 1, (3,): 0}), ("token",))}
    with pytest.raises(Refused, match=r"'x': a table has no row for the values \[2\]"):
        interpret(program(channels), [[0, 2]])


def test_states_that_nothing_decodes_to_are_minus_one() -> None:
    found = states(program({"x": IDENTITY}), [[0, 1, 2], [2, 2, 0]])
    assert found.tolist() == [[0, 1, -1], [-1, -1, 0]]


def test_look_up_works_on_any_shape() -> None:
    square = table({(v,): v * v for v in range(5)})
    arguments = np.arange(4).reshape(2, 2)
    assert square([arguments]).tolist() == [[0, 1], [4, 9]]


def test_tables_are_values_and_have_one_order_of_rows() -> None:
    one, other = table({(1, 0): 5, (0, 1): 6}), table({(0, 1): 6, (1, 0): 5})
    assert one == other
    assert hash(one) == hash(other)
    assert list(one.items()) == [((0, 1), 6), ((1, 0), 5)]
    assert one != table({(0, 1): 6, (1, 0): 4})


@pytest.mark.parametrize(
    "operation",
    [
        Map(Select(), ("a", "b", "a")),
        Shift("a", 3),
        Latest("a", "b"),
        LatestMatch("a", "b", "a"),
        PrefixSum("a"),
        Token(),
    ],
)
def test_renaming_renames_exactly_what_is_read(operation: Operation) -> None:
    renamed = operation.rename_channels({"a": "z"})
    assert renamed.reads == tuple("z" if n == "a" else n for n in operation.reads)
    assert renamed.rename_channels({"z": "a"}) == operation


def test_a_channel_that_is_held_keeps_its_value_and_what_reads_it_follows() -> None:
    channels: dict[str, Operation] = {
        "x": Token(),
        "sum": PrefixSum("x"),
        "before": Shift("sum", 1),
    }
    source = program(channels)
    held = {"sum": Held(np.array([[0, 5, 7]]))}
    found = interpret(source, [[1, 1]], held)
    assert found["sum"].tolist() == [[0, 5, 7]]
    assert found["before"].tolist() == [[0, 0, 5]]
    assert found["x"][0, 1:].tolist() == [1, 1]


def test_a_channel_may_be_held_at_some_positions() -> None:
    channels: dict[str, Operation] = {
        "x": Token(),
        "sum": PrefixSum("x"),
        "before": Shift("sum", 1),
    }
    where = np.array([[False, True, False]])
    held = {"sum": Held(np.array([[0, 5, 0]]), where)}
    found = interpret(program(channels), [[1, 1]], held)
    plain = interpret(program(channels), [[1, 1]])
    assert found["sum"][0, 1] == found["before"][0, 2] == 5
    assert found["sum"][0, 2] == plain["sum"][0, 2]


def test_what_is_born_where_a_channel_is_held_computes_it_anew() -> None:
    flip = table({(0,): 1, (1,): 0})
    channels: dict[str, Operation] = {
        "x": Token(),
        "one": Map(flip, ("x",)),
        "two": Map(flip, ("one",)),
        "late": Map(flip, ("one",)),
        "open": Map(flip, ("late",)),
    }
    source = program(channels)
    held = {"one": Held(np.array([[0, 0]]), np.array([[False, True]]))}
    born = {"one": 2, "two": 2, "late": 4}
    word = [[0]]
    seen = interpret(source, word, held, born, _clipped)
    assert (seen["one"][0, 1], seen["two"][0, 1], seen["late"][0, 1]) == (0, 0, 1)
    assert seen["open"][0, 1] == 0  # nowhere stored: of what stands in the stream
    assert interpret(source, word, held, None, _clipped)["two"][0, 1] == 1


def _clipped(name: str, operation: Operation, read: Any, tokens: Any) -> Any:
    """BOS, for which the tables here have no row, as the first letter."""
    return evaluate_operation(
        operation, [np.minimum(r, 1) for r in read], np.minimum(tokens, 1)
    )
