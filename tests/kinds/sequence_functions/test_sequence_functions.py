"""The public face: what operators mean, what lies before the first letter, errors."""

import inspect
import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import krohn
from krohn.algebra.errors import KrohnError
from krohn.kinds.sequence_functions.source import (
    ProgramError,
    SequenceFunction,
)

WORDS = ["".join(w) for n in range(1, 5) for w in product("abc", repeat=n)]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le]
COMPARISONS += [operator.gt, operator.ge]


def said(p: SequenceFunction, word: str) -> list[object]:
    """The answers of the interpreter, which are among the classes of longer words."""
    found = p.realise(8)
    assert set(p.run(word)) <= set(found.classes)
    return p.run(word)


@pytest.mark.slow
@pytest.mark.parametrize("test", COMPARISONS)
def test_comparisons_of_numbers_are_those_of_python(test: Callable[..., Any]) -> None:
    p = krohn.program("abc")
    x = p.token()
    counts = [p.prefix_sum(x == letter) for letter in "ab"]
    p.output(test(*counts))
    for word in WORDS:
        prefixes = [word[: t + 1] for t in range(len(word))]
        right = [int(test(w.count("a"), w.count("b"))) for w in prefixes]
        assert said(p, word) == right


def test_flags_are_joined() -> None:
    p = krohn.program("abc")
    x = p.token()
    p.output(((x == "a") | (x == "b")) & ~(x == "b"))
    assert p.run("abc") == [1, 0, 0]


def test_sums_and_differences_may_be_negative() -> None:
    p = krohn.program("abc")
    x, t = p.token(), p.position()
    step = p.map({"a": 1, "b": -2, "c": 0, "": 0}.__getitem__, x)
    p.output(p.prefix_sum(step) - t + 1)
    assert p.run("abac") == [1, -2, -2, -3]


def test_a_function_may_return_anything() -> None:
    p = krohn.program("ab")
    p.output(p.map(lambda a, t: (a, t > 1), p.token(), p.position()))
    assert p.run("ab") == [("a", False), ("b", True)]


def test_where_joins_names_and_numbers_of_one_kind_only() -> None:
    p = krohn.program("ab")
    x = p.token()
    p.output(p.where(x == "a", x, p.shift(x)))
    assert p.run("aab") == ["a", "a", "a"]
    q = krohn.program("ab")
    q.output(q.where(q.token() == "a", q.token(), q.position()))
    with pytest.raises(ProgramError, match="numbers and names"):
        q.run("ab")


def test_where_and_select_take_constants() -> None:
    p = krohn.program("ab")
    is_a = p.token() == "a"
    p.output(p.where(is_a, -1, p.position()), p.select(is_a, "b", p.token()))
    assert p.run("aba") == [(-1, "a"), (2, "b"), (-1, "a")]
    assert krohn.compile(p, 4).proof is not None


@pytest.mark.parametrize("call", ["where", "select"])
def test_what_belongs_to_another_function_is_refused_by_the_call_that_took_it(
    call: str,
) -> None:
    p, q = krohn.program("ab"), krohn.program("ab")
    for flag, x in ((p.token() == "a", q.token()), (1, p.token())):
        with pytest.raises(ProgramError, match=rf"p\.{call} takes channels of its own"):
            getattr(p, call)(flag, x, x)


@pytest.mark.parametrize(
    ("positions", "right"), [((0, 2), ["", "b", "b"]), ((3, 1), ["c", "a", "c"])]
)
def test_a_position_that_is_not_there_is_before_the_first_letter(
    positions: tuple[int, int], right: list[str]
) -> None:
    p = krohn.program("abc")
    t = p.position()
    at = p.map(lambda t: positions[t % 2 == 0] if t < 3 else positions[t == 4] or 2, t)
    p.output(p.at_anywhere(p.token(), at))
    assert p.run("abc") == right


def test_the_value_before_the_first_letter_can_be_said() -> None:
    p = krohn.program("ab")
    p.output(p.shift(p.map(lambda a: a == "a", p.token(), bos=1)))
    assert p.run("bba") == [1, 0, 0]
    q = krohn.program("ab")
    flag = q.shift(q.token()) == "a"  # 0 before the first letter, and later
    q.output(q.shift(q.map(lambda f: 1 - f, flag, bos=0)))
    assert q.run("bba") == [0, 1, 1]


def here() -> int:
    """The line of the caller."""
    return inspect.stack()[1].lineno


def test_errors_name_the_line_and_the_channel() -> None:
    p = krohn.program("abc")
    x = p.token()
    line = here() + 1
    bad = p.earliest(x, p.position())
    p.output(bad)
    where = rf"test_sequence_functions\.py:{line}: channel 'earliest1' \(p\.earliest\)"
    with pytest.raises(ProgramError, match=where):
        p.run("abc")
    with pytest.raises(KrohnError, match=where):
        krohn.compile(p, length=4)


def test_a_function_that_fails_says_for_what() -> None:
    p = krohn.program("abc")
    p.output(p.map(lambda a: {"a": 1}[a], p.token(), bos=0))
    with pytest.raises(ProgramError, match=r"fails for \('b'\): KeyError"):
        p.run("a")


def test_what_is_no_letter_or_value_is_refused() -> None:
    p = krohn.program("abc")
    x = p.token()
    p.output(x == "d")
    with pytest.raises(ProgramError, match="'d' is no value"):
        p.run("a")
    with pytest.raises(ProgramError, match="different from one another"):
        krohn.program("aba")
    with pytest.raises(ProgramError, match="not a letter of"):
        krohn.program("ab").run("abc")


def test_channels_have_no_truth_value_and_belong_to_one_function() -> None:
    p, q = krohn.program("ab"), krohn.program("ab")
    with pytest.raises(ProgramError, match="no truth value"):
        bool(p.token() == "a")
    with pytest.raises(ProgramError, match="its own function"):
        p.prefix_sum(q.token() == "a")
    with pytest.raises(ProgramError, match="no output"):
        p.run("ab")


def test_outputs_must_be_shown_differently() -> None:
    p = krohn.program("ab")
    p.output(p.token(), show=lambda a: "same")
    with pytest.raises(ProgramError, match="shown as 'same'"):
        p.run("ab")


def test_too_many_outputs_are_refused() -> None:
    p = krohn.program("ab")
    p.output(p.position(), p.prefix_sum(p.position()))
    with pytest.raises(ProgramError, match="different outputs"):
        p.realise(64)
