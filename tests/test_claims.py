"""CLAIMS.md says how many lines each proof rests on, as the table of results does."""

from claims import COUNT, PAGE, counted_lines, with_counts
from slices_here import about_all

LONGER = "FlipFlop -T 1024"
"""An example of a kind that has another one."""


@about_all
def test_trusted_lines_are_those_that_were_counted() -> None:
    assert with_counts(PAGE.read_text()) == PAGE.read_text()


@about_all
def test_every_kind_of_file_is_on_the_page() -> None:
    assert {*COUNT.findall(PAGE.read_text()), LONGER} == {*counted_lines()}
