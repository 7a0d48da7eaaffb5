"""Sequence functions as text: the same as from Python; each mistake names its line."""

from pathlib import Path

import pytest

from krohn.sources.sequence_functions import (
    ProgramError,
    SequenceFunction,
    parse,
    program,
)

HEAD = "letters a b c\nx = token()\n"


def by_python() -> SequenceFunction:
    p = program("abc", "flags")
    x, t = p.token(), p.position()
    kind = p.named("kind", p.map(lambda v: 0 if v == "a" else 2, x, bos=1))
    p.output(p.where((x == "b") | ~(kind < 1), p.shift(kind, 2), t - 1), t + kind)
    return p


BY_TEXT = (
    HEAD
    + """
t = position()
kind = map(x, {"a": 0, "b": 2, "c": 2}, bos=1)  # '' has no row
output where((x == "b") | ~(kind < 1), shift(kind, by=2), t - 1), t + kind
"""
)


def test_a_text_says_what_python_says() -> None:
    written = parse(BY_TEXT, "flags.program")
    assert written.name == "flags"
    one, other = (f.realised(9).to_wire() for f in (written, by_python()))
    assert one == other
    assert written.run("abcca") == by_python().run("abcca")


def test_the_example_finds_majorities() -> None:
    example = Path(__file__).parents[2] / "examples" / "majority.program"
    function = parse(example.read_text(), example.name)
    assert function.run("abbaa") == [1, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("y = q", "no channel 'q' .there are: x"),
        ("y = x and x", "no part of a program"),
        ("y = 1 < x < 2", "no part of a program"),
        ("y = x.line", "no part of a program"),
        ("y = [c for c in x]", "no part of a program"),
        ("y = (lambda: x)()", "no part of a program"),
        ("y = True", "no part of a program"),
        ('y = __import__("os")', "there is no '__import__'"),
        ("y = run(x)", "there is no 'run'"),
        ("y = shift()", "missing 1 required"),
        ("y = shift(x, far=1)", "unexpected keyword"),
        ("y = 5", "5 is no channel"),
        ("y = map(x)", "a map ends with its table"),
        ("y = " + "(" * 300, "is no expression"),
        ("y = " + "~" * 1900 + "x", "nested too deeply"),
        ("y = " + "x + " * 600 + "x", "more than 2000 characters"),
        ("y x", "is neither"),
        ("x = token()", "'x' has a meaning already"),
        ("output x\ny = x", ":4: nothing may follow"),
    ],
)
def test_a_mistake_names_its_line(line: str, reason: str) -> None:
    with pytest.raises(ProgramError, match=reason) as found:
        parse(HEAD + line, "wrong.program").realised(4)
    assert str(found.value).startswith("wrong.program")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("output prefix_sum(x)", "wrong.program:3: channel 'prefix_sum1'"),
        ('output map(x, {"a": 1})', "the table has no row for 'b'"),
        ("output shift(x, -1)", "wrong.program:3"),
    ],
)
def test_a_channel_that_cannot_be_names_its_line(line: str, reason: str) -> None:
    with pytest.raises(ProgramError, match=reason):
        parse(HEAD + line, "wrong.program").realised(4)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "begins with: letters"),
        ("x = token()", "x.program:1: a program begins with"),
        ("\n\nletters", "x.program:3: a program begins with"),
        ("letters a a", "twice"),
        (HEAD, "has no output"),
    ],
)
def test_a_text_without_a_beginning_or_an_end_is_refused(
    text: str, reason: str
) -> None:
    with pytest.raises(ProgramError, match=reason):
        parse(text, "x.program")
