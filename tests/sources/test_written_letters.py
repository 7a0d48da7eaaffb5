"""One reader of letters, for every command and every source."""

from typing import Any

import pytest
from typer.testing import CliRunner

import krohn
from krohn.cli import app
from krohn.sources import split_letters

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


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", SOURCES)
def test_numbers_are_never_split(name: str, tmp_path: object) -> None:
    path = f"{tmp_path}/m.safetensors"
    krohn.compile(name, proved=False, **SOURCES[name]).save(path)
    found = CliRunner().invoke(app, ["run", path, "17 2"])
    assert found.exit_code != 0
    assert "17" in str(found.exception)
