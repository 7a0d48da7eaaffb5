"""Rewriting systems as text."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from krohn.kinds.rewriting.source import (
    find_by_name,
    usual_length,
)
from krohn.kinds.rewriting.source_derivation import after, text_of
from krohn.kinds.rewriting.source_examples import EXAMPLES
from krohn.kinds.rewriting.source_text import (
    random_line,
    read_text,
)
from krohn.kinds.rewriting.statement import Rewriting
from krohn.program.errors import Refused


def ends_with(system: Rewriting, word: str) -> str:
    line = tuple(map(system.letters.index, word))
    while (following := after(system, line)) != line:
        line = following
    return "".join(system.letters[a] for a in line)


def test_sorting_sorts() -> None:
    system = find_by_name("Sorting5")
    assert system is not None
    for word in product("abcd", repeat=5):
        assert ends_with(system, "".join(word)) == "".join(sorted(word))


def test_what_is_left_of_brackets_tells_whether_they_are_balanced() -> None:
    system = find_by_name("Brackets6")
    assert system is not None
    for word in product("()<>", repeat=6):
        stack = list[str]()
        for letter in word:
            if stack and stack[-1] + letter in ("()", "<>"):
                stack.pop()
            else:
                stack.append(letter)
        assert ends_with(system, "".join(word)) == "".join(stack)


def test_the_machine_counts() -> None:
    system = find_by_name("Counter5")
    assert system is not None
    line, found = tuple(map(system.letters.index, "0000>")), []
    for _ in range(200):
        if system.letters[line[-1]] == ">":
            found.append(int("".join(system.letters[a] for a in line[:-1]), 2))
        line = after(system, line)
    assert found[:16] == list(range(16))
    assert set(found[16:]) <= {0}


def test_names_and_contexts_are_read() -> None:
    system = read_text(
        "letters a 0..2\nset d = 0..2\nrule a [ x:d y:d ] a|= -> y x", "x"
    )
    line = tuple(map(system.letters.index, "a12"))
    assert "".join(system.letters[a] for a in after(system, line)) == "a21"
    line = tuple(map(system.letters.index, "12a"))
    assert after(system, line) == line


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("rule a -> a", "line 1: a is no letter"),
        ("letters a\nrule a", "line 2: a rule is said as"),
        ("letters a\nrule a -> a a", "line 2: the rule makes a line longer"),
        ("letters a\n\nrule a = a -> a", "line 3: the rule reads = at place 2, which"),
        ("letters a\nrule [ a = ] -> a", "line 2: the rule reads = at place 2, which"),
        ("letters a\nfoo", "line 2: a line begins with"),
        ("letters a\nrule [ a -> a", "line 2: the replaced letters"),
        ("letters a b\nrule x:a x:b -> x", "line 2: x is read twice"),
        ("letters a b\nrule x:a|= a x -> a", "line 2: = is read twice as x"),
        ("letters a b\nrule x x:a -> a", "line 2: x is no letter"),
        ("letters a =", "line 1: a letter cannot be called ="),
        ("letters a\nlongest many", "line 2: longest takes one number"),
        ("letters a\nset a = a", "line 2: a has a meaning already"),
        ("letters a\nrule -> a", "line 2: the rule reads nothing"),
        ("", "no line says a rule"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        read_text(text, "x")


def test_a_file_can_have_another_longest_line(tmp_path: Path) -> None:
    path = tmp_path / "my.rules"
    path.write_text("letters a\nlongest 3\nrule a a -> a\n")
    assert (one := find_by_name(str(path))) is not None
    assert (other := find_by_name(f"{path}:n=7")) is not None
    assert (one.name, one.longest, other.longest) == ("my", 3, 7)


def test_a_name_that_is_said_again_is_the_same_letter() -> None:
    """Two equal ones become one, and equal ones around a letter take it away."""
    head = "letters a b c\nset low = a b\n"
    system = read_text(head + "rule x:low x -> x\nrule y:any [ c ] y ->", "equal")
    assert len(system.rules) == 2 + 3
    assert system.lines == (3, 3, 4, 4, 4)
    for word, left in (
        ("aabbcc", "abcc"),
        ("acab", "ab"),
        ("ccc", "cc"),
        ("abc", "abc"),
    ):
        assert ends_with(system, word) == left


@pytest.mark.slow
def test_texts_that_shrink_have_an_end() -> None:
    for name in ("Brackets6", "Brackets7"):
        system = find_by_name(name)
        assert system is not None
        length, rng = usual_length(system), np.random.default_rng(0)
        assert length is not None
        lines = [random_line(system, rng, 9) for _ in range(40)]
        sizes = [len(text_of(system, line, 10_000)) for line in lines]
        assert max(sizes) <= length + 1
    counter = find_by_name("Counter6")
    assert counter is not None
    assert usual_length(counter) is None


def test_every_example_has_a_name() -> None:
    assert all(find_by_name(name) for name in EXAMPLES)
