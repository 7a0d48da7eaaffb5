"""Counting programs as text: what signs mean, and what is refused."""

import numpy as np
import pytest

from krohn.kinds.counting.source import (
    CATALOGUE,
    CountingProgram,
    find_by_name,
    function,
    parse,
    write_program,
)
from krohn.program.errors import Refused


def says(line: str, word: str, letters: str = "abc") -> list[bool]:
    """The values of a formula after each letter of a word."""
    program = parse(f"letters {' '.join(letters)}\nf := {line}", "f.crasp")
    found: list[bool] = program.accepts(
        np.array([[letters.index(c) for c in word]])
    ).tolist()[0]
    return found


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("Q_a", lambda w: w[-1] == "a"),
        ("not Q_a(i)", lambda w: w[-1] != "a"),
        ("Q_a or Q_b and Q_c", lambda w: w[-1] == "a"),
        ("¬Q_a ∧ (Q_b ∨ Q_c)", lambda w: w[-1] != "a"),
        ("#[j <= i] Q_a(j) >= 2", lambda w: w.count("a") >= 2),
        ("#[j < i] Q_a(j) = 1", lambda w: w[:-1].count("a") == 1),
        ("# Q_a = # Q_b", lambda w: w.count("a") == w.count("b")),
        ("2 * #Q_a - 1 ≤ #Q_c", lambda w: 2 * w.count("a") - 1 <= w.count("c")),
        ("-#Q_a != -2", lambda w: w.count("a") != 2),
        ("max(#Q_a, #Q_b) > 2", lambda w: max(w.count("a"), w.count("b")) > 2),
        ("min(#Q_a, 1) < #Q_c", lambda w: min(w.count("a"), 1) < w.count("c")),
        ("(Q_a ? #Q_a : 0 - #Q_b) >= 1", lambda w: w[-1] == "a"),
        ("#[j <= i] (# Q_a > 0) > 0", lambda w: "a" in w),
        ("true", lambda w: True),
        ("3 > 4", lambda w: False),
    ],
)  # fmt: skip
def test_a_formula_means_what_it_says(line: str, meaning: object) -> None:
    for word in ("abcabc", "aabbcc", "ccbbaa", "cabbac", "aaabcb"):
        wanted = [meaning(word[: n + 1]) for n in range(len(word))]  # type: ignore[operator]
        assert says(line, word) == wanted, word


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_program_is_written_and_read_again(name: str) -> None:
    program = find_by_name(name)
    assert parse(write_program(program), f"{name}.crasp") == program


def test_a_letter_may_have_any_name_in_quotes() -> None:
    program = parse(
        'letters push "pop" ( "a+b"\nx := Q_"push" or Q_pop or Q_(', "x.crasp"
    )
    assert program.letters == ("push", "pop", "(", "a+b")
    assert program == parse(
        'letters "push" pop "(" a+b\nx := Q_push or Q_"pop" or Q_"("', "x.crasp"
    )
    odd = parse(
        'letters "\\"" "pop x" , \'\nx := Q_"pop x" or Q_"\\"" or Q_, or Q_\'',
        "x.crasp",
    )
    assert odd.letters == ('"', "pop x", ",", "'")
    assert parse(write_program(odd), "x.crasp") == odd


@pytest.mark.parametrize(
    "letters", ["'a b' c", "a, b", '"a"b c', '"a', "'a', 'b'", '"" b']
)
def test_letters_that_may_be_meant_otherwise_are_refused(letters: str) -> None:
    with pytest.raises(Refused, match=r"^x\.crasp:1: .*(write|needs a name)"):
        parse(f"letters {letters}\nx := true", "x.crasp")


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("#[j <= i] Q_a(i) > 0", r"in a count #\[j <= i\] write Q_a\(j\)"),
        ("#[j <= i] (Q_b(i) and Q_a(j)) > 0", r"write Q_b\(j\)"),
        ("#[j < i] (#Q_a(i) = 1 or Q_b( i )) > 0", r"write Q_b\(j\)"),
        ("Q_a(j) and Q_b", r"outside of a count #\[j <= i\] write Q_a\(i\)"),
        ("#[j <= i] Q_a(j) > 0 and Q_b(j)", r"write Q_b\(i\)"),
    ],
)
def test_places_are_those_of_the_notation(line: str, instead: str) -> None:
    with pytest.raises(Refused, match=instead):
        parse(f"letters a b\nf := {line}", "x.crasp")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "begins with: letters"),
        ("x := Q_a", "begins with: letters"),
        ("letters a a\nx := Q_a", "twice"),
        ('letters a "a"\nx := Q_a', "twice"),
        ("letters a\nA := #Q_a", "must be a formula"),
        ("letters a", "must be a formula"),
        ("letters a\nx := Q_b", "x.crasp:2: there is no letter 'b'"),
        ("letters a\nx := a", "the letter is Q_a"),
        ("letters a\nx := Q_a\nx := Q_a", "x.crasp:3: 'x' has a meaning already"),
        ("letters a\nx := #Q_a and Q_a", "a count stands where a formula"),
        ("letters a\nx := Q_a > 2", "a formula stands where a count"),
        (
            "letters a\nx := (Q_a",
            "x.crasp:2:10: expected an operator or ')', found the end of the line",
        ),
        ("letters a\nx := Q_a Q_a", "an operator or the end of the line, found 'Q_a'"),
        ("letters a\nx := Q_a $", "x.crasp:2:10: '$' is nothing of the language"),
        ("letters a\nx := #Q_a < 2 < 3", "join comparisons by 'and'"),
        ("letters a\nx = Q_a", "expected '(i)' or ':=', found '='"),
        ("letters a\nx :=", "expected a formula or a count, found the end of the"),
        ("letters a\nx := #Q_a > 99999999999", "too large"),
        ("letters a\nx := " + "(" * 900 + "Q_a" + ")" * 900, "nested too deeply"),
        ("letters a\nx := " + "#" * 1900 + "Q_a > 0", "nested too deeply"),
        ("letters a\nx := " + " + ".join(["max(#Q_a, 1)"] * 12) + " > 3", "cases"),
    ],
)
def test_what_is_no_program_is_refused_in_one_line(text: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        parse(text, "x.crasp")
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_is_not_needed_is_left_out() -> None:
    program = parse("letters a b\nA := #Q_a > 3\nB := #Q_b > 3", "x.crasp")
    assert len(program.formulas) == 2
    assert isinstance(program, CountingProgram)
    assert program.depth == 1


def test_names_are_kept_in_text_program_and_network() -> None:
    text = """letters a b
A := #[j <= i] Q_a
B := #[j <= i] Q_b
ahead := A > 2 * B + 1
never := #[j <= i] (not ahead) = 0
"""
    program = parse(text, "named.crasp")
    assert write_program(program) == text.replace("A > 2 * B + 1", "A >= 2 * B + 2")
    channels = function(program).realise(5).program.operations
    assert {"A-2*B", "ahead", "#¬ahead", "never"} <= set(channels)
