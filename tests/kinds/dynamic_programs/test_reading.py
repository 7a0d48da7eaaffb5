"""Texts of dynamic programs: what the words mean, and which line is refused for what."""

from collections.abc import Sequence
from itertools import product
from re import escape
from typing import Any

import numpy as np
import pytest
from work import calls_at_most

import krohn
from krohn.kinds.dynamic_programs.source import (
    find_by_name,
    read_text,
)
from krohn.kinds.dynamic_programs.source_examples import CATALOGUE
from krohn.program.errors import Refused

HEAD = "size n = 3\ninput x[1..n] of 0..4\ninput w[1..n] of 'a', 'b'\n"


def answer(text: str, word: Sequence[int | str]) -> int:
    """The answer of a text to a word of numbers, with signs between inputs."""
    chain = read_text(text, "test").chain_of_thought
    prompt = [chain.tokens.index(str(x)) for x in word]
    prompt.append(chain.tokens.index("<sep>"))
    found = chain.continue_prompts(np.array([prompt]))[0]
    return int(chain.tokens[found[chain.answer - 1]])


def value(said: str, x: list[int]) -> int:
    """The value of an expression of three numbers."""
    text = f"input x[1..3] of 0..4\ntable A[i in 1..1]\nA[i] = {said}\nanswer A[1]"
    return answer(text, x)


