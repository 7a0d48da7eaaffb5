"""No two readers of a file see different things in it."""

import json

import pytest
from hypothesis import given, strategies as st

from krohn.program import strict_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "a": 1}', "the key 'a' is there twice"),
        ('[{"b": {"a": 1, "c": 2, "a": 3}}]', "the key 'a' is there twice"),
        ('{"a": NaN}', "NaN is not a number"),
        ("-Infinity", "-Infinity is not a number"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("1" * 5000, "digits"),
        ("{", "Expecting"),
        (b"\xff\xfe\x00", "codec|Expecting"),
    ],
    ids=lambda x: str(x)[:12],
)
def test_texts_that_are_refused(text: str | bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        strict_json.read(text)


@given(VALUES)
def test_everything_else_is_read_as_it_is(value: object) -> None:
    try:
        text = strict_json.canonical(value)
    except ValueError:  # an infinity
        return
    assert strict_json.read(text) == value == json.loads(text)
    assert strict_json.canonical(strict_json.read(text)) == text
