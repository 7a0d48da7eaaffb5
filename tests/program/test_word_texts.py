"""Words as texts: whatever letters are called, what is written is read back."""

import json
import random

import pytest

from krohn.program.word_texts import (
    WordText,
    join_letters,
    letters_by_name,
    split_letters,
    whole_part,
    write_letter,
)

ODD = [
    *(" ", ",", "a b", '"', "'", "[", "]", "\t", "ε", "0", "a", "b", "ab", "10", "\\"),
    *('["a"]', '"a"', '"a b"', "a,b", "\n", "<x>", "\u00a0", "“", "\u202e", "a;=b"),
]


def read(text: str, letters: list[str]) -> list[str]:
    return split_letters([text], set(letters).__contains__, letters)


def test_every_word_is_read_back() -> None:
    draw = random.Random(0)
    for _ in range(4000):
        letters = draw.sample(ODD, draw.randint(1, 8))
        word = [draw.choice(letters) for _ in range(draw.randint(1, 5))]
        assert read(join_letters(word), letters) == word
        assert read(json.dumps(word), letters) == word
        assert join_letters(word).isprintable()
        assert letters_by_name(word, set(letters).__contains__) == word


@pytest.mark.parametrize(
    ("text", "letters", "word"),
    [
        ("a b", ["a", "b", "a b"], ["a", "b"]),
        ('"a b"', ["a", "b", "a b"], ["a b"]),
        ('"a b"', ["a b", '"a b"'], ["a b"]),
        ("press it", ["press it", "wait"], ["press it"]),
        ('"press it" wait, wait', ["press it", "wait"], ["press it", "wait", "wait"]),
        ('["press it","wait"]', ["press it", "wait"], ["press it", "wait"]),
        ('["a"]', ["[", '"', "a", "]"], ["a"]),
        ('a"a', ["a", '"'], ["a", '"', "a"]),
        ('"a', ["a", '"'], ['"', "a"]),
        ('", b', ['"', "b"], ['"', "b"]),
        ('x "y"', ["a"], ["x", '"y"']),
    ],
)
def test_quotes_hold_a_letter_together(
    text: str, letters: list[str], word: list[str]
) -> None:
    assert read(text, letters) == word


def test_a_text_is_no_name() -> None:
    known = {"a", "b", "a b"}.__contains__
    assert letters_by_name(["a b"], known) == ["a b"]
    assert letters_by_name([WordText("a b")], known) is None


def test_letters_are_quoted_only_where_they_must_be() -> None:
    plain = ["a", "ε", ",", "'", "[", "<sep>", "-", "a/b", "é", "日"]
    assert [write_letter(letter) for letter in plain] == plain
    assert write_letter("\t") == r'"\t"'
    assert write_letter("a b") == '"a b"'


def test_a_piece_of_a_stream_ends_between_letters() -> None:
    assert whole_part('a "b c" d') == len('a "b c" ')
    assert whole_part('a "b c') == len("a ")
    assert whole_part('"a b"') == whole_part("") == whole_part("ab") == 0


@pytest.mark.parametrize("sign", ['"', "\\", "[", '["', ",", '"a ', '\\" ', '"\\" '])
def test_long_texts_take_linear_time(sign: str) -> None:
    """A quadratic reader would take minutes here."""
    text = sign * 20_000
    assert len(read(text, ["a"])) <= len(text)
    assert whole_part(text) <= len(text)
