"""No pattern is another language in silence: it is right, remarked on, or refused."""

import random
import re

import pytest
from regexes import accepted, matched

from krohn.algebra.errors import MachineError
from krohn.algebra.formats import from_regex


def drawn(source: random.Random, depth: int) -> str:
    """A random pattern that reads the same everywhere."""
    if depth == 0:
        return source.choice(["a", "b", "[ab]", "[^a]", "(a|bb)", "."])
    one, other = drawn(source, depth - 1), drawn(source, depth - 1)
    times = source.choice(["*", "+", "?", "{2}", "{1,3}", "{,2}", "{2,}", "{0,1}"])
    return source.choice([one + other, f"({one}|{other})", f"({one}){times}"])


@pytest.mark.parametrize("seed", range(60))
def test_plain_patterns_are_what_an_independent_matcher_says(seed: int) -> None:
    pattern = drawn(random.Random(seed), 3) + "|ab"
    assert accepted(from_regex(pattern)) == matched(pattern, "ab")


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("^(ab)*$", {"", "ab", "abab"}),
        ("^(a|b)$", {"a", "b"}),
        (r"a\$b", {"a$b"}),
        (r"\^a", {"^a"}),
        (r"\λa|a", {"λa", "a"}),
        ("a[ ]b", {"a b"}),
        (r"a\ b", {"a b"}),
        (r"a\tb", {"a\tb"}),
        ("[*+]", {"*", "+"}),
        ("[a-c]", {"a", "b", "c"}),
        (r"[a\-c]", {"-", "a", "c"}),
        ("[λ]", {"λ"}),
        ("(a+)?", {"", "a", "aa", "aaa", "aaaa"}),
        ("()|ab", {"", "ab"}),
    ],
)
def test_patterns_with_one_reading_have_it(pattern: str, words: set[str]) -> None:
    machine = from_regex(pattern)
    assert accepted(machine, 4) == words
    assert machine.remark == ""


@pytest.mark.parametrize(
    ("pattern", "says", "words"),
    [
        ("a+b", "one or more", {"ab", "aab"}),
        ("(ab)+(b)", "one or more", {"abb"}),
        ("a.b", "any one letter", {"aab", "abb"}),
        ("[^a]b", "any other letter", {"bb"}),
        ("a&a", "both sides", {"a"}),
        ("a^b", "shuffle", {"ab", "ba"}),
        ("a b", "a space is read as a letter", {"a b"}),
    ],
)
def test_signs_with_two_meanings_say_which_they_have(
    pattern: str, says: str, words: set[str]
) -> None:
    machine = from_regex(pattern)
    assert accepted(machine, 3) == words
    assert says in machine.remark


def test_each_remark_is_made_once() -> None:
    assert from_regex("a+b+.a.").remark.count("one or more") == 1


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("(ab)* + (bb)*", "a space beside a sign"),
        ("a | b", "a space beside a sign"),
        (" ab", "a space beside a sign"),
        ("ab ", "a space beside a sign"),
        ("a{2} b", "a space beside a sign"),
        ("a\tb", "a blank that is no space"),
        ("a\u00a0b", "a blank that is no space"),
        ("(ab)*+(bb)*", "may mean or"),
        ("a++", "may mean or"),
        ("a{2}+b", "may mean or"),
        ("a?+b", "may mean or"),
        ("a+?b", "how to search"),
        ("a*?b", "how to search"),
        ("a{1,2}?", "how to search"),
        ("(ab)^*", "no power"),
        ("(ab)^+", "no power"),
        ("a^2", "no power"),
        ("a^{2}", "no power"),
        ("^ab", "from end to end"),
        ("a|^b", "from end to end"),
        ("ab$", "from end to end"),
        ("a$b", "from end to end"),
        ("^a|b$", "first and the last alternative"),
        ("(?:ab)", "'(?' is for search tools"),
        ("(?i)ab", "'(?' is for search tools"),
        (r"\bab", r"'\b' is not known"),
        (r"(a)\1", r"'\1' is not known"),
        (r"\Aab\Z", r"'\A' is not known"),
        (r"[a\x41]", r"'\x' is not known"),
        ("[b-a]c", "backwards"),
        (r"[a-\d]c", "no range"),
        ("a|b&c", "stand side by side"),
        ("(a^b|c)a", "stand side by side"),
        ("a{0}b", "repeats nothing"),
        ("a{0,0}b", "repeats nothing"),
        ("a{}b", "repeats nothing"),
        ("a{,}b", "repeats nothing"),
        *((f"a{sign}", "is no letter") for sign in "∪∩∅·εϵλΣ∗⁺²"),
    ],
)
def test_what_could_be_another_language_is_refused(pattern: str, says: str) -> None:
    with pytest.raises(MachineError, match=re.escape(says)):
        from_regex(pattern)
