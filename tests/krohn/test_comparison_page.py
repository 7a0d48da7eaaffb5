"""The page of a comparison: what is on it, where lines go, and names that stay names."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_comparison import LEVELS, sample, score

from compare.measures import Rate, spread
from krohn.page.comparing import render
from krohn.page.heat import SHADES, heat_map
from krohn.page.lines import HEIGHT, LABEL_STEP, Frame, Series
from krohn.page.scales import doubling, even, powers, shares
from krohn.page.summary import amount, duration, summary

PLACES = st.lists(st.integers(1, 200), min_size=2, max_size=12, unique=True)
SHARES = st.floats(0.0, 1.0)


def test_every_number_of_the_table_is_on_the_page() -> None:
    found = sample()
    page = render(found)
    for row in summary(found):
        assert row.title in page
        assert all(entry.main.replace(">", "&gt;") in page for entry in row.entries)
    assert found.origin.command in page
    assert found.origin.commit in page


def test_nothing_is_fetched_and_no_script_runs() -> None:
    page = render(sample())
    assert "<script" not in page
    assert "http:" not in page.replace("http-equiv", "")
    assert "https:" not in page


def test_letters_of_words_are_texts() -> None:
    found = sample()
    hostile = "<img src=x onerror=alert(1)>"
    (_, gpt, *_) = found.contestants
    failure = gpt.ones[0].failure
    assert failure is not None
    word = replace(failure, word=(hostile,) * 5, replay=hostile, searched=hostile)
    ones = tuple(replace(one, failure=word) for one in gpt.ones)
    changed = replace(gpt, ones=ones, title=hostile, about=hostile)
    others = (found.contestants[0], changed, *found.contestants[2:])
    page = render(replace(found, contestants=others, task=hostile, inputs=hostile))
    assert hostile not in page
    assert "&lt;img src=x" in page


def test_a_comparison_without_probes_training_and_maps_has_a_page() -> None:
    found = replace(sample(), probes=(), maps=None, strategies=(), reductions=())
    bare = tuple(
        replace(c, ones=tuple(replace(o, training=None) for o in c.ones))
        for c in found.contestants
    )
    page = render(replace(found, contestants=bare))
    assert "Which algorithm?" not in page
    assert "What heads look at" not in page


# --- axes -----------------------------------------------------------------------------


@given(st.lists(SHARES, min_size=1))
def test_shares_lie_within_their_axis(values: list[float]) -> None:
    scale = shares(values)
    assert scale.low <= min(values) + 1e-9
    assert scale.high == 1
    assert 2 <= len(scale.ticks) <= 6
    assert all(0 <= scale.at(v) <= 1 for v in values)


@given(st.lists(st.floats(1e-12, 1e6), min_size=1))
def test_losses_lie_within_their_axis(values: list[float]) -> None:
    scale = powers(values)
    assert scale.low <= min(values) * (1 + 1e-9)
    assert max(values) <= scale.high * (1 + 1e-9)


@given(PLACES)
def test_ticks_lie_on_their_axis_in_order(places: list[int]) -> None:
    at = [float(p) for p in sorted(places)]
    for scale in (doubling(at), even(at)):
        where = [scale.at(t) for t in scale.ticks]
        assert where == sorted(set(where))
        assert at[0] <= min(scale.ticks)
        assert max(scale.ticks) <= at[-1]
        assert len(scale.ticks) <= 9


@given(PLACES, st.data())
def test_lines_lie_within_their_frame_and_labels_apart(
    places: list[int], data: st.DataObject
) -> None:
    at = [float(p) for p in sorted(places)]
    row = st.tuples(*[st.none() | SHARES for _ in at])
    runs = data.draw(st.lists(st.tuples(row, row), min_size=1, max_size=5))
    series = [Series("gpt", "GPT", pair) for pair in runs]
    values = [v for s in series for v in s.known]
    drawn = Frame(at, even(at), shares(values)).lines(series)
    assert len(drawn) == sum(bool(s.known) for s in series)
    for line in drawn:
        for text in (*line.paths, *line.bands):
            points = [tuple(map(float, p.split(","))) for p in text.split()]
            assert all(0 <= x <= 100 and 0 <= y <= HEIGHT for x, y in points)
    ends = sorted(line.end for line in drawn)
    gaps = np.diff(ends)
    assert all(gap >= LABEL_STEP - 1e-9 for gap in gaps)
    assert all(end <= HEIGHT for end in ends)


def test_a_line_stops_where_nothing_is_known() -> None:
    at = [1.0, 2.0, 3.0, 4.0]
    frame = Frame(at, even(at), shares([0.0]))
    (line,) = frame.lines([Series("gpt", "GPT", ((1.0, 1.0, None, 0.0),))])
    assert line.paths == ("0,0 33.33,0", f"100,{HEIGHT}")


# --- the map --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("read", "control", "gain", "shade"),
    [
        (1.0, 0.5, 1.0, SHADES),
        (0.9, 0.9, 0.8, 0),
        (0.9, 0.5, 0.0, 0),
        (0.4, 0.3, -0.2, 0),
    ],
)
def test_only_what_does_not_come_free_is_dark(
    read: float, control: float, gain: float, shade: int
) -> None:
    (gpt, _) = sample().probes
    first = gpt.found.rows[0]
    trained = replace(score(read), control=control)
    cell = replace(first.cells[1], trained=trained, gain=gain)
    row = replace(first, cells=(first.cells[0], cell))
    (shown,) = heat_map(replace(gpt, found=replace(gpt.found, rows=(row,)))).rows
    assert shown.spots[1].shade == shade


def test_what_is_used_comes_first() -> None:
    (gpt, _) = sample().probes
    turned = replace(gpt, found=replace(gpt.found, rows=gpt.found.rows[::-1]))
    verdicts = [row.verdict for row in heat_map(turned).rows]
    assert verdicts == ["used", "partly used", "readable", "free"]
    assert [name for name, _ in heat_map(turned).exchanged] == [
        "number of ones mod 2",
        "number of ones mod 3",
    ]


# --- the table ------------------------------------------------------------------------


def test_every_contestant_has_a_place_in_every_row() -> None:
    assert {len(row.entries) for row in summary(sample())} == {len(LEVELS)}


def test_sizes_and_times_have_units() -> None:
    assert amount(1_234_567) == "1.23 M"
    assert amount(12) == "12"
    assert duration(0.00123) == "1.23 ms"
    assert duration(61.5) == "61.5 s"
    assert duration(1530) == "25.5 min"
    assert duration(None) == "–"


def test_two_perfect_seeds_are_not_said_to_be_certain() -> None:
    """The interval is that of 2,048 words without an error, not one without width."""
    found = sample()
    rate = Rate(2048 * 32, 2048 * 32, 0.9982, 1.0)
    one = replace(found.contestants[2].ones[0], token=rate)
    lstm = replace(
        found.contestants[2],
        ones=(one, replace(one, seed=1)),
        token=spread([1.0, 1.0]),
    )
    shown = summary(replace(found, contestants=(lstm,)))[0].entries[0]
    assert shown.main == "100 %"
    assert shown.small == "all 2 seeds; one of them [99.82, 100]"


def test_exchanges_say_what_is_read_of_what_they_need() -> None:
    shown = '<td data-label="read of what is needed" class="number">98.0 %</td>'
    assert shown in render(sample())
