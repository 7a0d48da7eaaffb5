"""Tables fit the width of a terminal, and lose no character."""

import pytest
from hypothesis import given, settings, strategies as st

from krohn.show.tables import console, new_table, print_table, several_lines

WORDS = st.text("ab…漢", min_size=1, max_size=9)
CELLS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


def width(line: str) -> int:
    """How many columns of a terminal a line of these letters takes."""
    return len(line) + line.count("漢")


@settings(max_examples=30)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=4), st.integers(8, 40))
def test_a_table_keeps_to_a_width(rows: list[tuple[str, str, str]], most: int) -> None:
    table = new_table("a", " b", "c")
    for row in rows:
        table.add_row(*row)
    found = list(table.row_lines(most))
    assert len(found) == 1 + len(rows)
    for row, lines in zip([("a", "b", "c"), *rows], found, strict=True):
        assert all(width(line) <= max(most, 3 * 2 + 4) for line in lines)
        assert sorted("".join(row).replace(" ", "")) == sorted(
            "".join(lines).replace(" ", "")
        )


def test_columns_stand_below_their_headings() -> None:
    table = new_table("name", " size", "what it is")
    table.add_row("C2", "2", "a counter")
    table.add_row("Grid20", "20", several_lines("a line\nwith walls"))
    assert list(table.row_lines(None)) == [
        ["name    size  what it is"],
        ["C2         2  a counter"],
        ["Grid20    20  a line", "              with walls"],
    ]
    assert list(table.row_lines(22))[1] == ["C2         2  a", "              counter"]


def test_columns_says_how_wide_a_terminal_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "9")
    table = new_table("what it is")
    print_table(table)
    console().print("a\tb\x1b[1m", bold=True)  # bold at terminals only
    assert capsys.readouterr().out == "what it\nis\na\\tb\\x1b[1m\n"
    print_table(table, whole=True)
    assert capsys.readouterr().out == "what it is\n"
