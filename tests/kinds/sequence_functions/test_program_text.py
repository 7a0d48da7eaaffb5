"""Sequence functions as text: as from Python, as on the pages; each mistake has a line."""

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import krohn
from krohn.cli import application
from krohn.kinds.sequence_functions.source import (
    ProgramError,
    SequenceFunction,
    parse,
    program,
)
from krohn.program.word_texts import split_letters

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
    one, other = (f.realise(9).to_wire() for f in (written, by_python()))
    assert one == other
    assert written.run("abcca") == by_python().run("abcca")


def test_the_example_finds_majorities() -> None:
    example = Path(__file__).parents[3] / "examples" / "majority.program"
    function = parse(example.read_text(), example.name)
    assert function.run("abbaa") == [1, 0, 0, 0, 1]


def test_a_text_takes_means_and_the_best() -> None:
    text = HEAD + 'r = map(x, {"a": 2, "b": 0, "c": 1, "": 0})\n'
    both = 'best(x, x, x, r, "!="), mean(r, x, x, "<=") >= 0.5'
    written = parse(f"{text}output {both}", "means.program")
    assert written.run("bcab") == [("", 0), ("b", 1), ("c", 1), ("a", 1)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('y = best(x, x, x, x, "~")', "'~' is no way to suit"),
        ("y = mean(x == 'a', x)", "a key and a query, or neither"),
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
        parse(HEAD + line, "wrong.program").realise(4)
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
        parse(HEAD + line, "wrong.program").realise(4)


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


ROOT = Path(__file__).parents[3]
PAGES = (
    ROOT / "README.md",
    ROOT / "docs/kinds/sequence_functions.md",
    *sorted((ROOT / "docs/how-to").glob("*.md")),
)
TEXT = "".join(page.read_text() for page in PAGES)
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
EXAMPLES = [block for block in BLOCKS if "krohn.program(" in block]


def checked(line: str, told: dict[str, Any]) -> None:
    """Run a line and hold its value against the comment behind it."""
    code, _, said = line.partition("  # ")
    if said.startswith("ProgramError"):
        with pytest.raises(ProgramError) as found:
            exec(compile(code, "sequence_functions.md", "exec"), told)
        wanted = re.escape(said.removeprefix("ProgramError: ")).replace("…", ".*")
        wanted = re.sub(r"functions\\.md:\d+", r"functions\\.md:\\d+", wanted)
        assert re.fullmatch(wanted, str(found.value)), str(found.value)
    elif said.startswith("["):
        shown = said[: said.index("]") + 1]
        assert eval(code, told) == eval(shown), line
    else:
        exec(compile(line, "sequence_functions.md", "exec"), told)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("example", EXAMPLES)
def test_it_runs_and_prints_what_is_said(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told: dict[str, Any] = {}
    exec("import krohn", told)
    for line in filter(str.strip, example.splitlines()):
        checked(line, told)


DIGITS = "0123456789"


@pytest.mark.parametrize(
    ("text", "alphabet", "letters"),
    [
        ("0110", DIGITS, ["0", "1", "1", "0"]),
        ("0 1 10", [*DIGITS, "10"], ["0", "1", "10"]),
        ("1,0", DIGITS, ["1", "0"]),
        ("a,b", ["a", ",", "b"], ["a", ",", "b"]),
        ("17 2", DIGITS, ["17", "2"]),
        ("17,2", DIGITS, ["17", "2"]),
        ("17", [*DIGITS, "10"], ["17"]),
        ("ab ba", "ab", ["a", "b", "b", "a"]),
        ("ab|ba", "ab|", ["a", "b", "|", "b", "a"]),
        ("ab ba", ["a", "b", "ab"], ["ab", "ba"]),
        ("ab ba", ["a", "b", "<sep>"], ["a", "b", "b", "a"]),
        ("ax", "ab", ["a", "x"]),
        ("ax b", "ab", ["ax", "b"]),
        ("", "ab", []),
    ],
)
def test_letters_are_read_as_they_are_meant(
    text: str, alphabet: list[str], letters: list[str]
) -> None:
    assert split_letters([text], set(alphabet).__contains__, alphabet) == letters


SOURCES: dict[str, dict[str, Any]] = {
    "C2": {"length": 4},
    "ShortLIS3": {},
    "GoldenMean": {"length": 4},
    "LCS2,2": {},
    "MatMul2,2@3": {"length": 4},
    "program:reverse": {"length": 4},
    "Arithmetic3,11": {},
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", SOURCES)
def test_numbers_are_never_split(name: str, tmp_path: object) -> None:
    path = f"{tmp_path}/m.safetensors"
    krohn.compile(name, proof=False, **SOURCES[name]).save(path)
    found = CliRunner().invoke(application(), ["run", path, "17 2"])
    assert found.exit_code != 0
    assert "17" in str(found.exception)