EXPRESSIONS = [
    ("x[1] + 2 * x[2] - x[3]", lambda a, b, c: a + 2 * b - c),
    ("x[1] * x[2] * x[3]", lambda a, b, c: a * b * c),
    ("(x[1] - 2) * (x[2] - 3)", lambda a, b, c: (a - 2) * (b - 3)),
    ("min(x[1], x[2], x[3])", lambda a, b, c: min(a, b, c)),
    ("max(x[1], 2, x[3])", lambda a, b, c: max(a, 2, c)),
    ("sum(x[1], x[2])", lambda a, b, c: a + b),
    ("sum(x[i] for i in 1..3 if x[i] > 1)", lambda *x: sum(a for a in x if a > 1)),
    ("min(7, x[i] for i in 1..3 if x[i] != 0)", lambda *x: min([7, *filter(None, x)])),
    (
        "max(-1, x[i] - 3 for i in 1..3 if x[i] < 4)",
        lambda *x: max(-1, *(a - 3 for a in x if a < 4), -1),
    ),
    ("if x[1] < x[2] then x[3] else -x[1]", lambda a, b, c: c if a < b else -a),
    ("if x[1] == 3 then 5 else 0", lambda a, b, c: 5 * (a == 3)),
    ("x[1] <= x[2] and not x[2] >= x[3]", lambda a, b, c: int(a <= b and not b >= c)),
    ("x[1] == x[2] or x[2] != x[3]", lambda a, b, c: int(a == b or b != c)),
    ("7 // 2 + 7 % 4 + x[1]", lambda a, b, c: 6 + a),
    ("(x[1] + x[2]) // 3 + x[3]", lambda a, b, c: (a + b) // 3 + c),
    ("(x[1] - x[2]) // 2", lambda a, b, c: (a - b) // 2),
    ("(x[1] - 2 * x[2]) % 3 * x[3]", lambda a, b, c: (a - 2 * b) % 3 * c),
    ("(x[1] - x[2]) // -3", lambda a, b, c: (a - b) // -3),
    ("(x[1] - x[2]) % -3", lambda a, b, c: (a - b) % -3),
    ("x[1] // 5 + (x[2] + 10) % 20 + x[3] % 1", lambda a, b, c: b + 10),
    (
        "(x[1] // 2) % 2 == 1 and x[2] % 2 == 0",
        lambda a, b, c: int(a > 1 and b % 2 == 0 and a < 4),
    ),
    (
        "sum(x[i] for i in 1..3 if x[i] > 1 and i > 1)",
        lambda a, b, c: b * (b > 1) + c * (c > 1),
    ),
    ("x[1] == 1 or 1 == 2", lambda a, b, c: int(a == 1)),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("said", "meant"), EXPRESSIONS)
def test_expressions_mean_what_they_say(said: str, meant: object) -> None:
    assert callable(meant)
    for x in np.random.default_rng(0).integers(0, 5, size=(12, 3)).tolist():
        assert value(said, x) == meant(*x)


def test_a_table_of_numbers_is_read_at_an_index_of_the_input() -> None:
    text = (
        "let t[0..4, 1..2] = [[3, 1], [0, 7], [-2, 5], [4, 4], [9, -9]]\n"
        "input x[1..2] of 0..4\ntable A[i in 1..1]\n"
        "A[i] = t[x[1], 2] - t[x[2], i]\nanswer A[1]"
    )
    second, first = [1, 7, 5, 4, -9], [3, 0, -2, 4, 9]
    for a, b in product(range(5), repeat=2):
        assert answer(text, [a, b]) == second[a] - first[b]


def test_an_input_without_indices_is_one_number() -> None:
    text = "input x[1..2] of 0..4\ninput k of 1..2\ntable A[i in 1..2]\n"
    for a, b, k in product(range(5), range(5), (1, 2)):
        told = text + "A[i] = x[i] * k\nanswer A[k] + x[k]"
        assert answer(told, [a, b, "|", k]) == (k + 1) * (a, b)[k - 1]
    for wrong, reason in (
        ("A[k] = 1", "line 4, column 3: this number must not depend on the input"),
        ("A[i] = k[1]", "line 4, column 8: A[1]: 'k' has 0 indices, not 1"),
        ("A[i] = sum(x[k] for k in 1..2)", "'k' is the name of a number"),
    ):
        with pytest.raises(Refused, match=escape(reason)):
            read_text(f"{text}{wrong}\nanswer A[1]", "test")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("sum(x[i] == x[1] for i in 1..3)", lambda a, b, c: 1 + (a == b) + (a == c)),
        ("sum(x[i] - x[2] for i in 1..3)", lambda a, b, c: a + c - 2 * b),
        (
            "max(x[i] * (x[i] < x[3]) for i in 1..3)",
            lambda a, b, c: max(a * (a < c), b * (b < c)),
        ),
        (
            "sum(if x[i] == x[2] then x[i] else x[1] for i in 1..3)",
            lambda a, b, c: a + b + (c if b == c else a),
        ),
        ("x[1] * (x[2] < x[3])", lambda a, b, c: a * (b < c)),
        ("(x[1] < x[2]) * (x[3] - 2)", lambda a, b, c: (a < b) * (c - 2)),
        (
            "((x[1] > 2) + (x[2] > x[1])) * x[3]",
            lambda a, b, c: ((a > 2) + (b > a)) * c,
        ),
    ],
)
def test_numbers_read_twice_and_products_with_conditions_are_proved(
    said: str, meant: object
) -> None:
    assert callable(meant)
    for x in product(range(5), repeat=3):
        assert value(said, list(x)) == meant(*x)
    text = f"input x[1..3] of 0..4\ntable A[i in 1..1]\nA[i] = {said}\nanswer A[1]"
    proof = krohn.compile(read_text(text, "same")).proof
    assert proof is not None
    assert proof.verdict == "verified"


@pytest.mark.slow
def test_products_of_negative_numbers_have_no_tokens_for_more_than_they_can_be() -> (
    None
):
    text = "input x[1..2] of -3..4\ntable A[i in 1..1]\nA[i] = x[1] * x[2]\nanswer A[1]"
    for a, b in product(range(-3, 5), repeat=2):
        assert answer(text, [a, b]) == a * b
    tokens = read_text(text, "test").chain_of_thought.tokens
    assert tokens == (*map(str, range(-12, 17)), "<sep>", "<eos>")


def test_letters_are_numbered_by_a_table_and_limits_may_differ_by_cell() -> None:
    text = (
        "let place['a'..'c'] = [1, 2, 3]\ninput s[1..3] of 'a'..'c'\n"
        "table C[i in 0..3, b in 1..3] in 0..i\nC[0, b] = 0\n"
        "C[i, b] = C[i-1, b] + (place[s[i]] == b)\nanswer C[3, place[s[1]]]"
    )
    chain = read_text(text, "test").chain_of_thought
    for word in product("abc", repeat=3):
        prompt = [chain.tokens.index(x) for x in (*word, "<sep>")]
        found = chain.continue_prompts(np.array([prompt]))[0]
        assert chain.tokens[found[chain.answer - 1]] == str(word.count(word[0]))


@pytest.mark.slow
def test_cells_of_a_group_stand_in_the_order_in_which_they_read_each_other() -> None:
    """D reads P and Q at its own place, and P reads Q, though D is the first of them."""
    text = (
        "input x[1..3] of 0..4\ntable D, P, Q[i in 0..3]\nD[0] = 0\nP[0] = 0\nQ[0] = 0\n"
        "P[i] = Q[i] + x[i]\nQ[i] = max(Q[i-1], x[k] for k in 1..i) + D[i-1]\n"
        "D[i] = max(P[i], Q[i] - 2)\nanswer D[3]"
    )
    names = read_text(text, "test").names[4:-3]
    written = [name for name in names if "so far" not in name]
    assert written == [f"{table}[{i}]" for i in (1, 2, 3) for table in "QPD"]
    for x in product(range(5), repeat=3):
        d = q = 0
        for i in range(3):
            q = max(q, *x[: i + 1]) + d
            d = max(q + x[i], q - 2)
        assert answer(text, list(x)) == d


def test_a_group_has_rows_by_what_its_order_says() -> None:
    text = HEAD + (
        "table A, B[i in 1..2, j in 1..2] by i + j\nB[i, j] = A[i, j] + x[i]\n"
        "A[i, j] = x[i] + x[j]\nanswer A[1, 1]"
    )
    names = read_text(text, "test").names[8:-3]
    cells = [[(1, 1)], [(1, 2), (2, 1)], [(2, 2)]]
    wanted = [[f"{t}[{i}, {j}]" for i, j in row for t in "AB"] for row in cells]
    assert names == [*wanted[0], "", *wanted[1], "", *wanted[2], ""]


def test_lines_that_define_no_cell_are_known() -> None:
    text = HEAD + (
        "table A[i in 1..n]\nA[1] = 4\nA[i] = x[i] + 1\nA[n] = 3\nA[7] = 2\nanswer A[1]"
    )
    assert read_text(text, "test").idle_lines == [7, 8]
    assert read_text(text, "test", (1,)).idle_lines == [6, 7, 8]


def test_constants_and_copies_are_not_written() -> None:
    text = HEAD + (
        "table A[i in 1..n]\nA[1] = 4\nA[2] = x[2]\nA[3] = A[1] + A[2]\nanswer A[3]"
    )
    program = read_text(text, "test")
    assert program.names[8:] == ["A[3]", "", "answer", ""]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("table A[i in 1..n]\nA[i] = A[i]", "line 5, column 8: A[1] reads itself"),
        (
            "table A[i in 1..n]\nA[i] = A[i % n + 1] + x[i]",
            "line 5, column 8: A[1] reads A[2], which reads A[3], which reads A[1]: a "
            "circle",
        ),
        (
            "table A[i in 1..n]\nA[3] = x[1] + 0\nA[i] = A[i+1] + 1",
            "line 6, column 8: A[1] reads A[2], which is computed later",
        ),
        (
            "table A[i in 1..n]\nA[i] = A[i-1] + x[i]",
            "line 5, column 8: A[1]: A[0] is outside",
        ),
        (
            "table A[i in 1..n]\nA[i] = x[i+1] + 1",
            "line 5, column 8: A[3]: x[4] is outside",
        ),
        (
            "table A[i in 1..n] in 0..4\nA[i] = x[i] + i\nanswer A[1]",
            "A[1] can be 1 to 5, and the table",
        ),
        ("table A[i in 1..n]\nA[1] = 0", "line 4: no line defines A[2]"),
        ("table A[i in 1..n]\nA[i] = y[i]", "the table 'y' is not there"),
        ("table A[i in 1..n]\nA[i] = k", "line 5, column 8: A[1]: there is no 'k'"),
        (
            "table A[i in 1..n]\nA[i] = B[i]\ntable B[i in 1..n]\nB[i] = 1",
            "line 5, column 8: A[1]: the table 'B' is not there yet: its line 'table B[…]' "
            "is line 6, which is later; tables that read each other are filled together: "
            "table A, B[…]",
        ),
        (
            "table A[i in 1..n]\nA[i] = B[i]\nB[i] = 1",
            "the table 'B' is not there yet: its line 'table B[…]' is missing",
        ),
        (
            "table A, B, C[i in 1..n]\nA[i] = B[i]\nB[i] = C[i]\nC[i] = B[i] + x[i]",
            "line 6, column 8: B[1] reads C[1], which reads B[1]: a circle",
        ),
        (
            "table A, B[i in 1..n]\nA[i] = B[i]\nB[n] = 1\nB[i] = A[i+1] + 1",
            "line 7, column 8: B[1] reads A[2], which is computed later",
        ),
        (
            "table A[i in 0..19]\nA[i] = A[(i + 1) % 20]",
            "A[0] reads A[1], which reads A[2], which reads A[3], which reads A[4], which "
            "reads …, which reads A[17], which reads A[18], which reads A[19], which reads "
            "A[0]",
        ),
        ("table A, A[i in 1..n]\nA[i] = 1", "line 4: a table of a group is said twice"),
        ("table A, B[i in 1..n]\nA[i] = 1", "line 4: no line defines B[1]"),
        (
            "table A[i in 1..n]\nA[i] = max(2,\n  i % 0)",
            "line 6, column 3: A[1]: this expression divides by 0",
        ),
        (
            "table A[i in 1..n]\nA[i] = x[i] // 0",
            "line 5, column 8: A[1]: this expression divides by 0",
        ),
        (
            "table A[i in 1..n]\nA[i] = 7 % x[i]",
            "this expression divides by 0; if only some inputs lead to that, decide before",
        ),
        (
            "table A[i in 1..n]\nA[i] = x[i] * 999 // 2\nanswer A[1]",
            "line 5: A[1]: 0 to 3996 divided by 2 has over 1024 values",
        ),
        (
            "table A[i in 1..n]\nA[i] = 1 when x[i] > 2",
            "line 5, column 15: this number must not depend on the input",
        ),
        (
            "table A[i in 1..n]\nA[i] = x[x[i]]",
            "x[0] is outside of 'x'; where the input decides, a condition before can keep",
        ),
        (
            "table A[i in 1..n]\nA[i] = i // 0",
            "line 5, column 8: A[1]: this expression divides by 0",
        ),
        ("table A[i in 1..n]\nA[i] = w[i] + 1", "a letter, not a number"),
        ("table A[i in 1..n]\nA[i] = w[i] == 1", "a letter is compared with a number"),
        ("table A[i in 1..n]\nA[i] = w[i] < 'b'", "letters are equal or not"),
        ("table A[i in 1..n]\nA[i] = w[i] == 'c'", "'c' is a letter of no input"),
        ("table A[i in 1..n]\nA[i] = x[i] and 1", "a condition is 0 or 1"),
        ("table A[i in 1..n]\nA[i, i] = 0", "line 5: A has 1 indices"),
        (
            "table A[i in 1..n]\nA[i] = max(x[k] for k in 1..i-1)",
            "max of an empty list",
        ),
        (
            "table A[i in 1..n]\nA[i] = max(x[k] for k in 1..i if x[k] > 1)",
            "no number where no condition holds",
        ),
        (
            "table A[i in 1..n]\nA[i] = x[i] +",
            "line 5, column 14: expected a value, found the end of the line",
        ),
        ("table A[i in 1..n]\nA[i] = (x[i]", "line 5, column 8: the '(' stays open"),
        (
            "table A[i in 1..n]\nA[i] = (x[i]\nanswer A[1]",
            "line 6, column 1: expected an operator or ')', found 'answer'; the '(' of "
            "line 5 is still open",
        ),
        (
            "table A[i in 1..n]\nA[i] = x[i] ? 2",
            "line 5, column 13: '? 2' is nothing of the language",
        ),
        (
            "tabel A[i in 1..n]\nA[i] = 1",
            "line 4: no line begins with 'tabel' (table?)",
        ),
        ("table A[i in 1..n]\nA[i] = x[i] / 2", "whole division is written //"),
        ("table A[i in 1..n]\nA[i] = 2.5", "numbers are whole"),
        ("table A[i in 1..n]\nA[i] = least(i)", "functions are min, max, sum and abs"),
        ("table A[i in 1..n]\nA[i] = x[i, 1]", "'x' has 1 indices, not 2"),
        ("input y[1..2] of a..b", "letters stand in quotes"),
        ("table A[i in 1..n]\nA[i] = 1 2", "or the end of the line, found '2'"),
        ("table A[i in 1..n]\nA[i] = 1 < 2 < 3", "join comparisons by 'and'"),
        ("table A[i in 3..n-1]\nA[i] = 1", "line 4: the table has no cells"),
        (
            "table A[i in 1..n] in 0..i + 2\nA[i] = x[i] + 1\nanswer A[1]",
            "line 5: A[1] can be 1 to 5, and the table says 0..3",
        ),
        (
            "alphabet ab = 'a', 'b'\ntable A[i in ab]\nA[i] = 1",
            "line 5: an index runs over numbers, as 1..3; number letters by a table",
        ),
        (
            "table A[i in 1..n]\nA[i] = 1\nanswer A[w[1]]",
            "line 6, column 8: an index of 'A' is a number, not a letter; number letters",
        ),
        ("table n[i in 1..n]\nn[i] = 1", "'n' is said twice"),
        ("B[i] = 1", "line 4: there is no table 'B'"),
        ("size m = 3 in 4..5", "line 4: m is 3, not 4 to 5"),
        ("let t[1..2] = [1, 2, 3]", "line 4: there is no list of 2"),
        ("input y[1..0] of 0..1", "line 4: the input 'y' has 0 tokens"),
        ("answer x[1]\nanswer x[2]", "line 5: the answer is said twice"),
        (
            "table A[i in 1..n]\nA[i] = x[i] + 1",
            "no line says the answer; add: answer EXPRESSION",
        ),
        ("table A[i in 1..n]\nA[i] = x[i] * 9999\nanswer A[1]", "at most 2048 numbers"),
        ("input y[1..2] of '0', '1'\nanswer x[1]", "'0' is also another token"),
    ],
)
def test_the_line_that_is_wrong_is_named(text: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        _ = read_text(HEAD + text, "test").chain_of_thought
    assert reason in str(refused.value)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "text",
    [
        "size n = 999999999\ninput x[1..n] of 0..1",
        "input x[1..2] of 0..1\ntable A[i in 1..999999999]\nA[i] = x[1] + i",
        pytest.param(
            "input x[1..2] of 0..1\ntable A[i in 1..1]\n"
            "A[i] = sum(x[1] for k in 1..999999 for l in 1..999999)\nanswer A[1]",
            marks=pytest.mark.slow,
        ),
        "input x[1..2] of 0..999999999\ntable A[i in 1..1]\nA[i] = x[1] * x[2]",
        "input x[1..2] of 0..1\nanswer " + "(" * 500 + "x[1]" + ")" * 500,
        "answer " + "-" * 60_000 + "1",
        "answer " + "1 + " * 15_000 + "1",
        "answer " + "not " * 15_000 + "1",
        "answer " + "if 1 then " * 5000 + "1",
        "answer " + "[" * 30_000,
        "answer 9" + "0" * 5000,
        "answer 1" + " * 999999999" * 90,
        "let a = 1\n" * 20_000,
        "input x[1..2] of letters(999999999)",
        "input x[1..2] of 0..1\ntable A[i in 0..60]\nA[0] = x[1] + 0\n"
        "A[i] = A[i-1] + A[i-1]\nanswer A[60]",
        "input x[1..2] of 0..1\ntable A[i in 1..1]\nA[i] = "
        + "max(x[1], " * 25
        + "0"
        + ")" * 25
        + "\nanswer A[1]",
    ],
)
def test_hostile_texts_are_refused_at_once(text: str) -> None:
    with calls_at_most(10_000_000), pytest.raises(Refused):
        _ = read_text(text, "test").chain_of_thought


@pytest.mark.parametrize("given", [10**30, 3.5, "3", True, None, 999_999_999])
def test_sizes_that_a_file_states_are_whole_numbers(given: Any) -> None:
    with pytest.raises(Refused, match=r"line [12]: "):
        read_text(HEAD + "answer x[1]", "test", (), {"n": given})


def test_names_and_sizes() -> None:
    assert find_by_name("S5") is None
    assert find_by_name("EditDistance6") is not None
    for name in ("EditDistance0,3", "EditDistance1,2,3", "LCS8,8:depth=3", "LIS4:most"):
        with pytest.raises(Refused):
            find_by_name(name)
    path = CATALOGUE["LCS"]
    found = find_by_name(f"{path}:n=3,letters=2")
    assert found is not None
    assert found.name == "LCS3,8:letters=2"
