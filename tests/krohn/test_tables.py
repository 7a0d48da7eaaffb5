"""Tables fit the width of a terminal, and lose no character."""

from contextlib import redirect_stdout
from io import StringIO

import pytest
from hypothesis import given, settings, strategies as st

from krohn.show.tables import Table, console, new_table, print_table, several_lines

WORDS = st.text("ab…漢", min_size=1, max_size=9)
CELLS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


def width(line: str) -> int:
    """How many columns of a terminal a line of these letters takes."""
    return len(line) + line.count("漢")


@settings(max_examples=30)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=4), st.integers(16, 40))
def test_a_table_keeps_to_a_width(rows: list[tuple[str, str, str]], most: int) -> None:
    table = new_table("a", " b", "c")
    for row in rows:
        table.add_row(*row)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(most))
        printed = printed_table(table)
    assert all(width(line) <= most for line in printed.splitlines())
    cells = "".join("".join(row) for row in [("a", "b", "c"), *rows])
    assert sorted("".join(printed.split())) == sorted("".join(cells.split()))


def printed_table(table: Table, whole: bool = False) -> str:
    """What is printed of a table."""
    with redirect_stdout(StringIO()) as out:
        print_table(table, whole)
    return out.getvalue()


def test_columns_stand_below_their_headings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "22")
    table = new_table("name", " size", "what it is")
    table.add_row("C2", "2", "a counter")
    table.add_row("Grid20", "20", several_lines("a line\nwith walls"))
    lines = [line.rstrip() for line in printed_table(table, whole=True).splitlines()]
    assert lines == [
        "name    size  what it is",
        "C2         2  a counter",
        "Grid20    20  a line",
        "              with walls",
    ]
    assert "C2         2  a" in [x.rstrip() for x in printed_table(table).splitlines()]


def test_a_text_is_a_line_whatever_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    console().print("a\tb\x1b[1m")
    table = new_table("[bold]")
    table.add_row("a\tb\x1b[1m")
    print_table(table, whole=True)
    assert capsys.readouterr().out.split() == [
        "a\\tb\\x1b[1m",
        "[bold]",
        "a\\tb\\x1b[1m",
    ]
